package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/bench/internal/gen"
	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// blockRows is how many rows the writer beside the readers lands at once.
const blockRows = 1_000

// measureReaders compares the p99 of a get on an idle database with its p99
// while one writer lands block after block.
func measureReaders(ctx context.Context, e *env) error {
	f, err := e.filled(ctx)
	if err != nil {
		return err
	}
	if err := warm(e.rows, func(id int64) error { return f.read(ctx, id) }); err != nil {
		return err
	}
	var (
		pick   = gen.NewSpread(int64(e.rows))
		w      = newBlockWriter(f, e)
		blocks int64
	)
	gets := func() (float64, error) {
		took, err := measure.Latencies(4*e.Slice, func() error { return f.read(ctx, baseID(int(pick.Take()))) })
		return measure.Percentile(took, 0.99), err
	}
	got, err := measure.Interleave(ctx, e.Rounds, []measure.Contender{
		{Name: "beside a writer", Settle: func() error { return f.db.Checkpoint(ctx) }, Slice: func() (float64, error) {
			stop := w.start(ctx)
			p99, err := gets()
			n, werr := stop()
			blocks += n
			return p99, errors.Join(err, werr)
		}},
		{Name: "idle", Slice: gets},
	})
	if err != nil {
		return err
	}
	e.out.Line("p99 of a get, against an idle database", report.Duration, got[0], got[1], got[0]/got[1], report.AtMost(3))
	seconds := 4 * e.Slice.Seconds() * float64(e.Rounds+1)
	e.out.Note(fmt.Sprintf("the writer landed %.0f blocks a second", float64(blocks)/seconds))
	return nil
}

// blockWriter puts blocks of rows among those of a base, without a pause.
type blockWriter struct {
	f    *fenecDB
	pool gen.Bodies
	odd  *gen.Spread
}

func newBlockWriter(f *fenecDB, e *env) *blockWriter {
	return &blockWriter{f: f, pool: e.bodies(), odd: gen.NewSpread(int64(e.rows))}
}

// start lets the writer run until stop is called, which waits for its last
// block and returns how many it landed.
func (w *blockWriter) start(ctx context.Context) (stop func() (int64, error)) {
	var (
		end    atomic.Bool
		landed int64
		failed error
		done   = make(chan struct{})
	)
	go func() {
		defer close(done)
		for failed == nil && !end.Load() {
			if failed = w.block(ctx); failed == nil {
				landed++
			}
		}
	}()
	return func() (int64, error) {
		end.Store(true)
		<-done
		return landed, failed
	}
}

func (w *blockWriter) block(ctx context.Context) error {
	ids := make([]int64, blockRows)
	for i := range ids {
		ids[i] = 2*w.odd.Take() + 1
	}
	return w.f.block(ctx, replaceText, ids, w.pool)
}
