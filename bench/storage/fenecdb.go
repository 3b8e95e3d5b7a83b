package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/fenec"
)

const (
	// fillStep is how many rows one transaction holds while a base is filled.
	fillStep = 5_000

	schemaText  = "create collection rows (k int, body text)"
	insertText  = "insert rows {id: $1, k: $2, body: $3}"
	replaceText = "put rows {id: $1, k: $2, body: $3}"
	appendText  = "insert rows {k: $1, body: $2}"
	getText     = "get rows where id = $1"
)

// baseID is the id of the i-th row of a base. Bases hold even ids, so that odd
// ones can be put among them.
func baseID(i int) int64 { return 2 * int64(i+1) }

// fenecDB is a fenec database with one collection of rows and the prepared
// statements the parts need.
type fenecDB struct {
	db            *fenec.DB
	ins, app, get *fenec.Stmt
}

// openFenec creates the database at path, or opens it when it is there.
func openFenec(path string, opts fenec.Options) (*fenecDB, error) {
	db, err := fenec.Open(path, opts)
	if err != nil {
		return nil, err
	}
	f := &fenecDB{db: db}
	if err := f.prepare(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

func (f *fenecDB) prepare() error {
	if len(f.db.Collections()) == 0 {
		if _, err := f.db.Exec(context.Background(), schemaText); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		stmt **fenec.Stmt
		text string
	}{{&f.ins, insertText}, {&f.app, appendText}, {&f.get, getText}} {
		var err error
		if *p.stmt, err = f.db.Prepare(p.text); err != nil {
			return err
		}
	}
	return nil
}

func (f *fenecDB) put(ctx context.Context, id int64, body string) error {
	_, err := f.ins.Exec(ctx, id, id, body)
	return err
}

// append puts a row whose id the database chooses.
func (f *fenecDB) append(ctx context.Context, k int64, body string) error {
	_, err := f.app.Exec(ctx, k, body)
	return err
}

// read gets a row by id and scans all its columns.
func (f *fenecDB) read(ctx context.Context, id int64) error {
	res, err := f.get.Query(ctx, id)
	if err != nil {
		return err
	}
	var (
		got, k int64
		body   string
	)
	if !res.Next() {
		return fmt.Errorf("row %d is missing", id)
	}
	return res.Scan(&got, &k, &body)
}

// block lands a row for each id as one block of statements, each with text.
func (f *fenecDB) block(ctx context.Context, text string, ids []int64, pool gen.Bodies) error {
	stmts := make([]fenec.Statement, len(ids))
	for i, id := range ids {
		stmts[i] = fenec.Statement{Text: text, Args: []any{id, id, pool.At(id)}}
	}
	_, err := f.db.Batch(ctx, stmts)
	return err
}

// fill puts the even ids up to 2*rows in large blocks.
func (f *fenecDB) fill(ctx context.Context, rows int, pool gen.Bodies) error {
	ids := make([]int64, 0, fillStep)
	for from := 0; from < rows; from += fillStep {
		ids = ids[:0]
		for i := from; i < min(from+fillStep, rows); i++ {
			ids = append(ids, baseID(i))
		}
		if err := f.block(ctx, insertText, ids, pool); err != nil {
			return err
		}
	}
	return f.db.Checkpoint(ctx)
}

func (f *fenecDB) close() error { return f.db.Close() }
