package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/tenant"
)

// churnOpen is how many of the few tenants may be open at once, and churners how
// many ask for them at once.
const (
	churnOpen = few / 4
	churners  = 8
)

// What is to be opened a second by visits that read, and by visits that write.
const (
	readOpens  = 1000
	writeOpens = 500
)

// measureChurn visits one tenant after another, in the order that is the worst for
// keeping those used last: each was closed since it was visited before.
func measureChurn(ctx context.Context, e *env) error {
	dir, err := e.directory(ctx, few)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		do   func(context.Context, *tenant.Handle) error
		goal float64
	}{
		{"each visit gets a row", read, readOpens},
		{"each visit puts a row", write, writeOpens},
	} {
		var opens opens
		err := manage(dir, tenant.Options{MaxOpen: churnOpen, OnOpen: opens.count}, func(m *tenant.Manager) error {
			var next atomic.Int64
			rate, err := e.median(ctx, func() (float64, error) {
				return opens.rate(4*e.Slice, func() error {
					return visit(ctx, m, name(int(next.Add(1)%few)), c.do)
				})
			})
			if err == nil {
				e.atLeast(fmt.Sprintf("%s, %d of %d open", c.name, churnOpen, few), report.Rate, rate, c.goal)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rate lets workers call op for about d and returns how many databases were opened
// a second.
func (o *opens) rate(d time.Duration, op func() error) (float64, error) {
	before, start := o.Load(), time.Now()
	_, err := measure.PerSecond(churners, d, func(int) error { return op() })
	return float64(o.Load()-before) / time.Since(start).Seconds(), err
}
