package main

import (
	"context"
	"encoding/json"

	"github.com/fenec-go/fenecdb/fenec"
)

// fenecEngine is a fenec database.
type fenecEngine struct{ db *fenec.DB }

func openFenec(path string, opts fenec.Options) (*fenecEngine, error) {
	db, err := fenec.Open(path, opts)
	if err != nil {
		return nil, err
	}
	return &fenecEngine{db: db}, nil
}

func (f *fenecEngine) name() string { return "fenec" }

func (f *fenecEngine) run(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if _, err := f.db.Exec(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (f *fenecEngine) prepare(t text) (statement, error) {
	st, err := f.db.Prepare(t.fenec)
	if err != nil {
		return nil, err
	}
	return fenecStatement{st}, nil
}

func (f *fenecEngine) fill(ctx context.Context, t text, n int, args func(i int) []any) error {
	block := make([]fenec.Statement, 0, fillStep)
	for from := 0; from < n; from += fillStep {
		block = block[:0]
		for i := from; i < min(from+fillStep, n); i++ {
			block = append(block, fenec.Statement{Text: t.fenec, Args: args(i)})
		}
		if _, err := f.db.Batch(ctx, block); err != nil {
			return err
		}
	}
	return f.settle(ctx)
}

func (f *fenecEngine) json(s string) any                { return json.RawMessage(s) }
func (f *fenecEngine) jsonDest(c *jsonCell) any         { return &c.raw }
func (f *fenecEngine) settle(ctx context.Context) error { return f.db.Checkpoint(ctx) }
func (f *fenecEngine) close() error                     { return f.db.Close() }

type fenecStatement struct{ st *fenec.Stmt }

func (s fenecStatement) rows(ctx context.Context, args []any, each func(scan) error) error {
	res, err := s.st.Query(ctx, args...)
	if err != nil {
		return err
	}
	scan := res.Scan
	for res.Next() {
		if err := each(scan); err != nil {
			return err
		}
	}
	return nil
}

func (s fenecStatement) exec(ctx context.Context, args ...any) (int64, error) {
	n, err := s.st.Exec(ctx, args...)
	return int64(n), err
}
