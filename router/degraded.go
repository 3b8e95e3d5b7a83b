package router

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/tenant"
)

// tryDegradedEvery is how often a request is let through to a tenant that the router has
// marked degraded. A node tries a failed open again after the same time.
const tryDegradedEvery = 5 * time.Second

// degradations are the tenants that this router has marked degraded in the directory,
// as their node could not open them. Of the requests for one of them, one goes through
// now and then; when the node answers that again, the tenant is marked active.
//
// The directory does not say who has marked a tenant. So what is not known here is left
// alone: it was somebody's decision, or that of a router that has ended since.
type degradations struct {
	router *Router
	every  time.Duration // between tries
	n      atomic.Int32  // how many there are, for those who need not look

	mu     sync.Mutex // guards the fields below
	tries  map[string]try
	closed bool
	// writing counts the changes of the directory that are on their way. Add under mu
	// unless closed.
	writing sync.WaitGroup
}

// try says when a tenant is tried again.
type try struct {
	at      time.Duration // in ticks
	marking bool          // the mark is on its way to the directory
}

func (g *degradations) init(rt *Router) {
	g.router, g.every = rt, tryDegradedEvery
	g.tries = make(map[string]try)
}

// lets reports whether a request for a degraded tenant goes through.
func (g *degradations) lets(name []byte) bool {
	if g.n.Load() == 0 {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	t, ok := g.tries[string(name)]
	now := ticks()
	if !ok || now < t.at {
		return false
	}
	g.tries[string(name)] = try{at: now + g.every}
	return true
}

// heard notes what a node has answered to a request for a tenant.
func (g *degradations) heard(d *destination, node string, status int, says word) {
	switch {
	case d.place.status == tenant.Active && says == degraded:
		g.mark(string(d.tenant), node)
	case d.place.status == tenant.Degraded && says != degraded && status < 500:
		g.clear(string(d.tenant))
	}
}

func (g *degradations) mark(name, node string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.tries[name].marking {
		return
	}
	g.tries[name] = try{ticks() + g.every, true}
	g.n.Store(int32(len(g.tries)))
	g.writing.Go(func() {
		err := g.router.directory.SetStatus(name, tenant.Degraded)
		if err == nil {
			g.router.logf("tenant %s: degraded, as node %s cannot open it", name, node)
		} else {
			g.router.logf("tenant %s: node %s cannot open it, and it cannot be marked: %v", name, node, err)
		}
		g.marked(name, err == nil)
	})
}

// marked notes that the mark is in the directory, or that it could not be made.
func (g *degradations) marked(name string, done bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, ok := g.tries[name]
	switch {
	case !ok: // somebody has said otherwise meanwhile
	case done:
		g.tries[name] = try{at: t.at}
	default:
		delete(g.tries, name)
	}
	g.n.Store(int32(len(g.tries)))
}

// clear marks a tenant active that was tried with success.
func (g *degradations) clear(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.tries[name]; !ok || g.closed {
		return
	}
	delete(g.tries, name)
	g.n.Store(int32(len(g.tries)))
	g.writing.Go(func() {
		if err := g.router.directory.SetStatus(name, tenant.Active); err != nil {
			g.router.logf("tenant %s: it cannot be marked active: %v", name, err)
			g.again(name)
			return
		}
		g.router.logf("tenant %s: active again", name)
	})
}

// again has a tenant tried once more.
func (g *degradations) again(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tries[name] = try{at: ticks() + g.every}
	g.n.Store(int32(len(g.tries)))
}

// forget leaves a tenant alone from now on: somebody has said what its status is.
func (g *degradations) forget(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.tries, name)
	g.n.Store(int32(len(g.tries)))
}

// close waits for the directory, and leaves it alone from then on.
func (g *degradations) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.writing.Wait()
}
