package node

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant"
)

// starters is how many followers begin their sessions at once.
const starters = 16

// followers are the tenants of a node that follow others, and who starts and ends their
// sessions. Nobody who holds mu calls the manager, or waits.
type followers struct {
	r       *replicator
	life    context.Context // of those who start sessions
	helpers sync.WaitGroup
	quiet   time.Duration // how long a session has nothing to do before it ends; negative for ever
	most    int           // sessions at once

	room chan struct{} // holds one while somebody makes room for a session

	mu      sync.Mutex // guards the fields below
	byName  map[string]*follower
	soon    []*follower // who were told that they miss something; others may be among them
	last    []*follower // who are to look whether they do; others may be among them
	working int         // who start sessions
	places  int         // of sessions, that are taken
	pending int         // first sessions that have come to nothing yet
	total   int         // of those there were at the start
	ears    map[string]*ear
	gone    mirror.ReplicaStatus // counts of those that follow no more
	closed  bool
}

func newFollowers(ctx context.Context, r *replicator) *followers {
	opts := r.node.tenants.Options()
	return &followers{
		r: r, life: ctx, quiet: opts.IdleClose, most: max(1, opts.MaxOpen/2),
		room: make(chan struct{}, 1), byName: map[string]*follower{}, ears: map[string]*ear{},
		pending: 1, // until the directory has been looked through
	}
}

// scan finds the tenants that may follow, and has each look for what it misses.
func (fs *followers) scan() {
	names, err := fs.r.node.tenants.List()
	if err != nil {
		fs.r.log.Printf("replication: which tenants follow others is not known: %v", err)
	}
	for _, name := range names {
		if fs.life.Err() != nil {
			break
		}
		from, _, err := fs.r.node.upstream(name)
		if err != nil {
			fs.r.log.Printf("replication: whom tenant %s follows is not known: %v", name, err)
		}
		if from != "" {
			fs.add(name, from)
		}
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.pending--
}

// add adds a tenant that was there at the start.
func (fs *followers) add(name, from string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.closed {
		return
	}
	x := fs.followerLocked(name, from)
	if !x.first {
		x.first = true
		fs.pending++
		fs.total++
	}
	fs.wakeLocked(x, queuedLast)
}

// followerLocked returns the follower of that name, which follows at from.
func (fs *followers) followerLocked(name, from string) *follower {
	x := fs.byName[name]
	if x == nil {
		x = &follower{name: name, past: mirror.ReplicaStatus{LastContactMs: -1, LagMs: -1}}
		fs.byName[name] = x
	}
	if x.from != from {
		x.allAt, x.rests = time.Time{}, false
		fs.hearLocked(from)
		fs.deafenLocked(x.from)
		x.from = from
		x.past.Primary = primaryOf(from, name)
	}
	return x
}

// primaryOf returns the URL of a tenant's database on another node.
func primaryOf(from, name string) string { return from + "/t/" + name }

// found is told of a tenant whose database was opened and follows.
func (fs *followers) found(name, from string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if x := fs.byName[name]; !fs.closed && (x == nil || x.from != from) {
		fs.wakeLocked(fs.followerLocked(name, from), queuedSoon)
	}
}

// reconsider has somebody look at whether the tenant of a name follows, and whom.
func (fs *followers) reconsider(name string) {
	from, _, err := fs.r.node.upstream(name)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	x := fs.byName[name]
	switch {
	case fs.closed, x == nil && (err != nil || from == ""):
		return
	case x == nil:
		x = fs.followerLocked(name, from)
	}
	fs.queueLocked(x, queuedSoon)
}

// wakeLocked has a follower look for what it misses.
func (fs *followers) wakeLocked(x *follower, at queueing) {
	x.rings++
	if x.session == nil {
		fs.queueLocked(x, at)
	} else if at == queuedSoon {
		x.session.rung = time.Now()
	}
}

func (fs *followers) queueLocked(x *follower, at queueing) {
	if fs.closed || x.at == queuedSoon || x.at == at {
		return
	}
	fs.rouseLocked(x)
	if x.at = at; at == queuedSoon {
		fs.soon = append(fs.soon, x)
	} else {
		fs.last = append(fs.last, x)
	}
	if fs.working < starters {
		fs.working++
		fs.helpers.Go(fs.work)
	}
}

// nextLocked takes the next follower out of the queues, nil if there is none.
func (fs *followers) nextLocked() (x *follower, from queueing) {
	for {
		at, queue := queuedSoon, &fs.soon
		if len(fs.soon) == 0 {
			at, queue = queuedLast, &fs.last
		}
		if len(*queue) == 0 {
			return nil, queuedNot
		}
		x := (*queue)[0]
		*queue = (*queue)[1:]
		if x.at == at && fs.byName[x.name] == x {
			x.at = queuedNot
			return x, at
		}
	}
}

// forgetLocked gives up a follower that follows no more.
func (fs *followers) forgetLocked(x *follower) {
	if fs.byName[x.name] != x {
		return
	}
	fs.gone.Images += x.past.Images
	fs.gone.Reconnects += x.past.Reconnects
	fs.gone.Diverged += x.past.Diverged
	delete(fs.byName, x.name)
	fs.deafenLocked(x.from)
	fs.inTouchLocked(x)
}

// inTouchLocked notes that a follower's first session has come to something.
func (fs *followers) inTouchLocked(x *follower) {
	if x.first {
		x.first = false
		fs.pending--
	}
}

// status tells of the follower of a tenant.
func (fs *followers) status(name string) (mirror.ReplicaStatus, bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	x := fs.byName[name]
	if x == nil {
		return mirror.ReplicaStatus{}, false
	}
	st := x.status()
	st.LagMs = fs.lagLocked(x)
	return st, true
}

// stir has a follower that rests look for what it misses: somebody wants to know.
func (fs *followers) stir(name string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if x := fs.byName[name]; x != nil && x.session == nil {
		fs.wakeLocked(x, queuedLast)
	}
}

// runs reports whether a tenant's follower is at work.
func (fs *followers) runs(name string) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	x := fs.byName[name]
	return x != nil && x.session != nil
}

// waiting returns how many of the followers that there were at the start have not been in
// touch, or tried, and how many these were.
func (fs *followers) waiting() (pending, total int) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.pending, fs.total
}

// degraded returns the tenants that are known to differ from their primaries, and those
// for which the disk does not take what comes.
func (fs *followers) degraded() (list []tenant.Degradation) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, x := range fs.byName {
		if x.refused.err != nil {
			list = append(list, tenant.Degradation{Name: x.name, Err: x.refused.err, Since: x.refused.since})
		} else if !x.diverged.IsZero() {
			list = append(list, tenant.Degradation{Name: x.name, Err: errDiverged, Since: x.diverged})
		}
	}
	slices.SortFunc(list, func(a, b tenant.Degradation) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// close ends all sessions.
func (fs *followers) close() {
	fs.mu.Lock()
	fs.closed = true
	ears := fs.ears
	fs.ears = map[string]*ear{}
	var sessions []*session
	for _, x := range fs.byName {
		if x.session != nil {
			sessions = append(sessions, x.session)
		}
	}
	fs.mu.Unlock()
	var ending sync.WaitGroup
	for _, e := range ears {
		ending.Go(e.stop)
	}
	for _, s := range sessions {
		ending.Go(s.replica.Stop)
	}
	ending.Wait()
	fs.helpers.Wait()
}
