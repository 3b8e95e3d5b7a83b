package router

import (
	"context"
	"slices"
	"time"

	"github.com/fenec-go/fenecdb/replication"
)

// tenure is what leasing keeps of one node, beside what replication.Leases does.
type tenure struct {
	tenants map[string]struct{} // that are placed on it
	dirty   bool                // they have changed since replication.Leases was told

	// version counts the changes of what is to be granted, and held is the latest that
	// the node is known to have been granted.
	version, held uint64

	withheld []string      // that are granted to nobody, as they are failing over; sorted
	freed    uint64        // the version since which the last that were are granted again
	handover *handover     // for which they are withheld; nil for a failover by itself
	taken    bool          // it has taken a grant since it was started
	told     bool          // it is logged that it takes no leases
	answered bool          // it has answered this router
	heard    time.Duration // when it did last
	repairs  repairs
}

func (t *tenure) change() {
	t.dirty = true
	t.version++
}

// release ends a failover.
func (t *tenure) release() {
	t.withheld, t.handover = nil, nil
	t.version++
	t.freed = t.version
}

func (t *tenure) withholds(tenant string) bool {
	_, found := slices.BinarySearch(t.withheld, tenant)
	return found
}

// nodeKnown, nodeGone and settled follow the directory; see watcher.

func (l *leasing) nodeKnown(node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tenures[node] != nil {
		return
	}
	t := &tenure{tenants: map[string]struct{}{}}
	t.change()
	l.tenures[node] = t
}

func (l *leasing) nodeGone(node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tenures, node)
	l.leases.Forget(node)
	l.tellLocked()
}

func (l *leasing) settled(tenant, from, to string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tenures[from]; t != nil {
		delete(t.tenants, tenant)
		t.change()
	}
	if t := l.tenures[to]; t != nil {
		t.tenants[tenant] = struct{}{}
		t.change()
	}
}

// placeLocked tells replication.Leases what has changed since the last step. A list is
// made once for all changes in between.
func (l *leasing) placeLocked(now time.Duration) {
	for node, t := range l.tenures {
		if !t.dirty {
			continue
		}
		t.dirty = false
		list := make([]string, 0, len(t.tenants))
		for tenant := range t.tenants {
			list = append(list, tenant)
		}
		l.leases.Place(now, node, list)
	}
}

// granted makes a grant to a node on which the tenant was just placed, and returns once
// the node has taken it, or takes no leases. It reports false if it has not within the
// time between two rounds, which then go on trying.
func (l *leasing) granted(ctx context.Context, tenant, node string) bool {
	if l == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, l.interval)
	defer cancel()
	l.grantSoon(node)
	want := uint64(0)
	return l.await(ctx, func() (bool, error) {
		t := l.tenures[node]
		if t == nil || l.leases.Status(node).Refuses {
			return true, nil
		}
		if want == 0 {
			want = t.version
		}
		return !t.withholds(tenant) && t.held >= max(want, t.freed), nil
	}) == nil
}

// grantSoon makes a grant to a node without waiting for the next round.
func (l *leasing) grantSoon(node string) {
	if l == nil {
		return
	}
	l.do(func(now time.Duration) []replication.Action { return l.leases.Grant(now, node) })
}
