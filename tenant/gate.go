package tenant

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// gate hands out places, so many in all and so many to one tenant. Who waits is
// served in order among those of a tenant, and tenants in turn: one that asks for
// much does not hold up another.
type gate struct {
	each int // places a tenant may have
	wait time.Duration

	mu   sync.Mutex // guards the fields below, and every line
	free int        // places
	ring []*line    // those with waiters that may have one more place, in turn
}

// line is one tenant's part of a gate. The zero line is that of one nobody uses.
type line struct {
	places  int
	waiters []chan struct{} // told, once, that a place is theirs
	queued  bool            // it is in the ring
}

// newGate returns a gate, or nil if nothing is bounded.
func newGate(total, each int, wait time.Duration) *gate {
	if total == 0 && each == 0 {
		return nil
	}
	setDefault(&total, math.MaxInt)
	setDefault(&each, math.MaxInt)
	return &gate{each: each, wait: wait, free: total}
}

// enter takes a place, and is ErrBusy if there is none in time.
func (g *gate) enter(ctx context.Context, l *line) error {
	g.mu.Lock()
	if g.free > 0 && l.places < g.each {
		// Nobody waits: a free place goes to whoever waits for it at once.
		g.free--
		l.places++
		g.mu.Unlock()
		return nil
	}
	place := make(chan struct{}, 1)
	l.waiters = append(l.waiters, place)
	g.queue(l)
	g.mu.Unlock()

	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	var err error
	select {
	case <-place:
		return nil
	case <-timer.C:
		err = fmt.Errorf("%w: nothing it may run in became free in %v", ErrBusy, g.wait)
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.abandon(l, place)
	return err
}

// abandon takes a waiter out of its line, or gives back the place it was just given.
func (g *gate) abandon(l *line, place chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := slices.Index(l.waiters, place); at >= 0 {
		l.waiters = slices.Delete(l.waiters, at, at+1)
		g.queue(l)
		return
	}
	g.leaveLocked(l)
}

// leave gives a place back.
func (g *gate) leave(l *line) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leaveLocked(l)
}

func (g *gate) leaveLocked(l *line) {
	g.free++
	l.places--
	g.queue(l)
	for g.free > 0 && len(g.ring) > 0 {
		next := g.ring[0]
		g.ring = g.ring[1:]
		next.queued = false
		place := next.waiters[0]
		next.waiters = next.waiters[1:]
		g.free--
		next.places++
		place <- struct{}{}
		g.queue(next)
	}
}

// queue puts a line into the ring, or takes it out, as it belongs.
func (g *gate) queue(l *line) {
	belongs := len(l.waiters) > 0 && l.places < g.each
	switch {
	case belongs && !l.queued:
		g.ring = append(g.ring, l)
	case !belongs && l.queued:
		g.ring = slices.DeleteFunc(g.ring, func(other *line) bool { return other == l })
	}
	l.queued = belongs
}
