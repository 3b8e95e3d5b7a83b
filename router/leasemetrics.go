package router

import (
	"maps"
	"slices"

	"github.com/fenec-go/fenecdb/internal/metrics"
)

// writeMetrics writes how old the nodes' leases are, and what has become of nodes that
// lost theirs.
func (l *leasing) writeMetrics(p *metrics.Page) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	nodes := slices.Sorted(maps.Keys(l.tenures))
	p.Family("fenec_router_lease_age_seconds", metrics.Gauge, "Time since a node has last answered to a grant, or since leasing began.")
	for _, n := range nodes {
		p.Float((l.clock() - l.leases.Status(n).Acked).Seconds(), "node", n)
	}
	p.Family("fenec_router_node_failed_over", metrics.Gauge, "1 for a node that has lost its lease and is not back yet.")
	for _, n := range nodes {
		lost := uint64(0)
		if l.leases.Status(n).Lost {
			lost = 1
		}
		p.Uint(lost, "node", n)
	}
	p.Family("fenec_router_auto_failovers_total", metrics.Counter, "Failovers of nodes that have lost their lease.")
	p.Uint(l.failovers.done.Load(), "outcome", "done")
	p.Uint(l.failovers.failed.Load(), "outcome", "failed")
}
