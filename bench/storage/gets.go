package main

import (
	"context"
	"errors"
)

// measureGets compares prepared gets by id, all columns scanned, over a base
// that has been folded: with SQLite as it is, and with a page cache that holds a
// good part of the rows.
func measureGets(ctx context.Context, e *env) error {
	f, err := e.filled(ctx)
	if err != nil {
		return err
	}
	lite, err := openSQLite(e.path("gets.sqlite"), "normal")
	if err != nil {
		return err
	}
	err = lite.fill(ctx, e.rows, e.bodies())
	if err == nil {
		err = warm(e.rows, func(id int64) error { return errors.Join(f.read(ctx, id), lite.read(id)) })
	}
	if err == nil {
		err = compareGets(ctx, e, f, lite, "prepared get, SQLite prepared select", atLeast(2))
	}
	if err == nil {
		err = lite.cache(64)
	}
	if err == nil {
		err = compareGets(ctx, e, f, lite, "  SQLite with a page cache of 64 MB", goal{})
	}
	return errors.Join(err, lite.close())
}

func compareGets(ctx context.Context, e *env, f *fenecDB, lite *sqlite, name string, g goal) error {
	ours, theirs := newSpread(int64(e.rows)), newSpread(int64(e.rows))
	got, err := interleave(ctx, e.rounds, []contender{
		{name: "fenec", slice: func() (float64, error) {
			return perOp(e.slice, func() error { return f.read(ctx, baseID(int(ours.take()))) })
		}},
		{name: "SQLite", slice: func() (float64, error) {
			return perOp(e.slice, func() error { return lite.read(baseID(int(theirs.take()))) })
		}},
	})
	if err != nil {
		return err
	}
	e.out.line(name, duration, got[0], got[1], got[1]/got[0], g)
	return nil
}

// warm reads rows close enough to each other to touch every page once, so that
// no turn meets more pages for the first time than another.
func warm(rows int, read func(id int64) error) error {
	const apart = 8 // a page of 4 KiB holds more rows than that
	for i := 0; i < rows; i += apart {
		if err := read(baseID(i)); err != nil {
			return err
		}
	}
	return nil
}
