package node

import "time"

// running is a follower and its session, as they were looked at.
type running struct {
	*follower
	from    string
	session *session
	rings   uint64
	glance
	busy time.Time // when there was something to do last
	idle bool      // it was begun to see whether something is missed, and nothing was
}

// runningNow looks at all sessions.
func (fs *followers) runningNow(now time.Time) (list []running) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, x := range fs.byName {
		s := x.session
		if s == nil {
			continue
		}
		g, st := s.look()
		x.note(s, st, now)
		if !x.diverged.IsZero() { // it is to take an image, and knows so only while it is at work
			g.level, g.failing = false, true
		}
		list = append(list, running{x, x.from, s, x.rings, g, s.busy(), !s.told && s.rung.IsZero() && s.seen == 0})
	}
	return list
}

// tidy ends the sessions that have nothing to do, and begins again what has failed.
func (fs *followers) tidy() {
	now := time.Now()
	for _, x := range fs.runningNow(now) {
		switch {
		case x.over:
			fs.ended(x)
		case !x.level || fs.quiet < 0:
		case x.failing && fs.hears(x.from), !x.failing && (x.idle || now.Sub(x.busy) >= fs.quiet):
			fs.rest(x)
		}
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, x := range fs.byName {
		if !x.late.IsZero() && !now.Before(x.late) {
			x.late = time.Time{}
			fs.queueLocked(x, queuedLast)
		}
	}
}

// makeRoom takes a place for a session. If there is none it ends the session that has had
// nothing to do for longest, once there is one. It reports whether there is a place: there
// is not once the node closes.
func (fs *followers) makeRoom() bool {
	select {
	case fs.room <- struct{}{}:
		defer func() { <-fs.room }()
	case <-fs.life.Done():
		return false
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if placed, closed := fs.tryPlace(); placed || closed {
			return placed
		}
		if fs.endOne() {
			continue
		}
		select {
		case <-tick.C:
		case <-fs.life.Done():
			return false
		}
	}
}

func (fs *followers) tryPlace() (placed, closed bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if !fs.closed && fs.places < fs.most {
		fs.places++
		return true, false
	}
	return false, fs.closed
}

// endOne ends a session that can be ended for others, and reports whether there was one.
func (fs *followers) endOne() bool {
	now := time.Now()
	var quietest *running
	for _, x := range fs.runningNow(now) {
		can := x.level || x.over || x.failing && now.Sub(x.session.began) >= vain
		if can && (quietest == nil || x.busy.Before(quietest.busy)) {
			quietest = &x
		}
	}
	if quietest == nil {
		return false
	}
	fs.rest(*quietest)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	x := quietest.follower
	if x.session != nil {
		return false
	}
	if !quietest.level {
		fs.queueLocked(x, queuedLast)
	}
	return true
}
