package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/tenant"
)

// Four requests of one tenant scan so many rows each, over and over.
const (
	scans    = 4
	scanRows = 100_000
	scanText = "get rows where n + 1 < 0"
)

// The tenants: one scans, the other reads a row at a time.
const (
	scanning = "scans"
	small    = "small"
)

// measureFairness compares the p99 of small reads of one tenant while another one
// scans with their p99 while it does not.
func measureFairness(ctx context.Context, e *env) error {
	dir := e.path("fair")
	err := manage(dir, tenant.Options{}, func(m *tenant.Manager) error {
		return errors.Join(fillScanned(ctx, m, scanning), fillScanned(ctx, m, small))
	})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		opts tenant.Options
		goal report.Goal
	}{
		{"p99 of a get, MaxInFlightTenant 1", tenant.Options{MaxInFlight: 8, MaxInFlightTenant: 1, Wait: time.Minute}, report.AtMost(3)},
		{"  no bound, all scans at once", tenant.Options{}, report.Goal{}},
	} {
		err := manage(dir, c.opts, func(m *tenant.Manager) error {
			got, err := e.besideScans(ctx, m)
			if err == nil {
				e.out.Line(c.name, report.Duration, got[0], got[1], got[0]/got[1], c.goal)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// besideScans returns the p99 of small reads beside scans, and without them.
func (e *env) besideScans(ctx context.Context, m *tenant.Manager) ([]float64, error) {
	reads := func() (float64, error) {
		took, err := measure.Latencies(4*e.Slice, func() error { return visit(ctx, m, small, read) })
		return measure.Percentile(took, 0.99), err
	}
	return measure.Interleave(ctx, e.Rounds, []measure.Contender{
		{Name: "beside", Slice: func() (float64, error) {
			stop := startScans(ctx, m)
			p99, err := reads()
			return p99, errors.Join(err, stop())
		}},
		{Name: "alone", Slice: reads},
	})
}

func fillScanned(ctx context.Context, m *tenant.Manager, name string) error {
	if err := m.Create(ctx, name); err != nil {
		return err
	}
	return visit(ctx, m, name, func(ctx context.Context, h *tenant.Handle) error {
		if _, err := h.Exec(ctx, schemaText); err != nil {
			return err
		}
		_, err := h.Load(ctx, putText, func(yield func([]any, error) bool) {
			for i := 0; i < scanRows && yield([]any{i}, nil); i++ {
			}
		})
		return err
	})
}

// startScans lets the one tenant scan until stop is called, which waits for the last
// scans.
func startScans(ctx context.Context, m *tenant.Manager) (stop func() error) {
	var (
		wg   sync.WaitGroup
		end  atomic.Bool
		errs = make([]error, scans)
	)
	for i := range errs {
		wg.Go(func() {
			for errs[i] == nil && !end.Load() {
				errs[i] = visit(ctx, m, scanning, scan)
			}
		})
	}
	return func() error {
		end.Store(true)
		wg.Wait()
		return errors.Join(errs...)
	}
}

func scan(ctx context.Context, h *tenant.Handle) error {
	_, err := h.Query(ctx, scanText)
	return err
}
