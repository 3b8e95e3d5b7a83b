package main

import (
	"context"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// measureThroughput lets many clients ask at once, on each road in turns, and
// compares the answers a second and the CPU time of the processes on the road.
func measureThroughput(ctx context.Context, e *env) error {
	return e.onRoads(ctx, "throughput", func(rs []road) error {
		for _, n := range []int{16, 64} {
			if err := e.throughput(ctx, n, rs); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *env) throughput(ctx context.Context, n int, rs []road) error {
	var (
		loads []*load
		cs    []measure.Contender
	)
	for _, r := range rs {
		l := &load{road: r, slice: e.Slice}
		defer l.hangUp()
		if err := l.dial(ctx, n); err != nil {
			return err
		}
		loads = append(loads, l)
		cs = append(cs, measure.Contender{Name: r.name, Slice: l.run})
	}
	rates, err := measure.Interleave(ctx, e.Rounds, cs)
	if err != nil {
		return err
	}
	e.reportLoads(n, loads, rates)
	return nil
}

// reportLoads compares the router with the other hops, and with none.
func (e *env) reportLoads(n int, loads []*load, rates []float64) {
	costs, at := map[string]cost{}, map[string]float64{}
	for i, l := range loads {
		c := l.cost()
		costs[l.name], at[l.name] = c, rates[i]
		e.note("%d clients, %-18s %8s, CPU a request %9s, of it the hop %9s", n, l.name,
			report.Rate(rates[i]), report.Duration(c.end+c.hop), report.Duration(c.hop))
	}
	for _, l := range loads {
		if l.name == routed {
			continue
		}
		name := fmt.Sprintf("%d clients: routed, %s", n, l.name)
		e.out.Line(name, report.Rate, at[routed], at[l.name], at[routed]/at[l.name], report.Goal{})
		if l.hop != nil {
			ours, peer := costs[routed].hop, costs[l.name].hop
			e.out.Line("  CPU of the hop a request", report.Duration, ours, peer, ours/peer, report.Goal{})
		}
	}
}

// cost is the CPU time that processes spend on a request, in nanoseconds.
type cost struct{ hop, end float64 }

// load is many clients on one road.
type load struct {
	road
	slice time.Duration
	conns []*rawconn.Conn

	hops, ends []float64 // CPU time a request, of each round
}

func (l *load) dial(ctx context.Context, n int) error {
	for range n {
		conn, err := rawconn.Dial(ctx, l.addr)
		if err != nil {
			return err
		}
		l.conns = append(l.conns, conn)
	}
	return nil
}

func (l *load) hangUp() {
	for _, conn := range l.conns {
		conn.Close()
	}
}

// run lets the clients ask for a slice and returns the answers a second.
func (l *load) run() (float64, error) {
	hop, end, err := l.used()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	rate, err := measure.PerSecond(len(l.conns), l.slice, func(i int) error { return l.conns[i].Exchange(request) })
	if err != nil {
		return 0, err
	}
	requests := rate * time.Since(began).Seconds()
	hopAfter, endAfter, err := l.used()
	l.hops = append(l.hops, float64(hopAfter-hop)/requests)
	l.ends = append(l.ends, float64(endAfter-end)/requests)
	return rate, err
}

// used returns the CPU time that the processes on the road have used.
func (l *load) used() (hop, end time.Duration, err error) {
	if l.hop != nil {
		if hop, err = cpuTime(l.hop.pid); err != nil {
			return 0, 0, err
		}
	}
	end, err = cpuTime(l.end.pid)
	return hop, end, err
}

// cost returns the medians of the rounds, of which the first does not count.
func (l *load) cost() cost {
	return cost{measure.Median(l.hops[1:]), measure.Median(l.ends[1:])}
}
