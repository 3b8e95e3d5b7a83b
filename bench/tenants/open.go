package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/tenant"
)

// idleMemory is what an open tenant that nobody uses may hold, in bytes.
const idleMemory = 64 << 10

// measureOpen opens many tenants, asks each once, and leaves them open.
func measureOpen(ctx context.Context, e *env) error {
	dir, err := e.directory(ctx, e.open)
	if err != nil {
		return err
	}
	opts := tenant.Options{MaxOpen: e.open, IdleClose: -1}
	before := measure.HeldMemory()
	m, refused := tenant.Open(dir, opts)
	if refused == nil {
		return errors.Join(openAll(ctx, e, m, before, report.AtLeast(1)), m.Close())
	}
	// The process's limits do not allow it. Without a MaxOpen it is what they do.
	e.note("%v", refused)
	opts.MaxOpen = 0
	return manage(dir, opts, func(m *tenant.Manager) error {
		return openAll(ctx, e, m, before, report.Goal{})
	})
}

func openAll(ctx context.Context, e *env, m *tenant.Manager, before int64, g report.Goal) error {
	for i := range e.open {
		if err := visit(ctx, m, name(i), read); err != nil {
			return fmt.Errorf("with %d open: %w", len(m.Opened()), err)
		}
	}
	open := float64(len(m.Opened()))
	e.out.Line("open at once", report.Count, open, float64(e.open), open/float64(e.open), g)
	e.atMost("  memory of one", kib, float64(held(m)-before)/open, idleMemory)
	return nil
}
