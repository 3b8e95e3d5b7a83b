package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

const (
	// waitBound is how long a get or a put may wait for a job beside it.
	waitBound = 30 * time.Millisecond
	// waitPause is how long the reader and the writer rest after each statement:
	// what is measured is how long the job makes them wait, and not how three
	// share two cores.
	waitPause = 500 * time.Microsecond

	largeBody  = 960     // makes a row of about a kilobyte
	largeMarks = 1_000   // different marks, the field that is indexed
	largeRow   = 1_000.0 // bytes
)

// measureWaits has one reader and one writer at work on a large database, alone
// at first, then while an index is made and while the file is compacted.
func measureWaits(ctx context.Context, e *env) (err error) {
	f, err := openFenec(e.path("large.fenec"), fenec.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	l := &large{fenecEngine: f, rows: max(int(float64(e.big)/largeRow), largeMarks), pool: gen.MakeBodies(4096, largeBody)}
	if err := l.load(ctx); err != nil {
		return err
	}
	st, err := f.db.Stats()
	if err != nil {
		return err
	}
	e.out.Note(fmt.Sprintf("a file of %s, %d rows", report.SizeName(st.DiskBytes), l.rows))
	for _, j := range []job{
		{"alone", report.Goal{}, func() error { return sleep(ctx, 8*e.Slice) }},
		{"create index", report.AtMost(1), func() error { return f.run(ctx, "create index on large (mark) @sorted") }},
		{"compact", report.AtMost(1), func() error { return f.run(ctx, "compact") }},
	} {
		if err := e.waitsBeside(ctx, l, j); err != nil {
			return fmt.Errorf("%s: %w", j.name, err)
		}
	}
	return l.verify(ctx)
}

// job is what the reader and the writer may have to wait for.
type job struct {
	name string
	goal report.Goal
	run  func() error
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// waitsBeside prints how long gets and puts took while the job ran.
func (e *env) waitsBeside(ctx context.Context, l *large, j job) error {
	var (
		end  atomic.Bool
		gets = waiter{name: "get", op: l.getter(ctx)}
		puts = waiter{name: "put", op: l.putter(ctx)}
		done = make(chan struct{}, 2)
	)
	for _, w := range []*waiter{&gets, &puts} {
		go func() {
			w.work(&end)
			done <- struct{}{}
		}()
	}
	start := time.Now()
	err := j.run()
	took := time.Since(start)
	end.Store(true)
	<-done
	<-done
	if err := errors.Join(err, gets.err, puts.err); err != nil {
		return err
	}
	e.out.Note(fmt.Sprintf("%s: %v, %d gets and %d puts beside it", j.name, took.Round(time.Millisecond), len(gets.took), len(puts.took)))
	for _, w := range []*waiter{&gets, &puts} {
		for _, p := range []struct {
			name string
			at   float64
		}{{"p99", 0.99}, {"worst", 1}} {
			ns := measure.Percentile(w.took, p.at)
			e.out.Line(fmt.Sprintf("  %s of a %s, %s", p.name, w.name, j.name), report.Duration,
				ns, float64(waitBound), ns/float64(waitBound), j.goal)
		}
	}
	return nil
}

// waiter repeats one statement and notes how long each took.
type waiter struct {
	name string
	op   func() error
	took []float64
	err  error
}

// work goes on until end is set, and at least once.
func (w *waiter) work(end *atomic.Bool) {
	for {
		start := time.Now()
		if w.err = w.op(); w.err != nil {
			return
		}
		w.took = append(w.took, float64(time.Since(start)))
		if end.Load() {
			return
		}
		time.Sleep(waitPause)
	}
}

// large is a database with one collection of rows of a kilobyte, each with a
// mark that follows from its id.
type large struct {
	*fenecEngine
	rows int
	pool gen.Bodies
}

var largePut = text{fenec: "put large {id: $1, mark: $2, body: $3}"}

func (l *large) load(ctx context.Context) error {
	if err := l.run(ctx, "create collection large (mark int, body text)"); err != nil {
		return err
	}
	return l.fill(ctx, largePut, l.rows, func(i int) []any { return l.row(int64(i+1), 0) })
}

// row is the row with that id in one of its versions.
func (l *large) row(id, version int64) []any {
	return []any{id, id % largeMarks, l.pool.At(id + version)}
}

// getter returns a read of a row by a random id.
func (l *large) getter(ctx context.Context) func() error {
	rng := rand.New(rand.NewPCG(7, 8))
	st, err := l.prepare(text{fenec: "get large where id = $1"})
	return func() error {
		if err != nil {
			return err
		}
		var (
			want     = rng.Int64N(int64(l.rows)) + 1
			id, mark int64
			body     string
		)
		err := st.rows(ctx, []any{want}, func(scan scan) error { return scan(&id, &mark, &body) })
		if err == nil && (id != want || mark != want%largeMarks || len(body) != largeBody) {
			err = fmt.Errorf("row %d is answered as row %d with mark %d", want, id, mark)
		}
		return err
	}
}

// putter returns a put of another version of a row with a random id.
func (l *large) putter(ctx context.Context) func() error {
	rng := rand.New(rand.NewPCG(9, 10))
	st, err := l.prepare(largePut)
	version := int64(0)
	return func() error {
		if err != nil {
			return err
		}
		version++
		n, err := st.exec(ctx, l.row(rng.Int64N(int64(l.rows))+1, version)...)
		if err == nil && n != 1 {
			err = fmt.Errorf("%d rows are put", n)
		}
		return err
	}
}

// verify asks the index that was made beside the writer for some marks.
func (l *large) verify(ctx context.Context) error {
	st, err := l.prepare(text{fenec: "get large where mark = $1 count"})
	if err != nil {
		return err
	}
	for mark := 0; mark < largeMarks; mark += largeMarks / 20 {
		want := l.rows / largeMarks
		if rest := l.rows % largeMarks; mark > 0 && mark <= rest {
			want++
		}
		got, err := askCount(ctx, st, []any{int64(mark)})
		if err == nil && got != want {
			err = fmt.Errorf("mark %d is counted %d times, want %d", mark, got, want)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
