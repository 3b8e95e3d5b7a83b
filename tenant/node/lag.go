package node

import "time"

// lag is followers.lag of a node that may take no part in replication.
func (r *replicator) lag(name string) int64 {
	if r == nil {
		return -1
	}
	return r.followers.lag(name)
}

// lag returns for how many milliseconds it has not been known that the copy of a tenant has
// all that its primary has: -1 if that was never so since the node was started, or the
// tenant follows nobody.
func (fs *followers) lag(name string) int64 {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	x := fs.byName[name]
	if x == nil {
		return -1
	}
	return fs.lagLocked(x)
}

func (fs *followers) lagLocked(x *follower) int64 {
	now := time.Now()
	if x.session != nil {
		x.had(x.session.replica.Status(), now)
	}
	level := fs.levelLocked(x)
	if level.IsZero() {
		return -1
	}
	return max(0, now.Sub(level).Milliseconds())
}

// levelLocked returns when the copy had all that its primary had, as far as is known. One
// that rests had it as long as the bell of that node was in touch, which would have told.
func (fs *followers) levelLocked(x *follower) time.Time {
	if e := fs.ears[x.from]; x.rests && e != nil && e.ear != nil {
		if at := e.ear.Contact(); at.After(x.allAt) {
			return at
		}
	}
	return x.allAt
}

// rouseLocked notes that a follower does not rest any more: from now on only a session
// tells what it lacks.
func (fs *followers) rouseLocked(x *follower) { x.allAt, x.rests = fs.levelLocked(x), false }
