package main

import (
	"context"
	"errors"
	"testing"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

const (
	allocRows = 10_000 // of the table
	allocRuns = 1_000  // that the mean of a statement is taken over

	// getAllocs is how many allocations a get by id may make.
	getAllocs = 6
)

// measureAllocs counts the allocations of prepared statements, with those that
// the program makes to pass arguments. SQLite's are those of its driver: what C
// allocates is not among them.
func measureAllocs(ctx context.Context, e *env) (err error) {
	f, err := openFenec(e.path("allocs.fenec"), fenec.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	lite, err := openSQLite(e.path("allocs.sqlite"), liteOptions{sync: "normal", readers: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lite.close()) }()
	var tables []*records
	pool := gen.MakeBodies(256, recordBody)
	for _, en := range []engine{f, lite} {
		if err := loadRecords(ctx, en, allocRows, pool); err != nil {
			return err
		}
		t, err := newRecords(en, allocRows, pool)
		if err != nil {
			return err
		}
		tables = append(tables, t)
	}
	return compareAllocs(ctx, e, tables)
}

func compareAllocs(ctx context.Context, e *env, tables []*records) error {
	keys := newZipf(allocRows)
	for _, s := range []struct {
		name string
		run  func(context.Context, *worker) error
	}{
		{"a get by id, scanned", func(ctx context.Context, w *worker) error { return w.read(ctx) }},
		{"a scan of 20 rows", func(ctx context.Context, w *worker) error { return w.scanRange(ctx, 1000, 20) }},
		{"an insert", func(ctx context.Context, w *worker) error { return w.add(ctx) }},
		{"a set by id", func(ctx context.Context, w *worker) error { return w.update(ctx) }},
	} {
		var got []float64
		for _, t := range tables {
			n, err := allocations(ctx, newWorker(t, 0, 1, keys), s.run)
			if err != nil {
				return err
			}
			got = append(got, n)
		}
		e.out.Line(s.name+", SQLite's driver", report.Count, got[0], got[1], got[1]/got[0], report.Goal{})
	}
	return e.getAllocations(ctx, tables[0])
}

// getAllocations holds the plain get by id against its bound.
func (e *env) getAllocations(ctx context.Context, t *records) error {
	st, err := t.e.(*fenecEngine).db.Prepare(recordGet.fenec)
	if err != nil {
		return err
	}
	var (
		id     = int64(1000)
		failed error
	)
	n := testing.AllocsPerRun(allocRuns, func() {
		id++
		res, err := st.Query(ctx, id)
		if err == nil && !res.Next() {
			err = errors.New("the row is missing")
		}
		failed = errors.Join(failed, err)
	})
	e.out.Line("a get by id, against its bound", report.Count, n, getAllocs, n/getAllocs, report.AtMost(1))
	return failed
}

// allocations returns how many allocations run makes on average.
func allocations(ctx context.Context, w *worker, run func(context.Context, *worker) error) (float64, error) {
	var failed error
	n := testing.AllocsPerRun(allocRuns, func() {
		if err := run(ctx, w); err != nil && failed == nil {
			failed = err
		}
	})
	return n, failed
}
