package main

import (
	"context"
	"errors"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
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
		err = compareGets(ctx, e, f, lite, "prepared get, SQLite prepared select", report.AtLeast(2))
	}
	if err == nil {
		err = lite.cache(64)
	}
	if err == nil {
		err = compareGets(ctx, e, f, lite, "  SQLite with a page cache of 64 MB", report.Goal{})
	}
	return errors.Join(err, lite.close())
}

func compareGets(ctx context.Context, e *env, f *fenecDB, lite *sqlite, name string, g report.Goal) error {
	ours, theirs := gen.NewSpread(int64(e.rows)), gen.NewSpread(int64(e.rows))
	got, err := measure.Interleave(ctx, e.Rounds, []measure.Contender{
		{Name: "fenec", Slice: func() (float64, error) {
			return measure.PerOp(e.Slice, func() error { return f.read(ctx, baseID(int(ours.Take()))) })
		}},
		{Name: "SQLite", Slice: func() (float64, error) {
			return measure.PerOp(e.Slice, func() error { return lite.read(baseID(int(theirs.Take()))) })
		}},
	})
	if err != nil {
		return err
	}
	e.out.Line(name, report.Duration, got[0], got[1], got[1]/got[0], g)
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
