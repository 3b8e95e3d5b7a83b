package main

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

// measureCollector reports how much of the CPU that was used went to the
// garbage collector while puts filled fronts of 64 MB.
func measureCollector(ctx context.Context, e *env) error {
	f, err := openFenec(e.path("collector.fenec"), fenec.Options{FrontBytes: 64 << 20})
	if err != nil {
		return err
	}
	share, err := collectorShare(ctx, e, f)
	if err := errors.Join(err, f.close()); err != nil {
		return err
	}
	const bound = 0.10
	e.out.Line("the collector's share, against a tenth", report.Percent, share, bound, share/bound, report.AtMost(1))
	return nil
}

func collectorShare(ctx context.Context, e *env, f *fenecDB) (float64, error) {
	pool, next := e.bodies(), int64(0)
	put := func() error {
		next++
		return f.append(ctx, next, pool.At(next))
	}
	// The first slice fills a front; what is measured runs beside it.
	if _, err := measure.PerOp(4*e.Slice, put); err != nil {
		return 0, err
	}
	before := readCPU()
	if _, err := measure.PerOp(max(20*e.Slice, time.Second), put); err != nil {
		return 0, err
	}
	after := readCPU()
	return (after.collector - before.collector) / (after.used - before.used), ctx.Err()
}

// cpu is CPU time in seconds since the program started, as the runtime
// estimates it.
type cpu struct{ collector, used float64 }

// readCPU collects once, since the runtime brings these figures up to date only
// at the end of a collection.
func readCPU() cpu {
	runtime.GC()
	s := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
	}
	metrics.Read(s)
	return cpu{s[0].Value.Float64(), s[1].Value.Float64() - s[2].Value.Float64()}
}
