package node

import (
	"time"

	"github.com/fenec-go/fenecdb/replication/mirror"
)

// follower is a tenant that follows the one of its name on another node. It has a session
// while there is something to follow, and rests when nothing has been written for long:
// its database may then be closed, and the bell of that node wakes it.
//
// All of it is guarded by followers.mu.
type follower struct {
	name  string
	from  string    // URL of the node it follows, as far as is known
	first bool      // it has not been in touch since the node was started
	at    queueing  // whether it waits for a session
	rings uint64    // how often it was told to wake
	late  time.Time // when to try again what has failed here; zero for nothing

	session *session             // nil while it rests
	rests   bool                 // it has no session, as it has all, and is told when it has not
	allAt   time.Time            // when it had all that its primary had, as was last seen; zero for never
	past    mirror.ReplicaStatus // at the end of the last session, with the counts of all

	diverged time.Time // since when it is known to differ from its primary; zero if it is not
	refused  untaken   // by the disk here, of what came
}

// untaken is why the disk does not take what comes of a primary, and since when.
type untaken struct {
	err         error // nil if it does
	since, last time.Time
}

// queueing says in which queue a follower waits.
type queueing uint8

const (
	queuedNot queueing = iota
	queuedSoon
	queuedLast
)

// session is a follower at work.
type session struct {
	replica *mirror.Replica
	began   time.Time
	told    bool   // it began because something was written
	start   uint64 // the copy's last write as it began

	rung  time.Time // when the bell rang for it last, zero for never
	moved time.Time // when it was last seen to have got further, or when it began
	seen  uint64    // where it was then

	met     bool      // the primary was in touch
	greeted time.Time // not after the primary first was

	images, diverged uint64 // of the status, as last seen
}

// glance is what a look at a session finds.
type glance struct {
	over    bool // it has ended by itself
	level   bool // the copy has all that its primary had when the bell rang last
	failing bool // there is no stream, or nothing good comes of it
}

// ringDelay is how long a write may take from when the bell has rung for it until a message
// of the stream tells of it.
const ringDelay = time.Second

// look looks at how the session stands.
func (s *session) look() (glance, mirror.ReplicaStatus) {
	before := time.Now()
	st := s.replica.Status()
	after := time.Now()
	since := time.Duration(st.LastContactMs) * time.Millisecond
	if !s.met && st.LastContactMs >= 0 {
		s.met, s.greeted = true, after.Add(-since)
	}
	at := st.PrimaryDurable - st.Behind // where the copy is, if the primary was in touch
	if s.met && at > max(s.seen, s.start) {
		s.seen, s.moved = at, after
	}
	heard := before.Add(-since - time.Millisecond) // not after the last message
	g := glance{failing: !st.Connected}
	select {
	case <-s.replica.Done():
		g.over = true
	default:
	}
	// With the hello alone an image may be on its way, whatever it says of the numbers.
	more := s.seen > 0 || st.Images > 0 || heard.After(s.greeted)
	g.level = s.met && st.Behind == 0 && more && (s.rung.IsZero() || heard.After(s.rung.Add(ringDelay)))
	return g, st
}

// busy returns when the session last had something to do.
func (s *session) busy() time.Time {
	if s.rung.After(s.moved) {
		return s.rung
	}
	return s.moved
}

// note keeps what a status says that outlasts the session.
func (x *follower) note(s *session, st mirror.ReplicaStatus, now time.Time) {
	x.had(st, now)
	switch err := s.replica.Refused(); {
	case err == nil && x.allAt.After(x.refused.last):
		x.refused = untaken{}
	case err != nil && x.refused.err == nil:
		x.refused = untaken{err, now, now}
	case err != nil:
		x.refused.err, x.refused.last = err, now
	}
	if st.Images > s.images { // it is what its primary was
		s.images, x.diverged = st.Images, time.Time{}
	}
	if st.Diverged > s.diverged {
		s.diverged = st.Diverged
		if x.diverged.IsZero() {
			x.diverged = now
		}
	}
}

// had notes when the copy had all that its primary had, as a status says.
func (x *follower) had(st mirror.ReplicaStatus, now time.Time) {
	if at := now.Add(-time.Duration(st.LagMs) * time.Millisecond); st.LagMs >= 0 && at.After(x.allAt) {
		x.allAt = at
	}
}

// status returns how the follower stands, but for its lag.
func (x *follower) status() mirror.ReplicaStatus {
	st := x.past
	if x.session != nil {
		st = x.session.replica.Status()
		st.Images += x.past.Images
		st.Reconnects += x.past.Reconnects
		st.Diverged += x.past.Diverged
	}
	return st
}
