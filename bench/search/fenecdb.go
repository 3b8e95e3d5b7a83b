package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fenec-go/fenecdb/fenec"
)

const fenecName = "fenec"

// fillStep is how many rows one transaction holds while a collection is filled.
const fillStep = 1000

// The statements of vectors. An ef is no parameter in the language: nearText has
// a place for it.
const (
	vectorSchema = "create collection v (tag int @hash, e vector<%d>)"
	vectorIndex  = "create index on v (e) @hnsw(l2, m=16, ef_construction=200)"
	vectorInsert = "insert v {id: $1, tag: $2, e: $3}"
	nearText     = "get id from v near e $1 ef %d limit 10"
	nearRowText  = "get v near e $1 ef %d limit 10"
	nearTagText  = "get id from v near e $1 ef %d where tag = $2 limit 10"
)

// The statements of documents.
const (
	documentSchema = "create collection d (body text)"
	documentIndex  = "create index on d (body) @text"
	documentInsert = "insert d {id: $1, body: $2}"
	matchText      = "get id from d match body $1 limit 10"
)

// tags are how many values the field tag has, which has nothing to do with where
// a vector lies.
const tags = 100

func tagOf(id int32) int64 { return int64(id % tags) }

// fenecDB is a fenec database. Its rows have the ids from 1; all answers are told
// with ids from 0.
type fenecDB struct {
	path string
	db   *fenec.DB
}

func openFenec(path string) (*fenecDB, error) {
	db, err := fenec.Open(path, fenec.Options{})
	if err != nil {
		return nil, err
	}
	return &fenecDB{path, db}, nil
}

func (f *fenecDB) run(ctx context.Context, text string) error {
	if _, err := f.db.Exec(ctx, text); err != nil {
		return fmt.Errorf("fenec: %s: %w", text, err)
	}
	return nil
}

// fill runs an insert for each of the numbers [0, n) in large transactions.
func (f *fenecDB) fill(ctx context.Context, text string, n int, args func(i int) []any) error {
	block := make([]fenec.Statement, 0, fillStep)
	for from := 0; from < n; from += fillStep {
		block = block[:0]
		for i := from; i < min(from+fillStep, n); i++ {
			block = append(block, fenec.Statement{Text: text, Args: args(i)})
		}
		if _, err := f.db.Batch(ctx, block); err != nil {
			return fmt.Errorf("fenec: %s: %w", text, err)
		}
	}
	return f.db.Checkpoint(ctx)
}

// fillVectors makes the collection of vectors without their index.
func (f *fenecDB) fillVectors(ctx context.Context, s *vectorSet) error {
	if err := f.run(ctx, fmt.Sprintf(vectorSchema, s.dim)); err != nil {
		return err
	}
	return f.putVectors(ctx, s)
}

func (f *fenecDB) putVectors(ctx context.Context, s *vectorSet) error {
	return f.fill(ctx, vectorInsert, s.len(), func(i int) []any {
		return []any{int64(i + 1), tagOf(int32(i)), s.at(i)}
	})
}

// indexVectors makes the index of vectors and returns what that took, until all
// are linked and in the file.
func (f *fenecDB) indexVectors(ctx context.Context, s *vectorSet) (spent, error) {
	return f.link(ctx, s, func() error { return errors.Join(f.run(ctx, vectorIndex), f.db.Checkpoint(ctx)) })
}

// link runs write, which gives the index of vectors something to do, and returns
// what it took until all vectors are linked and in the file. A search comes in
// between, as few of them may be left to link until there is one.
func (f *fenecDB) link(ctx context.Context, s *vectorSet, write func() error) (spent, error) {
	checkpoint := func() error { return f.db.Checkpoint(ctx) }
	search := func() error {
		_, err := f.db.Query(ctx, fmt.Sprintf(nearText, filterEF), s.at(0))
		return errors.Join(err, checkpoint())
	}
	return spend(ctx, write, search, checkpoint)
}

// fillTexts makes the collection of documents without their index.
func (f *fenecDB) fillTexts(ctx context.Context, texts []string) error {
	if err := f.run(ctx, documentSchema); err != nil {
		return err
	}
	return f.putTexts(ctx, texts)
}

func (f *fenecDB) putTexts(ctx context.Context, texts []string) error {
	return f.fill(ctx, documentInsert, len(texts), func(i int) []any { return []any{int64(i + 1), texts[i]} })
}

func (f *fenecDB) indexTexts(ctx context.Context) (spent, error) {
	return spend(ctx, func() error {
		return errors.Join(f.run(ctx, documentIndex), f.db.Checkpoint(ctx))
	})
}

// graph returns the index of vectors as a graph that is asked by text, which has
// a place for ef.
func (f *fenecDB) graph(s *vectorSet, text string) *local {
	return &local{title: fenecName, set: s, with: func(ef int) (ask, error) {
		st, err := f.db.Prepare(fmt.Sprintf(text, ef))
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, q []float32) ([]int32, error) {
			ids, err := askIDs(ctx, st, q)
			if err == nil && len(ids) != min(page, s.len()) {
				err = fmt.Errorf("%d rows are answered", len(ids))
			}
			return ids, err
		}, nil
	}}
}

// askIDs runs a statement and returns the ids of its rows.
func askIDs(ctx context.Context, st *fenec.Stmt, args ...any) ([]int32, error) {
	res, err := st.Query(ctx, args...)
	if err != nil {
		return nil, err
	}
	ids := make([]int32, 0, res.Len())
	for row := range res.All() {
		id, err := row.Int("id")
		if err != nil {
			return nil, err
		}
		ids = append(ids, int32(id-1))
	}
	return ids, nil
}

// askHits is askIDs with the scores.
func askHits(ctx context.Context, st *fenec.Stmt, args ...any) ([]hit, error) {
	res, err := st.Query(ctx, args...)
	if err != nil {
		return nil, err
	}
	hits := make([]hit, 0, res.Len())
	for row := range res.All() {
		id, err := row.Int("id")
		if err != nil {
			return nil, err
		}
		score, err := row.Float("_score")
		if err != nil {
			return nil, err
		}
		hits = append(hits, hit{int32(id - 1), score})
	}
	return hits, nil
}

// diskBytes returns the size of the file after it was rewritten without gaps.
func (f *fenecDB) diskBytes(ctx context.Context) (float64, error) {
	if err := f.db.Compact(ctx); err != nil {
		return 0, err
	}
	st, err := f.db.Stats()
	return float64(st.DiskBytes), err
}

// reopen closes the database and opens it again.
func (f *fenecDB) reopen() error {
	if err := f.close(); err != nil {
		return err
	}
	db, err := fenec.Open(f.path, fenec.Options{MustExist: true})
	f.db = db
	return err
}

// removeDatabase removes a closed database, with whatever lies beside its file.
func removeDatabase(path string) error {
	files, err := filepath.Glob(path + "*")
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	return err
}

// close may be called again after a reopening that failed.
func (f *fenecDB) close() error {
	if f.db == nil {
		return nil
	}
	db := f.db
	f.db = nil
	return db.Close()
}
