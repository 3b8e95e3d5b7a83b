package tenant

import (
	"context"
	"errors"
	"sync"

	"github.com/fenec-go/fenecdb/fenec"
)

// Subscription follows a shape for as long as its handle is not released.
type Subscription struct {
	h    *handle
	sub  *fenec.Subscription
	next *fenec.Event // that came, and for which there was no place yet
	over func()       // tells who watches that it is over; it may be called again
}

// Subscribe begins to follow a shape as fenec.DB.Subscribe does.
func (s *surface) Subscribe(ctx context.Context, shape fenec.Shape, since uint64) (*Subscription, error) {
	h := s.h
	if err := h.begin(); err != nil {
		return nil, err
	}
	defer h.end()
	over, err := h.subscribes()
	if err != nil {
		return nil, err
	}
	sub, err := s.on.Subscribe(ctx, shape, since)
	if err != nil {
		over()
		return nil, err
	}
	x := &Subscription{h: h, sub: sub, over: over}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls.Or(streams)&released != 0 {
		return nil, errors.Join(ErrReleased, x.end())
	}
	if h.subs == nil {
		h.subs = map[*Subscription]struct{}{}
	}
	h.subs[x] = struct{}{}
	return x, nil
}

// subscribes asks who watches whether a subscription may begin.
func (h *handle) subscribes() (over func(), err error) {
	if h.watch == nil {
		return func() {}, nil
	}
	over, err = h.watch.Subscribes()
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(over), nil
}

// Next waits for the next event, without a place in flight, and is ErrEnded once the
// tenant is being deleted or renamed. After ErrBusy, which says that there was no
// place to go on in, the next call returns the event. One goroutine at a time may
// call it.
func (s *Subscription) Next(ctx context.Context) (fenec.Event, error) {
	if err := s.h.waiting(ctx, func() error { return s.await(ctx) }); err != nil {
		return fenec.Event{}, err
	}
	ev := *s.next
	s.next = nil
	s.h.read(ev.Rows.Len())
	return ev, nil
}

// await waits until there is a next event.
func (s *Subscription) await(ctx context.Context) error {
	if s.next != nil {
		return nil
	}
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	streams := s.h.live.streams.Load()
	defer context.AfterFunc(streams, cancel)()
	ev, err := s.sub.Next(until)
	switch {
	case err == nil:
		s.next = &ev
	case s.h.calls.Load()&released != 0:
		return ErrReleased
	case ctx.Err() == nil && streams.Err() != nil:
		return context.Cause(streams)
	}
	return err
}

// Close ends the subscription.
func (s *Subscription) Close() error {
	s.h.mu.Lock()
	delete(s.h.subs, s)
	s.h.mu.Unlock()
	return s.end()
}

func (s *Subscription) end() error {
	s.over()
	return s.sub.Close()
}
