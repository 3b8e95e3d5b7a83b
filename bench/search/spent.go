package main

import (
	"context"
	"time"
)

// spent is what a job took.
type spent struct{ wall, cpu time.Duration }

// spend runs the steps of a job and returns what they took. After each it waits
// until the process is quiet: what a step leaves to do in the background is part
// of it, and the waiting is not.
func spend(ctx context.Context, steps ...func() error) (spent, error) {
	start := time.Now()
	before, err := cpuTime()
	if err != nil {
		return spent{}, err
	}
	var idle time.Duration
	for _, step := range steps {
		if err := step(); err != nil {
			return spent{}, err
		}
		d, err := quiet(ctx)
		if err != nil {
			return spent{}, err
		}
		idle += d
	}
	after, err := cpuTime()
	return spent{wall: time.Since(start) - idle, cpu: after - before}, err
}
