package main

import (
	"context"
	"slices"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// quantiles are of the times that answers took, in nanoseconds.
type quantiles struct{ p50, p95, p99 float64 }

// measureLatency asks on each road in turns and compares what answers took, and what
// each hop added to them.
func measureLatency(ctx context.Context, e *env) error {
	return e.onRoads(ctx, "latency", func(rs []road) error {
		got, err := e.latencies(ctx, rs)
		if err != nil {
			return err
		}
		for _, r := range rs {
			q := got[r.name]
			e.note("%-18s p50 %9s, p95 %9s, p99 %9s", r.name, report.Duration(q.p50), report.Duration(q.p95), report.Duration(q.p99))
		}
		e.compareLatencies(rs, got)
		return nil
	})
}

func (e *env) compareLatencies(rs []road, got map[string]quantiles) {
	line := func(name string, ours, peer float64, goal report.Goal) {
		e.out.Line(name, report.Duration, ours, peer, ours/peer, goal)
	}
	hop := func(name string) float64 { return got[name].p50 - got[direct].p50 }
	line("p50: direct, the constant", got[direct].p50, got[constant].p50, report.AtMost(0.7))
	line("p50: routed, the constant", got[routed].p50, got[constant].p50, report.AtMost(1.3))
	line("p50: routed, direct", got[routed].p50, got[direct].p50, report.Goal{})
	line("p50: the router's hop, the constant", hop(routed), got[constant].p50, report.AtMost(0.94))
	for _, r := range rs {
		if r.hop == nil || r.name == routed {
			continue
		}
		line("p50: the router's hop, "+r.name+"'s", hop(routed), hop(r.name), report.AtMost(0.8))
		line("p99: routed, through "+r.name, got[routed].p99, got[r.name].p99, report.AtMost(1.2))
	}
}

// latencies returns what answers took on each road, of all the rounds that count.
func (e *env) latencies(ctx context.Context, rs []road) (map[string]quantiles, error) {
	turns := map[string][][]float64{}
	var cs []measure.Contender
	for _, r := range rs {
		conn, err := rawconn.Dial(ctx, r.addr)
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		cs = append(cs, measure.Contender{Name: r.name, Slice: func() (float64, error) {
			took, err := timed(e.requests, func() error { return conn.Exchange(request) })
			turns[r.name] = append(turns[r.name], took)
			return 0, err
		}})
	}
	if _, err := measure.Interleave(ctx, e.Rounds, cs); err != nil {
		return nil, err
	}
	got := map[string]quantiles{}
	for name, all := range turns {
		took := slices.Concat(all[1:]...) // the first round does not count
		got[name] = quantiles{measure.Percentile(took, 0.5), measure.Percentile(took, 0.95), measure.Percentile(took, 0.99)}
	}
	return got, nil
}

// timed runs op n times and returns how long each run took.
func timed(n int, op func() error) ([]float64, error) {
	took := make([]float64, n)
	last := time.Now()
	for i := range took {
		if err := op(); err != nil {
			return nil, err
		}
		now := time.Now()
		took[i] = float64(now.Sub(last))
		last = now
	}
	return took, nil
}
