package tenant

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

func init() {
	raw.DB = func(handle any) *fenec.DB {
		if h := handle.(*Handle); h.calls.Load()&released == 0 {
			return h.live.db
		}
		return nil
	}
	raw.Watch = func(handle any, w raw.Watcher) { handle.(*Handle).watch = &watch{Watcher: w} }
	raw.Failed = func(handle any, err error) { handle.(*Handle).failed(err) }
}

// Handle is the right to use one tenant's database. Only a Manager makes one, and
// Single. It keeps the database open and, where places are bounded, holds one, until
// it is released: release it when its request is done. Everything asked of it
// afterwards is ErrReleased. Its methods are safe for concurrent use. A copy is the same
// handle.
type Handle struct{ *handle }

// handle is what all copies of a Handle share.
type handle struct {
	self Handle // allocated with it
	surface
	slot *slot
	live *instance

	// calls counts the calls that run. It has the bit streams once there may be
	// subscriptions, and the bit released once no call may begin: who then ends the last
	// one gives the slot up.
	calls atomic.Int64

	watch *watch // nil if nobody watches

	mu     sync.Mutex                 // guards the fields below, but opened
	subs   map[*Subscription]struct{} // to be closed by Release
	pauses int32                      // calls of Pause that are not over
	holds  bool                       // a place
	opened bool                       // the database was opened for this handle
}

func newHandle() *Handle {
	h := new(handle)
	h.self.handle = h
	return &h.self
}

const (
	released = 1 << 62
	streams  = 1 << 61
)

// ID returns which tenant the handle is for.
func (h *handle) ID() ID { return h.slot.id }

// Done is closed when the tenant is about to be deleted or renamed, or the manager to
// close: streams should end and the handle be released. If that came to nothing, as when
// others did not release theirs, Done returns another channel.
func (h *handle) Done() <-chan struct{} { return h.live.streams.Load().Done() }

// begin counts a call. Follow it by end.
func (h *handle) begin() error {
	for {
		n := h.calls.Load()
		if n&released != 0 {
			return ErrReleased
		}
		if h.calls.CompareAndSwap(n, n+1) {
			return nil
		}
	}
}

func (h *handle) end() {
	if h.calls.Add(-1)&^streams == released {
		h.giveUp()
	}
}

// Release gives the handle up. Calls that run are not cut short; streams are.
// Releasing again does nothing.
func (h *handle) Release() {
	for {
		n := h.calls.Load()
		if n&released != 0 {
			return
		}
		if h.calls.CompareAndSwap(n, n|released) {
			if n&streams != 0 {
				h.closeStreams()
			}
			if n&^streams == 0 {
				h.giveUp()
			}
			return
		}
	}
}

func (h *handle) closeStreams() {
	h.mu.Lock()
	subs := h.subs
	h.subs = nil
	h.mu.Unlock()
	for sub := range subs {
		_ = sub.end() // that it was closed already is no matter
	}
}

// giveUp gives back what the handle holds. It is called once.
func (h *handle) giveUp() {
	if gate := h.slot.gate(); gate != nil {
		h.mu.Lock()
		holds := h.holds
		h.holds = false
		h.mu.Unlock()
		if holds {
			gate.leave(&h.slot.line)
		}
	}
	if h.slot.m != nil {
		h.slot.release()
	}
}

// Pause gives the handle's place back, for as long as its user only waits: who waits
// for a write must not keep the writer out. The handle stays usable. Follow it by
// Resume; pauses may nest.
func (h *handle) Pause() {
	gate := h.slot.gate()
	if gate == nil && h.watch == nil {
		return
	}
	h.mu.Lock()
	h.pauses++
	if h.pauses == 1 && h.watch != nil {
		h.watch.since = time.Now()
	}
	holds := h.holds
	h.holds = false
	h.mu.Unlock()
	if holds {
		gate.leave(&h.slot.line)
	}
}

// Resume ends a Pause: it waits for a place, and is ErrBusy when there is none within
// Options.Wait.
func (h *handle) Resume(ctx context.Context) error {
	gate := h.slot.gate()
	if gate == nil && h.watch == nil {
		return nil
	}
	h.mu.Lock()
	h.pauses--
	last := h.pauses == 0
	if last && h.watch != nil {
		h.watch.Waited(time.Since(h.watch.since))
	}
	h.mu.Unlock()
	if !last || gate == nil {
		return nil
	}
	if err := gate.enter(ctx, &h.slot.line); err != nil {
		return err
	}
	h.mu.Lock()
	h.holds = h.calls.Load()&released == 0
	holds := h.holds
	h.mu.Unlock()
	if !holds {
		gate.leave(&h.slot.line)
		return ErrReleased
	}
	return nil
}

// waiting runs fn, which waits, without a place.
func (h *handle) waiting(ctx context.Context, fn func() error) error {
	if err := h.begin(); err != nil {
		return err
	}
	defer h.end()
	h.Pause()
	err := fn()
	if rerr := h.Resume(ctx); err == nil {
		err = rerr
	}
	return err
}
