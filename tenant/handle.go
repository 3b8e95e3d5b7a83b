package tenant

import (
	"context"
	"sync"
	"sync/atomic"

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
}

// Handle is the right to use one tenant's database. Only a Manager makes one, and
// Single. It keeps the database open and, where places are bounded, holds one, until
// it is released: release it when its request is done. Everything asked of it
// afterwards is ErrReleased. Its methods are safe for concurrent use.
type Handle struct {
	surface
	slot *slot
	live *instance

	// calls counts the calls that run, and has the bit released once no more may
	// begin. Who makes it exactly released gives the slot up.
	calls atomic.Int64

	opened bool // the database was opened for this handle

	mu     sync.Mutex                       // guards the fields below
	holds  bool                             // a place
	pauses int32                            // calls of Pause that are not over
	subs   map[*fenec.Subscription]struct{} // to be closed by Release
}

const released = 1 << 62

// ID returns which tenant the handle is for.
func (h *Handle) ID() ID { return h.slot.id }

// Done is closed when the tenant is about to be deleted or renamed, or the manager to
// close: streams should end and the handle be released.
func (h *Handle) Done() <-chan struct{} { return h.live.life.Done() }

// begin counts a call. Follow it by end.
func (h *Handle) begin() error {
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

func (h *Handle) end() {
	if h.calls.Add(-1) == released {
		h.giveUp()
	}
}

// Release gives the handle up. Calls that run are not cut short; streams are.
// Releasing again does nothing.
func (h *Handle) Release() {
	for {
		n := h.calls.Load()
		if n&released != 0 {
			return
		}
		if h.calls.CompareAndSwap(n, n|released) {
			h.closeStreams()
			if n == 0 {
				h.giveUp()
			}
			return
		}
	}
}

func (h *Handle) closeStreams() {
	h.mu.Lock()
	subs := h.subs
	h.subs = nil
	h.mu.Unlock()
	for sub := range subs {
		_ = sub.Close() // that it was closed already is no matter
	}
}

// giveUp gives back what the handle holds. It is called once.
func (h *Handle) giveUp() {
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
func (h *Handle) Pause() {
	gate := h.slot.gate()
	if gate == nil {
		return
	}
	h.mu.Lock()
	h.pauses++
	holds := h.holds
	h.holds = false
	h.mu.Unlock()
	if holds {
		gate.leave(&h.slot.line)
	}
}

// Resume ends a Pause: it waits for a place, and is ErrBusy when there is none within
// Options.Wait.
func (h *Handle) Resume(ctx context.Context) error {
	gate := h.slot.gate()
	if gate == nil {
		return nil
	}
	h.mu.Lock()
	h.pauses--
	last := h.pauses == 0
	h.mu.Unlock()
	if !last {
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
func (h *Handle) waiting(ctx context.Context, fn func() error) error {
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
