package router

import (
	"bytes"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/internal/problem"
)

// holding is how long a request may still wait for its tenant's move. The zero holding
// has not begun.
type holding struct{ until time.Duration } // in ticks

// awaitGate keeps a write back while its tenant is frozen for a move, and lets it go to
// the node that has the tenant then. When the time is over it goes to the one that has
// it still, which will refuse it.
func (rt *Router) awaitGate(w waiter, d *destination, h *holding) error {
	_, err := rt.awaitChange(w, d, h)
	return err
}

// awaitChange waits while the tenant moves, until it has another place than d says, and
// puts that into d. It reports false if nothing is to be waited for or the time is over.
func (rt *Router) awaitChange(w waiter, d *destination, h *holding) (changed bool, err error) {
	if h.until == 0 {
		h.until = ticks() + rt.opts.Hold
	}
	for before := d.place; ; {
		if d.place, err = rt.locate(d.tenant); err != nil {
			return false, refuse(err)
		}
		if d.place != before && d.place.gate == nil {
			return true, nil
		}
		left := h.until - ticks()
		switch {
		case left <= 0 || d.place.gate == nil && d.place.state != StateMoving:
			return false, nil
		case d.place.gate == nil:
			left = min(left, lookEvery) // the freeze may have come before the gate
		}
		if !rt.wait(w, left, d.place.gate) {
			return false, nil
		}
	}
}

// word is what a node's refusal says to the router.
type word uint8

const (
	nothing  word = iota
	misses        // it has not run, and the node may no longer be the tenant's
	degraded      // the node cannot open the tenant's database
)

// maxRefusal is how long a refusal that says something can be, in bytes.
const maxRefusal = 4 << 10

// listen returns what an answer says to the router. A node writes the word of a problem
// as the body's member "code", and no text of a client can stand in its place: within a
// text its quotes would be escaped.
func listen(status int, body []byte) word {
	if status != http.StatusServiceUnavailable && status != http.StatusNotFound || len(body) > maxRefusal {
		return nothing
	}
	says := func(p problem.Problem) bool {
		return status == p.Status && bytes.Contains(body, []byte(`"code":"`+p.Code+`"`))
	}
	switch {
	case says(problem.TenantFrozen), says(problem.NoLease), says(problem.UnknownTenant):
		return misses
	case says(problem.TenantDegraded):
		return degraded
	}
	return nothing
}
