package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

// measureDurable compares puts that return once they are on disk, from many
// goroutines at once. The bare log is the bound: it does nothing but append
// records and share fdatasyncs.
func measureDurable(ctx context.Context, e *env) error {
	f, err := openFenec(e.path("durable.fenec"), fenec.Options{Sync: fenec.SyncAlways})
	if err != nil {
		return err
	}
	bare, err := openGroupLog(e.path("durable.log"))
	if err != nil {
		return errors.Join(err, f.close())
	}
	lite, err := openSQLite(e.path("durable.sqlite"), "full")
	if err != nil {
		return errors.Join(err, f.close(), bare.close())
	}
	err = compareDurable(ctx, e, f, bare, lite)
	return errors.Join(err, f.close(), bare.close(), lite.close())
}

func compareDurable(ctx context.Context, e *env, f *fenecDB, bare *groupLog, lite *sqlite) error {
	pool := e.bodies()
	stores := []struct {
		name string
		put  func(k int64) error
	}{
		{"fenec", func(k int64) error { return f.append(ctx, k, pool.At(k)) }},
		{"bare log", func(k int64) error { return bare.append(rowValue(k, pool.At(k))) }},
		{"SQLite FULL", func(k int64) error { return lite.append(k, pool.At(k)) }},
	}
	for _, w := range []struct {
		writers    int
		bare, lite report.Goal
	}{
		{16, report.AtLeast(0.8), report.AtLeast(2)},
		{64, report.AtLeast(0.8), report.AtLeast(6)},
	} {
		var cs []measure.Contender
		for _, s := range stores {
			var next atomic.Int64
			cs = append(cs, measure.Contender{Name: s.name, Slice: func() (float64, error) {
				return measure.PerSecond(w.writers, 2*e.Slice, func(int) error { return s.put(next.Add(1)) })
			}})
		}
		got, err := measure.Interleave(ctx, e.Rounds, cs)
		if err != nil {
			return err
		}
		e.out.Line(fmt.Sprintf("%d writers, %s", w.writers, stores[1].name), report.Rate, got[0], got[1], got[0]/got[1], w.bare)
		e.out.Line(fmt.Sprintf("%d writers, %s", w.writers, stores[2].name), report.Rate, got[0], got[2], got[0]/got[2], w.lite)
	}
	return nil
}
