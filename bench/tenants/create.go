package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/tenant"
)

// What a new tenant may take.
const (
	createTime = float64(5 * time.Millisecond)
	emptyBytes = 32 << 10
)

// measureCreate makes tenants in a directory that had none and, in turns, in one
// that has many.
func measureCreate(ctx context.Context, e *env) error {
	full, err := e.directory(ctx, e.tenants)
	if err != nil {
		return err
	}
	first := &creator{env: e, dir: e.path("new-tenants")}
	last := &creator{env: e, dir: full}
	err = manage(first.dir, tenant.Options{}, func(m *tenant.Manager) error {
		first.m = m
		return manage(last.dir, tenant.Options{}, func(m *tenant.Manager) error {
			last.m = m
			return compareCreates(ctx, e, first, last)
		})
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(first.dir, newName(0)+".fenec"))
	if err != nil {
		return err
	}
	e.atMost("file of an empty tenant", kib, float64(info.Size()), emptyBytes)
	return nil
}

func compareCreates(ctx context.Context, e *env, first, last *creator) error {
	got, err := measure.Interleave(ctx, e.Rounds, []measure.Contender{
		{Name: "first", Slice: func() (float64, error) { return first.create(ctx) }},
		{Name: "last", Slice: func() (float64, error) { return last.create(ctx) }},
	})
	if err != nil {
		return err
	}
	e.atMost("create in an empty directory, p50", report.Duration, got[0], createTime)
	e.atMost(fmt.Sprintf("create beside %d, p50", e.tenants), report.Duration, got[1], createTime)
	e.out.Line("  the second against the first", report.Duration, got[1], got[0], got[1]/got[0], report.Goal{})
	e.note("p99 %s and %s, of %d and %d", report.Duration(measure.Percentile(first.took, 0.99)),
		report.Duration(measure.Percentile(last.took, 0.99)), len(first.took), len(last.took))
	return nil
}

// creator makes tenants in a directory.
type creator struct {
	*env
	dir  string
	m    *tenant.Manager
	made int
	took []float64 // nanoseconds of each
}

// create makes tenants for a while and returns the median of what one took.
func (c *creator) create(ctx context.Context) (float64, error) {
	took, err := measure.Latencies(c.Slice, func() error {
		c.made++
		return c.m.Create(ctx, newName(c.made-1))
	})
	c.took = append(c.took, took...)
	return measure.Median(took), err
}

// newName returns a name that none of the tenants made by copying has.
func newName(i int) string { return fmt.Sprint("new-", i) }
