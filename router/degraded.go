package router

import (
	"errors"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/tenant"
)

// tryDegradedEvery is how often a request is let through to a tenant that a router has
// marked degraded. A node tries a failed open again after the same time.
const tryDegradedEvery = 5 * time.Second

// degradations mark tenants degraded in the directory whose node cannot open them. Of
// the requests for one of them, one goes through now and then; when the node answers
// that again, the tenant is marked active. The directory tells these tenants from those
// that somebody has marked, so a router goes on with what another has noticed before it.
type degradations struct {
	router *Router
	every  time.Duration // between tries

	mu     sync.Mutex // guards the fields below
	tries  map[string]try
	closed bool
	// writing counts the changes of the directory that are on their way. Add under mu
	// unless closed.
	writing sync.WaitGroup
}

// try says when a tenant is tried again, the zero try at once.
type try struct {
	at   time.Duration // in ticks
	busy bool          // a change of its mark is on its way to the directory
}

func (g *degradations) init(rt *Router) {
	g.router, g.every = rt, tryDegradedEvery
	g.tries = make(map[string]try)
}

// lets reports whether a request goes through for a tenant that was noticed to be
// degraded.
func (g *degradations) lets(name []byte) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tries[string(name)]
	now := ticks()
	if t.busy || now < t.at {
		return false
	}
	g.tries[string(name)] = try{at: now + g.every}
	return true
}

// heard notes what a node has answered to a request for a tenant.
func (g *degradations) heard(d *destination, node string, status int, says word) {
	switch {
	case g.router.follows():
	case d.place.status == tenant.Active && says == degraded:
		g.mark(string(d.tenant), node)
	case d.place.noticed && says != degraded && status < 500:
		g.clear(string(d.tenant))
	}
}

func (g *degradations) mark(name, node string) {
	g.write(name, func() (again bool) {
		err := g.router.directory.notice(name, true)
		switch {
		case err == nil:
			g.router.logf("tenant %s: degraded, as node %s cannot open it", name, node)
		case !errors.Is(err, errDecided):
			g.router.logf("tenant %s: node %s cannot open it, and it cannot be marked: %v", name, node, err)
		}
		return err == nil
	})
}

// clear marks a tenant active that was tried with success.
func (g *degradations) clear(name string) {
	g.write(name, func() (again bool) {
		err := g.router.directory.notice(name, false)
		switch {
		case err == nil:
			g.router.logf("tenant %s: active again", name)
		case !errors.Is(err, errDecided):
			g.router.logf("tenant %s: it cannot be marked active: %v", name, err)
			return true
		}
		return false
	})
}

// write changes the mark of a tenant in the background, unless that is being done. What
// change returns is whether the tenant is to be tried in a while.
func (g *degradations) write(name string, change func() (again bool)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.tries[name].busy {
		return
	}
	g.tries[name] = try{ticks() + g.every, true}
	g.writing.Go(func() { g.written(name, change()) })
}

func (g *degradations) written(name string, again bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t, ok := g.tries[name]; ok && again {
		g.tries[name] = try{at: t.at}
	} else {
		delete(g.tries, name)
	}
}

// forget lets go of what is known of a tenant: somebody has said what its status is, or
// it is gone.
func (g *degradations) forget(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.tries, name)
}

// close waits for the directory, and leaves it alone from then on.
func (g *degradations) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.writing.Wait()
}
