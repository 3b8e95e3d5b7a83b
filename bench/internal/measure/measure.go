// Package measure lets the sides of a comparison work in turns and times what
// they do.
package measure

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Contender is one side of a comparison. Its slice works for a while and
// returns what is compared: nanoseconds an operation, operations a second, a
// percentile.
type Contender struct {
	Name  string
	Slice func() (float64, error)
	// Settle, when set, runs after each slice and is not measured: it lets
	// background work end, so that none of it falls into another's slice.
	Settle func() error
}

// Interleave lets the contenders work in turns, forwards and backwards, for one
// round that is thrown away and then for rounds that count. It returns each
// contender's median.
func Interleave(ctx context.Context, rounds int, cs []Contender) ([]float64, error) {
	samples := make([][]float64, len(cs))
	for r := range rounds + 1 {
		for i := range cs {
			if r%2 == 1 {
				i = len(cs) - 1 - i
			}
			v, err := cs[i].turn(ctx)
			if err != nil {
				return nil, err
			}
			if r > 0 {
				samples[i] = append(samples[i], v)
			}
		}
	}
	out := make([]float64, len(cs))
	for i, s := range samples {
		out[i] = Median(s)
	}
	return out, nil
}

func (c Contender) turn(ctx context.Context) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	v, err := c.Slice()
	if err == nil && c.Settle != nil {
		err = c.Settle()
	}
	return v, err
}

// most is after how many operations the clock is read at the latest. It is read
// sooner at first, so that operations of a second do not make a slice of many.
const most = 16

// PerOp runs op for about d and returns its mean cost in nanoseconds.
func PerOp(d time.Duration, op func() error) (float64, error) {
	n, start := 0, time.Now()
	for step := 1; ; step = min(2*step, most) {
		for range step {
			if err := op(); err != nil {
				return 0, err
			}
		}
		n += step
		if took := time.Since(start); took >= d {
			return float64(took) / float64(n), nil
		}
	}
}

// PerOpSettled is PerOp with the time of settle shared among the operations.
func PerOpSettled(d time.Duration, op, settle func() error) (float64, error) {
	n, start := 0, time.Now()
	counted := func() error { n++; return op() }
	if _, err := PerOp(d, counted); err != nil {
		return 0, err
	}
	if err := settle(); err != nil {
		return 0, err
	}
	return float64(time.Since(start)) / float64(n), nil
}

// PerSecond lets n workers, numbered from 0, each call op for about d and
// returns how many calls ended a second.
func PerSecond(n int, d time.Duration, op func(worker int) error) (float64, error) {
	var (
		wg    sync.WaitGroup
		ended atomic.Int64
		errs  = make([]error, n)
		start = time.Now()
	)
	for i := range n {
		wg.Go(func() {
			for errs[i] == nil && time.Since(start) < d {
				if errs[i] = op(i); errs[i] == nil {
					ended.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return float64(ended.Load()) / time.Since(start).Seconds(), errors.Join(errs...)
}

// Latencies runs op for about d and returns how long each run took.
func Latencies(d time.Duration, op func() error) ([]float64, error) {
	var out []float64
	start := time.Now()
	for last := start; last.Sub(start) < d; {
		if err := op(); err != nil {
			return nil, err
		}
		now := time.Now()
		out = append(out, float64(now.Sub(last)))
		last = now
	}
	return out, nil
}

// Median returns the middle value of v, which it sorts.
func Median(v []float64) float64 { return Percentile(v, 0.5) }

// Percentile returns the value that a share p of v does not pass, by the
// nearest rank. It sorts v and returns 0 for none.
func Percentile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	i := int(p * float64(len(v)))
	return v[min(i, len(v)-1)]
}
