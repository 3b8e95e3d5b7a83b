package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

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
		{"fenec", func(k int64) error { return f.append(ctx, k, pool.at(k)) }},
		{"bare log", func(k int64) error { return bare.append(rowValue(k, pool.at(k))) }},
		{"SQLite FULL", func(k int64) error { return lite.append(k, pool.at(k)) }},
	}
	for _, w := range []struct {
		writers    int
		bare, lite goal
	}{
		{16, atLeast(0.8), atLeast(2)},
		{64, atLeast(0.8), atLeast(6)},
	} {
		var cs []contender
		for _, s := range stores {
			cs = append(cs, contender{name: s.name, slice: func() (float64, error) {
				return perSecond(w.writers, 2*e.slice, s.put)
			}})
		}
		got, err := interleave(ctx, e.rounds, cs)
		if err != nil {
			return err
		}
		e.out.line(fmt.Sprintf("%d writers, %s", w.writers, stores[1].name), rate, got[0], got[1], got[0]/got[1], w.bare)
		e.out.line(fmt.Sprintf("%d writers, %s", w.writers, stores[2].name), rate, got[0], got[2], got[0]/got[2], w.lite)
	}
	return nil
}

// perSecond lets n goroutines call op for about d and returns how many calls
// ended a second.
func perSecond(n int, d time.Duration, op func(k int64) error) (float64, error) {
	var (
		wg    sync.WaitGroup
		next  atomic.Int64
		errs  = make([]error, n)
		start = time.Now()
	)
	for i := range n {
		wg.Go(func() {
			for errs[i] == nil && time.Since(start) < d {
				errs[i] = op(next.Add(1))
			}
		})
	}
	wg.Wait()
	return float64(next.Load()) / time.Since(start).Seconds(), errors.Join(errs...)
}
