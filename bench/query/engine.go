package main

import (
	"context"
	"encoding/json"
)

// engine is a database under test. Both are driven through it, so that the same
// code asks, scans and checks on both sides.
type engine interface {
	name() string
	// run runs statements of the engine's own language, one by one.
	run(ctx context.Context, statements ...string) error
	prepare(t text) (statement, error)
	// fill runs t for each of the numbers [0, n) in large transactions.
	fill(ctx context.Context, t text, n int, args func(i int) []any) error
	// json returns a JSON text as the argument for a field that holds JSON.
	json(s string) any
	// jsonDest returns what such a field is scanned into.
	jsonDest(c *jsonCell) any
	// settle moves what was written to where it stays.
	settle(ctx context.Context) error
	close() error
}

// statement is a prepared statement. It may be used by many goroutines.
type statement interface {
	// rows runs a read and calls each for every row of its answer.
	rows(ctx context.Context, args []any, each func(scan) error) error
	// exec runs a write and returns how many rows it wrote.
	exec(ctx context.Context, args ...any) (int64, error)
}

// scan stores the columns of a row in what dest points to.
type scan func(dest ...any) error

// text is a statement in the languages of both engines. Arguments stand in the
// same order in both.
type text struct{ fenec, sqlite string }

// jsonCell receives a JSON field: as JSON from an engine that keeps it parsed, as
// text from one that keeps text.
type jsonCell struct {
	raw  json.RawMessage
	text string
}

func (c *jsonCell) holds(s []byte) bool { return c.text == string(s) || string(c.raw) == string(s) }

// prepareAll prepares statements into what they are mapped to.
func prepareAll(e engine, texts map[*statement]text) error {
	for to, t := range texts {
		var err error
		if *to, err = e.prepare(t); err != nil {
			return err
		}
	}
	return nil
}

// fillStep is how many rows one transaction holds while a table is filled.
const fillStep = 5_000
