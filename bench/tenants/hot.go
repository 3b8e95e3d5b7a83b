package main

import (
	"context"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/tenant"
)

// hotTime is what a handle to an open tenant may take to come and go, in
// nanoseconds.
const hotTime = 200

// measureHot acquires an open tenant and releases it, over and over.
func measureHot(ctx context.Context, e *env) error {
	dir, err := e.directory(ctx, few)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		opts tenant.Options
	}{
		{"default options", tenant.Options{}},
		{"MaxInFlight and MaxInFlightTenant set", tenant.Options{MaxInFlight: 64, MaxInFlightTenant: 8}},
	} {
		err := manage(dir, c.opts, func(m *tenant.Manager) error {
			ns, err := e.median(ctx, func() (float64, error) { return hot(ctx, m, e) })
			if err == nil {
				e.atMost(c.name, report.Duration, ns, hotTime)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hot returns what one handle takes.
func hot(ctx context.Context, m *tenant.Manager, e *env) (float64, error) {
	one := name(0)
	return measure.PerOp(e.Slice, func() error {
		h, err := m.Acquire(ctx, one)
		if err == nil {
			h.Release()
		}
		return err
	})
}
