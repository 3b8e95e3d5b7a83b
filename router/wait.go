package router

import "time"

// lookEvery is how often those who wait look around: whether their client is still
// there, and what has become of the tenant.
const lookEvery = 10 * time.Millisecond

// waiter is a client whose request can wait.
type waiter interface {
	// settle prepares for a wait: what a busy client has to itself is given back.
	settle()
	// left reports whether the client has gone away. A client that has sent on
	// before it had its answer may not be seen to go.
	left() bool
}

// wait waits until wake is closed, for d at most. It reports false if it ended before
// either, because the client went away or the router ends.
func (rt *Router) wait(w waiter, d time.Duration, wake <-chan struct{}) bool {
	if d <= 0 {
		return true
	}
	w.settle()
	end := time.NewTimer(d)
	defer end.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-wake:
			return true
		case <-end.C:
			return true
		case <-rt.stopping:
			return false
		case <-tick.C:
			if w.left() {
				return false
			}
		}
	}
}
