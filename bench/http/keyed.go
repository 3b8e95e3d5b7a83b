package main

import (
	"context"
	"errors"

	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// measureKeyed compares a put under an idempotency key of its own with one
// without a key.
func measureKeyed(ctx context.Context, e *env) error {
	for _, sync := range []string{"off", "250"} {
		if err := e.keyedPuts(ctx, sync); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) keyedPuts(ctx context.Context, sync string) (err error) {
	p, err := e.start(ctx, "fenec", e.path("keyed"+sync+".fenec"), 0, sync)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	addr := p.addrs[front+surface]
	requests := [2][]byte{post("/notes", note(), keyed), post("/notes", note())}
	var waits, uses [2]side
	for i, r := range requests {
		if waits[i], err = e.latency(ctx, addr, r); err != nil {
			return err
		}
		if uses[i], err = e.cpu(ctx, p, 8, addr, r); err != nil {
			return err
		}
	}
	got, err := e.turns(ctx, waits[0], waits[1], uses[0], uses[1])
	if err != nil {
		return err
	}
	e.out.Line("keyed put, --sync "+sync+", p50", report.Duration, got[0], got[1], got[0]/got[1], report.AtMost(1.3))
	e.out.Line("keyed put, --sync "+sync+", CPU, 8 clients", report.Duration, got[2], got[3], got[2]/got[3], report.AtMost(1.3))
	return e.profileOf(ctx, p, "keyed put --sync "+sync, requests[0])
}
