package fenec

import (
	"context"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// bound is a statement with its parameters.
type bound struct {
	st     *Stmt
	params []value.Value
}

// BatchError says which statement of a batch failed. Nothing of the batch was
// kept, so Completed is 0; servers that run statements one by one count those
// that stayed.
type BatchError struct {
	At        int // index from 0
	Completed int
	Err       error
}

func (e *BatchError) Error() string { return fmt.Sprintf("statement %d: %v", e.At, e.Err) }

// Unwrap returns the statement's error.
func (e *BatchError) Unwrap() error { return e.Err }

// unwrapBatch returns the error of the only statement of a block.
func unwrapBatch(err error) error {
	var be *BatchError
	if errors.As(err, &be) {
		return be.Err
	}
	return err
}

// Batch runs statements in order as one block: all of them or, when one fails,
// none. Each sees what those before it wrote; nobody else sees anything before
// the last is done. A batch of reads only sees one snapshot. A compact cannot be
// part of a batch. When a statement fails the error is a *BatchError that says
// which; what refuses the whole block, as a limit or the disk, is returned as it
// is.
func (db *DB) Batch(ctx context.Context, stmts []Statement) ([]*Result, error) {
	list := make([]bound, len(stmts))
	onlyReads := true
	for i, s := range stmts {
		st, err := db.Prepare(s.Text)
		if err != nil {
			return nil, &BatchError{At: i, Err: err}
		}
		if _, ok := st.tree.(*ql.Compact); ok {
			return nil, &BatchError{At: i, Err: fault.New(fault.Query, "compact cannot be part of a batch")}
		}
		params, err := parameters(s.Args)
		if err != nil {
			return nil, &BatchError{At: i, Err: err}
		}
		list[i] = bound{st, params}
		onlyReads = onlyReads && reads(st.tree)
	}
	if onlyReads {
		return db.readAll(ctx, list)
	}
	return db.write(ctx, list)
}

func (db *DB) readAll(ctx context.Context, list []bound) ([]*Result, error) {
	var results []*Result
	err := db.View(ctx, func(sn *Snapshot) error {
		for i, b := range list {
			res, err := sn.run(ctx, b.st, b.params)
			if err != nil {
				return &BatchError{At: i, Err: err}
			}
			results = append(results, res)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// write runs statements as one block and waits until it is as durable as the
// policy promises.
func (db *DB) write(ctx context.Context, list []bound) ([]*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := block{db: db}
	var ask func(int64) error
	if limit := db.limit.Load(); limit != nil {
		w.limit = *limit
		ask = w.ask
	}
	b, err := db.store.Begin(ctx, ask)
	if err != nil {
		return nil, public(err)
	}
	w.block, w.tx = b, db.figures.Begin(b)
	w.catalog = db.catalogAt(b.Seq())
	w.before = w.catalog
	ended := false
	defer func() {
		if !ended {
			b.Rollback() // a statement failed, or it or the limit panicked
		}
	}()
	results, err := w.runAll(ctx, list)
	if err != nil {
		return nil, err
	}
	ticket, err := w.commit(&ended)
	if err != nil {
		return nil, public(err)
	}
	for _, res := range results {
		res.seq = ticket.To
	}
	if err := ticket.Wait(ctx); err != nil {
		return nil, public(err)
	}
	return results, nil
}

// block is an open block of statements.
type block struct {
	db      *DB
	block   *store.Block
	tx      *table.Tx
	catalog *catalog.Catalog // as the block has made it
	before  *catalog.Catalog
	limit   func(Block) error // or nil
	asked   table.Change      // what limit has been asked about
	parts   int
}

func (w *block) runAll(ctx context.Context, list []bound) ([]*Result, error) {
	results := make([]*Result, len(list))
	for i, b := range list {
		var err error
		if results[i], err = w.run(ctx, b); err != nil {
			return nil, &BatchError{At: i, Err: public(err)}
		}
	}
	return results, nil
}

func (w *block) run(ctx context.Context, b bound) (res *Result, err error) {
	defer base.Recover(w.db.Path(), base.Guard(), &err)
	switch tree := b.st.tree.(type) {
	case *ql.CreateCollection:
		return w.create(tree)
	case *ql.DropCollection:
		return w.drop(tree)
	}
	if reads(b.st.tree) {
		return w.db.runRead(ctx, b.st, b.params, w.catalog, w.tx.View(), w.tx)
	}
	s, err := b.st.compile(w.catalog)
	if err != nil {
		return nil, err
	}
	env := exec.Env{Params: b.params, Now: w.block.Time().UnixMilli()}
	n, err := s.(exec.Write).Run(ctx, env, w.tx.Writer(s.Collection()))
	return &Result{kind: KindAffected, affected: n, wrote: true}, err
}

func (w *block) create(def *ql.CreateCollection) (*Result, error) {
	name := def.Name.Text
	if def.IfNotExists && w.catalog.Find(name) != nil {
		return done("collection %s is there already", name), nil
	}
	cat, c, err := w.catalog.Create(def)
	if err != nil {
		return nil, err
	}
	w.catalog = cat
	return done("collection %s created", name), w.tx.Create(cat, c)
}

func (w *block) drop(def *ql.DropCollection) (*Result, error) {
	name := def.Name.Text
	if def.IfExists && w.catalog.Find(name) == nil {
		return done("there is no collection %s", name), nil
	}
	cat, c, err := w.catalog.Drop(name)
	if err != nil {
		return nil, err
	}
	w.catalog = cat
	return done("collection %s dropped", name), w.tx.Drop(c)
}

func done(format string, args ...any) *Result {
	return &Result{kind: KindMessage, message: fmt.Sprintf(format, args...), wrote: true}
}

// commit ends the block, and says so in ended unless something is wrong before.
func (w *block) commit(ended *bool) (store.Ticket, error) {
	if err := w.tx.Seal(); err != nil {
		return store.Ticket{}, err
	}
	ticket, err := w.block.Commit(func(seq uint64) {
		w.tx.Publish()
		if w.catalog != w.before {
			w.db.publishCatalog(seq, w.catalog)
		}
	})
	*ended = true
	return ticket, err
}
