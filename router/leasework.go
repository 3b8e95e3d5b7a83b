package router

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/replication"
)

// failoverCounts count the failovers of lost nodes. What one leaves behind is tried
// again each round, which counts only when it comes to an end.
type failoverCounts struct{ done, failed atomic.Uint64 }

// failOverNow fails over the tenants of a node that has lost its lease.
func (l *leasing) failOverNow(a replication.FailOver) {
	if !a.Again {
		l.logf("node %s has lost its lease: failing over its %d tenants", a.Node, len(a.Tenants))
	}
	err := l.failOver(l.ctx, a.Node, a.Tenants)
	switch {
	case err == nil:
		l.failovers.done.Add(1)
		l.logf("node %s is failed over", a.Node)
	case !a.Again:
		l.failovers.failed.Add(1)
		l.logf("node %s is not wholly failed over: %v; trying again", a.Node, err)
	}
	l.failedOver(a.Node)
}

// repairs is the state of the repairs after one node's return, of which one at most runs.
type repairs struct {
	running bool
	again   bool // another is due when this one has ended
}

func (l *leasing) repairLocked(node string) {
	r := &l.tenures[node].repairs
	if r.running {
		r.again = true
		return
	}
	r.running = true
	l.goLocked(func() {
		for {
			l.tryOn(node, l.repair)
			if l.repaired(r) {
				return
			}
		}
	})
}

// repaired ends a repair, unless another is due.
func (l *leasing) repaired(r *repairs) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.running, r.again = r.again, false
	return !r.running
}

// repairTries is how often a repair is tried. A node that has just come back may not be
// ready for its part in it.
const repairTries = 5

// tryOn does something about the copies on a node that is back.
func (l *leasing) tryOn(node string, repair func(context.Context, string) error) {
	for try, wait := 1, l.interval; ; try, wait = try+1, 2*wait {
		err := repair(l.ctx, node)
		if err == nil || l.ctx.Err() != nil {
			return
		}
		if try == repairTries {
			l.logf("node %s is back, but copies on it do not follow: %v", node, err)
			return
		}
		l.logf("node %s is back, but copies on it do not follow yet: %v; trying again", node, err)
		select {
		case <-time.After(wait):
		case <-l.ctx.Done():
			return
		}
	}
}
