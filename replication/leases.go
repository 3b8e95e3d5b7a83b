package replication

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

// LeaseOptions are a router's.
type LeaseOptions struct {
	// Term is the length of a lease, in whole milliseconds.
	Term time.Duration
	// Directory is the lineage of the router's directory.
	Directory Lineage
	// Behind is set for a directory that may lack the last changes of the one whose
	// place it takes, as a promoted standby's may, and again after a restart until
	// it was once Settled. What the predecessor granted is waited out before
	// anything is granted: 1.1 terms.
	Behind bool
}

// Action is a Send, a FailOver or a Repair, for the caller to do. None is waited
// for: rounds go on meanwhile.
type Action interface{ action() }

// Send asks for the grant to be sent to the node, and its answer to be given to
// Answered. Silence need not be told. A call may be given up after an Interval, for
// by then there is another, and its answer counts no more.
type Send struct {
	Node  string
	Grant Grant
	id    uint64
}

// FailOver asks for the tenants to be promoted elsewhere: the node has stopped
// writing them, and is granted none of them until FailedOver is called.
type FailOver struct {
	Node    string
	Tenants []string // sorted; there may be none
	Lost    bool     // whether the node's silence is why
	Again   bool     // whether it is for what an earlier attempt has left behind
}

// Repair asks for the stale copies of a node that was lost and is back to be made
// to follow.
type Repair struct{ Node string }

func (Send) action()     {}
func (FailOver) action() {}
func (Repair) action()   {}

// Leases is a router's side of its nodes' leases. Times are of a monotonic clock;
// whether it counts a suspension does not matter. Not safe for concurrent use.
type Leases struct {
	term       time.Duration
	directory  Lineage
	quiet      time.Duration // nothing is granted before
	members    map[string]*member
	sends      uint64 // the last Send's id
	superseded bool
}

// NewLeases begins leasing. Every node counts as having answered now, for a
// predecessor may have granted until just now.
func NewLeases(now time.Duration, o LeaseOptions) *Leases {
	l := &Leases{term: o.Term, directory: o.Directory, members: map[string]*member{}, quiet: now}
	if o.Behind {
		l.quiet += l.patience()
	}
	return l
}

// Interval is the time from one round to the next, and the longest that an answer
// is waited for.
func (l *Leases) Interval() time.Duration { return l.term / 3 }

// patience is how long after a node's last answer it may still write. The tenth
// is for clocks that run at different speeds.
func (l *Leases) patience() time.Duration { return l.term + l.term/10 }

// Place says which tenants the directory places on the node, those that are being
// moved away included. It is called for each node at the beginning, and again
// after each change, in the directory's order; Grant or the next round tells the
// node. The slice is kept and must not change.
func (l *Leases) Place(now time.Duration, node string, tenants []string) {
	m := l.members[node]
	if m == nil {
		m = &member{name: node, nonce: unknownNonce, acked: max(now, l.quiet)}
		l.members[node] = m
	}
	m.placed, m.epoch = tenants, ""
}

// Forget drops a node on which no tenant is placed.
func (l *Leases) Forget(node string) { delete(l.members, node) }

// Round is called every Interval. It grants to all nodes and fails over those that
// have lapsed.
func (l *Leases) Round(now time.Duration) []Action {
	if l.superseded {
		return nil
	}
	var out []Action
	for _, m := range l.sorted() {
		out = append(out, l.judge(now, m)...)
		m.flight = 0 // a call that hangs must not cost the round
	}
	return append(out, l.grantAll(now)...)
}

// Grant grants to one node without waiting for the next round.
func (l *Leases) Grant(now time.Duration, node string) []Action {
	m := l.members[node]
	if m == nil || l.superseded {
		return nil
	}
	m.tries = 0
	return l.send(now, m)
}

