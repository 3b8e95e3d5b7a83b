package main

import (
	"context"
	"time"
)

const (
	quietStep  = 20 * time.Millisecond
	quietSteps = 10
	quietShare = 0.1 // of one core
)

// quiet waits until this process does next to nothing, which is when work in the
// background has ended, and returns how long it has been so.
func quiet(ctx context.Context) (time.Duration, error) {
	last, err := cpuTime()
	if err != nil {
		return 0, err
	}
	since := time.Now()
	for steps := 0; steps < quietSteps; steps++ {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(quietStep):
		}
		now, err := cpuTime()
		if err != nil {
			return 0, err
		}
		if float64(now-last) > quietShare*float64(quietStep) {
			since, steps = time.Now(), -1
		}
		last = now
	}
	return time.Since(since), nil
}
