package node

import (
	"context"
	"errors"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

const (
	// company is for how long the beginning of a session is waited for.
	company = 10 * time.Second
	// lateBy is after how long what has failed here is tried again.
	lateBy = 5 * time.Second
	// vain is how long a session without a stream lasts at least where others wait for its
	// place.
	vain = 5 * time.Second
)

// errDiverged is why a copy is among those that are degraded.
var errDiverged = errors.New("it was found to differ from its primary's database, and has not been replaced by an image of that yet")

// work starts sessions until nobody waits for one.
func (fs *followers) work() {
	for {
		fs.mu.Lock()
		if fs.closed || len(fs.soon)+len(fs.last) == 0 {
			fs.working--
			fs.mu.Unlock()
			return
		}
		fs.mu.Unlock()
		placed := fs.makeRoom()
		fs.mu.Lock()
		x, queue := fs.nextLocked()
		if x == nil && placed {
			fs.places--
		}
		fs.mu.Unlock()
		if x != nil && placed {
			fs.begin(x, queue == queuedSoon)
		}
	}
}

// begin has a follower that waited for a session have one, in the place that is taken for
// it, or sees why it must not.
func (fs *followers) begin(x *follower, told bool) {
	if s := fs.started(x, told); s != nil {
		fs.accompany(x, s)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.inTouchLocked(x)
}

// started returns the session that it has started in the place taken for it; nil for none.
func (fs *followers) started(x *follower, told bool) (s *session) {
	defer func() {
		if s == nil {
			fs.mu.Lock()
			fs.places--
			fs.mu.Unlock()
		}
	}()
	unlock, err := fs.r.lanes.lock(fs.life, x.name)
	if err != nil {
		return nil
	}
	defer unlock()
	from, at, err := fs.stands(x.name)
	switch {
	case errors.Is(err, tenant.ErrNotFound), err == nil && from == "":
		fs.haltAndForget(x)
		return nil
	case err != nil:
		fs.postpone(x, err)
		return nil
	}
	if fs.goesOn(x, from, told) {
		return nil
	}
	fs.halt(x.name)
	return fs.start(x, from, at, told)
}

// stands returns whom a tenant follows, "" for nobody, and its last write.
func (fs *followers) stands(name string) (from string, at uint64, err error) {
	db, release, err := fs.r.node.copyOf(name).Use(fs.life)
	if err != nil {
		return "", 0, err
	}
	defer release()
	if !db.History().Following {
		return "", 0, nil
	}
	from, _, err = fs.r.node.upstream(name)
	return from, db.LastWrite(), err
}

// postpone notes that a follower's session is to be tried to begin later.
func (fs *followers) postpone(x *follower, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.closed || fs.life.Err() != nil {
		return
	}
	x.late = time.Now().Add(lateBy)
	if x.past.Error != err.Error() {
		fs.r.log.Printf("replication: tenant %s cannot follow: %v", x.name, err)
	}
	x.past.Error = err.Error()
}

// goesOn reports whether a follower has the right session already.
func (fs *followers) goesOn(x *follower, from string, told bool) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if x.session == nil || x.from != from {
		return false
	}
	if told {
		x.session.rung = time.Now()
	}
	g, _ := x.session.look()
	return !g.over
}

// start starts the session of a follower that has none, whose lane is held.
func (fs *followers) start(x *follower, from string, at uint64, told bool) *session {
	now := time.Now()
	replica, err := mirror.StartReplica(replaced{fs.r.node.copyOf(x.name), fs.r, x.name}, mirror.ReplicaOptions{
		Primary:   primaryOf(from, x.name),
		Token:     fs.r.node.opts.ReplicationToken,
		Instance:  fs.r.instance(x.name),
		Transport: fs.r.transport,
		ErrorLog:  fs.r.log,
	})
	if err != nil { // from was made by hand, and is no URL
		fs.postpone(x, err)
		return nil
	}
	s := &session{replica: replica, began: now, told: told, start: at, moved: now}
	fs.mu.Lock()
	stopped := fs.closed || fs.byName[x.name] != x
	if !stopped {
		fs.followerLocked(x.name, from)
		x.session, x.late, x.past.Error = s, time.Time{}, ""
	}
	fs.mu.Unlock()
	if stopped {
		replica.Stop()
		return nil
	}
	return s
}

// accompany waits until the primary is in touch, or it is seen that it does not come to
// that.
func (fs *followers) accompany(x *follower, s *session) {
	until := time.Now().Add(company)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-s.replica.Done():
		case <-fs.life.Done():
			timer.Stop()
			return
		}
		fs.mu.Lock()
		g, st := s.look()
		mine := x.session == s
		over := !mine || g.over || s.met || st.Reconnects > 0 || time.Now().After(until)
		if over && mine && !s.met {
			fs.failsLocked(x.from)
		}
		fs.mu.Unlock()
		if over {
			return
		}
	}
}

// halt ends the session of a follower whose lane is held, if it has one.
func (fs *followers) halt(name string) {
	fs.mu.Lock()
	x := fs.byName[name]
	if x == nil || x.session == nil {
		fs.mu.Unlock()
		return
	}
	s := x.session
	_, st := s.look()
	x.note(s, st, time.Now())
	past := x.status()
	fs.mu.Unlock()
	s.replica.Stop()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	past.Connected = false
	x.past, x.session = past, nil
	fs.places--
	if err := s.replica.Err(); err != nil {
		x.past.Error = err.Error()
	}
}

func (fs *followers) haltAndForget(x *follower) {
	fs.halt(x.name)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.forgetLocked(x)
}

// rest ends a session, unless somebody is at the tenant's role. Who was woken since it was
// looked at comes again.
func (fs *followers) rest(x running) {
	unlock, _ := fs.r.lanes.take(x.name)
	if unlock == nil {
		return
	}
	defer unlock()
	fs.mu.Lock()
	as := x.follower.session == x.session
	fs.mu.Unlock()
	if !as {
		return
	}
	fs.halt(x.name)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	x.follower.rests = x.glance.level && x.follower.at == queuedNot
	if x.follower.rings != x.rings && fs.byName[x.name] == x.follower {
		// What has rung was not seen to come, and the bell is not to vouch for it.
		x.follower.rests = false
		fs.queueLocked(x.follower, queuedSoon)
	}
}

// ended looks after a session that has ended by itself: its disk refuses writes, and it is
// tried anew with the database opened again, or it follows no more.
func (fs *followers) ended(x running) {
	if err := x.session.replica.Err(); errors.Is(err, fenec.ErrFailed) {
		fs.r.node.copyOf(x.name).Failed(err)
	}
	fs.rest(x)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if x.follower.session == nil && x.late.IsZero() {
		x.late = time.Now().Add(lateBy)
	}
}

// replaced is a tenant that follows. Those who follow it in turn hear of it when an image
// takes its place.
type replaced struct {
	raw.Copy
	r    *replicator
	name string
}

// Replace puts an image in the place of the database.
func (c replaced) Replace(ctx context.Context, a *fenec.Arrival, keep bool) (kept string, err error) {
	kept, err = c.Copy.Replace(ctx, a, keep)
	if err == nil {
		c.r.bell.Ring(c.name)
	}
	return kept, err
}
