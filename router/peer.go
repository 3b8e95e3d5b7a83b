package router

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxIdle is how many unused connections are kept to one address. A node takes
	// 100 connections unless it is told otherwise, and others need some of them.
	maxIdle = 64
	// idleLimit is how long a connection may stand unused. Nodes close theirs
	// after a minute; staying well below makes it rare that a request crosses
	// a close.
	idleLimit = 30 * time.Second
)

// peer is an address of a node with the unused connections to it.
type peer struct {
	addr string

	mu   sync.Mutex  // guards the fields below; never held across a system call
	idle []*upstream // the one used last comes last
	// aging closes what has been unused for too long; nil while nothing is unused.
	aging *time.Timer

	// retired tells that no connection is kept any more. It is set under mu.
	retired atomic.Bool

	// failing tells that the last exchange failed, so that a node that is
	// gone is logged once and not with every request.
	failing atomic.Bool
}

// take returns an unused connection that can take a request, or nil: one that has
// not been unused for too long and on which nothing has arrived, neither its end
// nor an answer to nothing.
func (p *peer) take() *upstream {
	for {
		u := p.pop()
		if u == nil || ticks()-u.since <= idleLimit && !u.ready() {
			return u
		}
		u.close()
	}
}

func (p *peer) pop() *upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	u := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	return u
}

// give keeps a connection for later use. What is over the limit is closed, the
// longest unused first.
func (p *peer) give(u *upstream) {
	if surplus := p.keep(u, ticks()); surplus != nil {
		surplus.close()
	}
}

// keep takes the connection in and returns one that has to go, if any.
func (p *peer) keep(u *upstream, now time.Duration) (surplus *upstream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retired.Load() {
		return u
	}
	u.since = now
	p.idle = append(p.idle, u)
	if p.aging == nil {
		p.aging = time.AfterFunc(idleLimit, p.age)
	}
	if len(p.idle) <= maxIdle {
		return nil
	}
	return p.dropOldestLocked()
}

// age closes what has been unused for idleLimit.
func (p *peer) age() {
	for u := p.old(ticks()); u != nil; u = p.old(ticks()) {
		u.close()
	}
}

// old takes out a connection that has been unused for too long. If there is none it sees
// to the next one's end.
func (p *peer) old(now time.Duration) *upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 || p.retired.Load() {
		p.aging = nil
		return nil
	}
	if left := p.idle[0].since + idleLimit - now; left > 0 {
		p.aging = time.AfterFunc(left, p.age)
		return nil
	}
	return p.dropOldestLocked()
}

func (p *peer) dropOldestLocked() (oldest *upstream) {
	oldest = p.idle[0]
	p.idle = slices.Delete(p.idle, 0, 1)
	return oldest
}

// retire closes every unused connection, and those in use when they come back.
func (p *peer) retire() {
	p.mu.Lock()
	p.retired.Store(true)
	if p.aging != nil {
		p.aging.Stop()
	}
	p.mu.Unlock()
	for u := p.pop(); u != nil; u = p.pop() {
		u.close()
	}
}
