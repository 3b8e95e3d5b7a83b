package router

import (
	"net/http"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/internal/problem"
)

// errOvertaken is told in place of a node's word that a write is done, if that has come so
// late that the node may have been failed over without the write.
var errOvertaken = &refusal{
	status: problem.OutcomeUnknown.Status, code: problem.OutcomeUnknown.Code, retry: problem.OutcomeUnknown.Wait,
	text: "it is not known whether the write stands: its node was cut off when it had run",
}

// sending is when a request was sent to a node.
type sending struct {
	to        *slot
	at        time.Duration // in ticks
	failovers int64         // of the node, begun until then
}

func sendingTo(s *slot) sending { return sending{s, ticks(), s.failovers.Load()} }

// overtaken reports whether the answer that has come now to what was sent is that of a
// node which is being failed over or has been since, or may be next. It said so while it
// had its lease, to be sure, but a network can be whole again after what was on its way to
// the replica was given up with it.
func (rt *Router) overtaken(s sending) bool {
	return s.to.failovers.Load() != s.failovers || rt.leasing.overdue(s.to.name(), ticks()-s.at)
}

// overdue reports whether a node may have lost its lease while a request was under way that
// took that long. Those that are answered soon need no look: by then it refuses them.
func (l *leasing) overdue(node string, took time.Duration) bool {
	if l == nil || took < l.term/10 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leases == nil {
		return false
	}
	st := l.leases.Status(node)
	return !st.Refuses && l.clock()-st.Acked > l.term
}

// relayed are the streams that come from a node now. They end when its tenants have been
// failed over, as do those of a node that is dead: one that is cut off would be silent, and
// its clients would wait where nothing comes any more.
type relayed struct {
	mu  sync.Mutex // guards the field below
	all map[*upstream]struct{}
}

// add notes a stream, until it has ended.
func (r *relayed) add(u *upstream) (ended func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[*upstream]struct{}{}
	}
	r.all[u] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.all, u)
	}
}

// end ends the streams.
func (r *relayed) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for u := range r.all {
		u.abort()
	}
}

// relay passes a long answer on, but no stream of a node that has been failed over since it
// was asked.
func (s sending) relay(u *upstream, f form, to sink) error {
	if f != formStream {
		return relayLong(u, f, to)
	}
	defer s.to.relayed.add(u)()
	if s.to.failovers.Load() != s.failovers {
		u.close()
		return errMovedOn
	}
	return relayLong(u, f, to)
}

// errMovedOn is told in place of a stream from a node that has been failed over.
var errMovedOn = refusing(http.StatusServiceUnavailable, "the tenant has gone to another node")
