package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/tenant"
)

// What opening a directory, and the first answer of a tenant in it, may take.
const (
	directoryTime   = float64(time.Second)
	directoryMemory = 50 << 20
)

// measureDirectory opens a directory of many tenants and asks one of them.
func measureDirectory(ctx context.Context, e *env) error {
	dir, err := e.directory(ctx, e.tenants)
	if err != nil {
		return err
	}
	var memory, allocated []float64
	took, err := e.median(ctx, func() (float64, error) {
		o, err := openDirectory(ctx, dir, name(e.tenants/2))
		memory, allocated = append(memory, o.held), append(allocated, o.allocated)
		return o.took, err
	})
	if err != nil {
		return err
	}
	e.atMost(fmt.Sprintf("%d tenants: Open and first answer", e.tenants), report.Duration, took, directoryTime)
	e.atMost("  memory held after it", report.Size, measure.Median(memory), directoryMemory)
	e.note("allocated meanwhile, of which most is garbage: %s", report.Size(measure.Median(allocated)))
	return nil
}

// directoryOpened is what opening a directory took.
type directoryOpened struct{ took, held, allocated float64 }

func openDirectory(ctx context.Context, dir, one string) (o directoryOpened, err error) {
	before, total := measure.HeldMemory(), allocated()
	start := time.Now()
	err = manage(dir, tenant.Options{}, func(m *tenant.Manager) error {
		err := visit(ctx, m, one, read)
		o.took = float64(time.Since(start))
		o.allocated = float64(allocated() - total)
		o.held = float64(held(m) - before)
		return err
	})
	return o, err
}

// allocated returns the bytes that the process has allocated since it began.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
