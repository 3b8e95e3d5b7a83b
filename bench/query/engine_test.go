package main

import "context"

// fakeRows is a statement that answers made-up rows, each given as what it stores.
type fakeRows []func(dest []any)

func (f fakeRows) rows(_ context.Context, _ []any, each func(scan) error) error {
	for _, store := range f {
		if err := each(func(dest ...any) error { store(dest); return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (f fakeRows) exec(context.Context, ...any) (int64, error) { return int64(len(f)), nil }

// engineStub is an engine of which only the reading of JSON is asked.
type engineStub struct{ engine }

func (engineStub) jsonDest(c *jsonCell) any { return &c.text }
