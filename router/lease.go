package router

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/replication"
)

// leasing renews the leases under which nodes write, fails over those that have lost
// theirs, and repairs what is left when they are back. What is to be done is decided by
// replication.Leases; here it is timed and carried out.
//
// Rounds wait for nothing: each grant is a call on a goroutine and a connection of its
// own, bounded by the time between two rounds, and failovers and repairs run apart. So
// a node that does not answer, or a failover that takes long, costs no other node its
// lease. Nor does a change of the directory wait for any of it.
//
// A nil leasing is that of a router whose nodes write without leases. Lock order:
// Directory.change, then mu.
type leasing struct {
	directory *Directory
	logf      func(string, ...any)
	term      time.Duration
	interval  time.Duration // from one round to the next, as replication.Leases says
	clock     func() time.Duration

	// grant makes one grant to a node and returns what replication.Leases.Answered takes.
	grant func(context.Context, Node, replication.Grant) (replication.State, error)
	// failOver places tenants of a node that has stopped writing them elsewhere, these and
	// no others.
	failOver func(ctx context.Context, node string, tenants []string) error
	// repair makes the stale copies of a node that is back follow.
	repair func(ctx context.Context, node string) error
	// restored makes up for what a node lacks that was started anew.
	restored func(ctx context.Context, node string) error

	failovers failoverCounts

	// ctx is that of all calls and of all work; no other begins when it has ended.
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup // Add under mu unless ctx has ended

	mu      sync.Mutex          // guards the fields below
	leases  *replication.Leases // nil before begin
	tenures map[string]*tenure  // by node
	changed chan struct{}       // closed when something has changed that await waits for
	last    time.Duration       // when the last round was
	behind  bool                // the directory's file does not say yet that it has settled
}

func newLeasing(d *Directory, term time.Duration, logf func(string, ...any)) *leasing {
	l := &leasing{
		directory: d, logf: logf, term: term, interval: term / 3, clock: ticks,
		tenures: map[string]*tenure{}, changed: make(chan struct{}),
	}
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l
}

// begin begins leasing: when the router starts, or when it is promoted.
func (l *leasing) begin() {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.behind = l.directory.isBehind()
	l.leases = replication.NewLeases(l.clock(), replication.LeaseOptions{
		Term: l.term, Directory: l.directory.lineage(), Behind: l.behind,
	})
	l.last = l.clock()
	l.mu.Unlock()
	l.directory.watch(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.goLocked(l.rounds)
}

// close ends leasing, and returns when nothing of it runs any more. The leases that the
// nodes have run on for a term.
func (l *leasing) close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.stop()
	l.mu.Unlock()
	l.running.Wait()
}

// goLocked runs f beside, unless leasing has ended.
func (l *leasing) goLocked(f func()) {
	if l.ctx.Err() == nil {
		l.running.Go(f)
	}
}

func (l *leasing) rounds() {
	tick := time.NewTicker(l.interval)
	defer tick.Stop()
	for {
		l.do(l.roundLocked)
		select {
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
	}
}

// roundLocked is a round, unless the router has slept through the last ones. The nodes
// have had no grants then, and are asked anew before they are judged.
func (l *leasing) roundLocked(now time.Duration) []replication.Action {
	late := now-l.last > 2*l.interval
	l.last = now
	if l.behind && l.leases.Settled(now) && !l.leases.Superseded() {
		l.behind = false
		l.goLocked(l.settle)
	}
	if !late {
		return l.leases.Round(now)
	}
	var out []replication.Action
	for node := range l.tenures {
		out = append(out, l.leases.Grant(now, node)...)
	}
	return out
}

// settle records that the leases of a directory whose place this one took have run out.
// While the directory refuses changes, which it tells by itself, each round tries again.
func (l *leasing) settle() {
	if l.directory.settleLineage() == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.behind = true
}

// do takes a step and carries out what comes of it.
func (l *leasing) do(step func(now time.Duration) []replication.Action) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doLocked(step)
}

func (l *leasing) doLocked(step func(now time.Duration) []replication.Action) {
	if l.leases == nil {
		return
	}
	now := l.clock()
	l.placeLocked(now)
	for _, a := range step(now) {
		l.carryOutLocked(a)
	}
	if l.leases.Superseded() && l.directory.supersede() {
		l.logf("%v: this router changes nothing any more", ErrSuperseded)
		l.tellLocked()
	}
}

func (l *leasing) carryOutLocked(a replication.Action) {
	switch a := a.(type) {
	case replication.Send:
		version := l.tenures[a.Node].version
		l.goLocked(func() { l.send(a, version) })
	case replication.FailOver:
		t := l.tenures[a.Node]
		t.withheld = a.Tenants
		if h := t.handover; h != nil {
			h.free = true
			l.tellLocked()
			return
		}
		l.goLocked(func() { l.failOverNow(a) })
	case replication.Repair:
		l.repairLocked(a.Node)
	}
}

// send makes a grant of the list that the node had at that version.
func (l *leasing) send(s replication.Send, version uint64) {
	node, ok := l.directory.Node(s.Node)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.interval)
	defer cancel()
	state, err := l.grant(ctx, node, s.Grant)
	l.do(func(now time.Duration) []replication.Action {
		actions := l.leases.Answered(now, s, state, err)
		l.noteLocked(s.Node, version, state, err)
		return actions
	})
}

// noteLocked notes what became of a grant.
func (l *leasing) noteLocked(node string, version uint64, state replication.State, err error) {
	t := l.tenures[node]
	if t == nil {
		return
	}
	t.hear(l.clock(), err)
	switch {
	case err == nil:
		t.held, t.taken = max(t.held, version), true
	case errors.Is(err, replication.ErrMismatch):
		if state.Epoch == nil && t.taken {
			t.taken = false // it knows of no grant at all: it is another process
			l.goLocked(func() { l.tryOn(node, l.restored) })
		}
		return
	case !errors.Is(err, replication.ErrUnfenced):
		return
	case !t.told:
		t.told = true
		l.logf("node %s takes no leases: it writes without, and is never failed over by itself", node)
	}
	l.tellLocked()
}

// tellLocked wakes whoever awaits something.
func (l *leasing) tellLocked() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// await waits until done says that something is over, or ctx or leasing ends. done is
// called with mu held.
func (l *leasing) await(ctx context.Context, done func() (bool, error)) error {
	for {
		l.mu.Lock()
		over, err := done()
		changed := l.changed
		l.mu.Unlock()
		if over || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.ctx.Done():
			return ErrClosed
		}
	}
}
