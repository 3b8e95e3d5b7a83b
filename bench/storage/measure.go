package main

import (
	"context"
	"slices"
	"time"
)

// contender is one side of a comparison. Its slice works for a while and
// returns what is compared: nanoseconds an operation, operations a second, a
// percentile.
type contender struct {
	name  string
	slice func() (float64, error)
	// settle, when set, runs after each slice and is not measured: it lets
	// background work end, so that none of it falls into another's slice.
	settle func() error
}

// interleave lets the contenders work in turns, forwards and backwards, for one
// round that is thrown away and then for rounds that count. It returns each
// contender's median.
func interleave(ctx context.Context, rounds int, cs []contender) ([]float64, error) {
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
		out[i] = median(s)
	}
	return out, nil
}

func (c contender) turn(ctx context.Context) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	v, err := c.slice()
	if err == nil && c.settle != nil {
		err = c.settle()
	}
	return v, err
}

// perOp runs op for about d and returns its mean cost in nanoseconds. The clock
// is read once in 16 operations.
func perOp(d time.Duration, op func() error) (float64, error) {
	n, start := 0, time.Now()
	for {
		for range 16 {
			if err := op(); err != nil {
				return 0, err
			}
		}
		n += 16
		if took := time.Since(start); took >= d {
			return float64(took) / float64(n), nil
		}
	}
}

// latencies runs op for about d and returns how long each run took.
func latencies(d time.Duration, op func() error) ([]float64, error) {
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

func median(v []float64) float64 { return percentile(v, 0.5) }

// percentile returns the value that a share p of v does not pass, by the
// nearest rank. It sorts v and returns 0 for none.
func percentile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	i := int(p * float64(len(v)))
	return v[min(i, len(v)-1)]
}
