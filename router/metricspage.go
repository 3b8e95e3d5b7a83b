package router

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/metrics"
)

// writeMetrics writes what the router counts, and what its directory holds.
func (rt *Router) writeMetrics(p *metrics.Page) {
	p.Family("fenec_build_info", metrics.Gauge, "1, with the version as a label.")
	p.Uint(1, "version", fenec.Version)
	rt.metrics.sum(&rt.front).write(p)
	rt.metrics.writeFailures(p)
	rt.metrics.writeMoves(p)
	p.Family("fenec_router_connections", metrics.Gauge, "Open connections of clients.")
	p.Uint(uint64(rt.front.count()))
	rt.directory.writeMetrics(p)
	rt.staleness.writeMetrics(p)
	rt.leasing.writeMetrics(p)
	rt.writeReplicationMetrics(p)
}

// write writes the families of requests.
func (t *tally) write(p *metrics.Page) {
	p.Family("fenec_router_requests_total", metrics.Counter, "Requests answered.")
	for k := range kinds {
		for class := range codes {
			p.Uint(t.requests[k][class], "route", kindNames[k], "code", codeNames[class])
		}
	}
	p.Family("fenec_router_request_duration_seconds", metrics.TypeHistogram, "Time from a request to the end of its answer, or to the head of a stream.")
	for k := range kinds {
		if k != forReplication {
			p.Durations(&metrics.Quick, &t.took[k], "route", kindNames[k])
		}
	}
	p.Family("fenec_router_upstream_duration_seconds", metrics.TypeHistogram, "Time that nodes took to answer, to the head of the answer.")
	p.Durations(&metrics.Quick, &t.upstream)
}

func (c *counters) writeFailures(p *metrics.Page) {
	failures := map[string]uint64{}
	c.failures.Range(func(node, n any) bool {
		failures[node.(string)] = n.(*atomic.Uint64).Load()
		return true
	})
	p.Family("fenec_router_upstream_errors_total", metrics.Counter, "Requests that a node did not answer, or not to the end.")
	for _, node := range slices.Sorted(maps.Keys(failures)) {
		p.Uint(failures[node], "node", node)
	}
}

func (c *counters) writeMoves(p *metrics.Page) {
	p.Family("fenec_router_moves_total", metrics.Counter, "Moves that have ended.")
	for o := range moveOutcomes {
		p.Uint(c.moves[o].Load(), "outcome", moveOutcomeNames[o])
	}
	p.Family("fenec_router_move_duration_seconds", metrics.TypeHistogram, "Time that moves took.")
	var d metrics.Distribution
	d.AddHistogram(&c.moving)
	p.Durations(&metrics.Slow, &d)
}

// writeMetrics writes how many tenants are where, and whether that can change.
func (d *Directory) writeMetrics(p *metrics.Page) {
	moving := uint64(0)
	d.tenants.each(func(_ string, at *place) {
		if at.state == StateMoving {
			moving++
		}
	})
	nodes := d.Nodes()
	p.Family("fenec_router_nodes", metrics.Gauge, "Nodes in the directory.")
	p.Uint(uint64(len(nodes)))
	p.Family("fenec_router_tenants", metrics.Gauge, "Tenants placed on a node.")
	for _, n := range nodes {
		p.Uint(uint64(d.Placed(n.Name)), "node", n.Name)
	}
	p.Family("fenec_router_replicas", metrics.Gauge, "Replicas of tenants on a node, those of pairs not among them.")
	replicas := d.replicated()
	for _, n := range nodes {
		p.Uint(uint64(replicas[n.Name]), "node", n.Name)
	}
	p.Family("fenec_router_tenants_moving", metrics.Gauge, "Tenants whose move has not come to an end.")
	p.Uint(moving)
	failing := uint64(0)
	if d.trouble.failing.Load() {
		failing = 1
	}
	p.Family("fenec_router_directory_failing", metrics.Gauge, "1 while the directory's file refuses changes.")
	p.Uint(failing)
}
