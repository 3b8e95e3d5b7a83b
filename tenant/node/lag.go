package node

import (
	"cmp"
	"slices"
	"time"
)

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

// followState is a tenant that follows another node's.
type followState struct {
	Name    string `json:"name"`
	Follows string `json:"follows"`
	LagMs   int64  `json:"lag_ms"`
}

// following returns the tenants that follow, as far as is known, by name. Asking for it
// opens none of them.
func (r *replicator) following() []followState {
	list := []followState{}
	if r == nil {
		return list
	}
	fs := r.followers
	fs.mu.Lock()
	for _, x := range fs.byName {
		list = append(list, followState{x.name, x.from, fs.lagLocked(x)})
	}
	fs.mu.Unlock()
	slices.SortFunc(list, func(a, b followState) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