// Answered takes the node's answer to s: its state, and nil, ErrMismatch,
// ErrSuperseded or ErrUnfenced. Any other error stands for silence.
func (l *Leases) Answered(now time.Duration, s Send, st State, err error) []Action {
	m := l.members[s.Node]
	if m == nil || m.flight != s.id || l.superseded {
		return nil
	}
	m.flight = 0
	switch {
	case errors.Is(err, ErrSuperseded):
		l.superseded = true
		return nil
	case errors.Is(err, ErrUnfenced):
		m.refuses = true
		return append(m.released(), m.back()...)
	case err != nil && !errors.Is(err, ErrMismatch):
		return nil
	}
	m.learn(now, st)
	var out []Action
	if err == nil {
		m.held = s.Grant.Epoch
		out = append(m.released(), m.back()...)
	}
	if err != nil || m.held != l.epoch(m) || st.Nonce != "" && m.tries < enoughTries {
		out = append(out, l.send(now, m)...)
	}
	return out
}

// HandOver begins to take tenants from a node that may be well: all that is placed
// there for a failover by hand, or the one of a move that is about to be flipped.
// FailOver comes as soon as the node has taken a list without the tenants, or its
// lease has run out, which is at most 1.1 terms from now; or at once, if the node
// takes no leases or force is set, which leaves it to the operator that the node
// does not write. To give up before, call FailedOver. A node has one handover or
// failover at a time.
func (l *Leases) HandOver(now time.Duration, node string, tenants []string, force bool) ([]Action, error) {
	m := l.members[node]
	switch {
	case l.superseded:
		return nil, ErrSuperseded
	case m == nil:
		return nil, ErrUnknownNode
	case m.stage != settled:
		return nil, ErrInProgress
	}
	m.withhold(tenants)
	m.freeAt = m.acked + l.patience()
	if force || m.refuses || now > m.freeAt {
		return m.released(), nil
	}
	m.flight, m.tries = 0, 0 // the answer to a list with the tenants must not count
	return l.send(now, m), nil
}

// FailedOver ends a failover, however much of it was done; before it is called,
// Place has been for all that was, and nothing of it may go on. It grants to all
// nodes at once. What is still placed on a lost node is tried again each round.
func (l *Leases) FailedOver(now time.Duration, node string) []Action {
	m := l.members[node]
	if m == nil || l.superseded {
		return nil
	}
	m.stage, m.withheld, m.epoch = settled, nil, ""
	return append(m.repaired(), l.grantAll(now)...)
}

// Superseded reports whether a node has had a list out of a directory that takes
// this one's place. The router must stop changing things; no action comes any more.
func (l *Leases) Superseded() bool { return l.superseded }

// Settled reports whether no grant of a directory whose place this one took can
// run any more, so that a restart need not be Behind.
func (l *Leases) Settled(now time.Duration) bool { return now >= l.quiet }

// NodeStatus is what a router knows of one node's lease.
type NodeStatus struct {
	Acked   time.Duration // when it last answered
	Lost    bool          // it lapsed, and has taken no grant since
	Refuses bool          // it takes no leases, and is never failed over by itself
}

// Status returns what is known of a node's lease; zero of an unknown one's.
func (l *Leases) Status(node string) NodeStatus {
	m := l.members[node]
	if m == nil {
		return NodeStatus{}
	}
	return NodeStatus{Acked: m.acked, Lost: m.lost, Refuses: m.refuses}
}

// judge fails m over if its lease has run out.
func (l *Leases) judge(now time.Duration, m *member) []Action {
	if m.stage == releasing && now > m.freeAt {
		return m.released()
	}
	lapsed := now-m.acked > l.patience()
	if m.stage != settled || m.refuses || !lapsed || m.lost && len(m.placed) == 0 {
		return nil
	}
	m.retrying, m.lost = m.lost, true
	m.withhold(m.placed)
	return m.released()
}

func (l *Leases) grantAll(now time.Duration) (out []Action) {
	for _, m := range l.sorted() {
		m.tries = 0
		out = append(out, l.send(now, m)...)
	}
	return out
}

func (l *Leases) sorted() []*member {
	return slices.SortedFunc(maps.Values(l.members), func(a, b *member) int {
		return strings.Compare(a.name, b.name)
	})
}
