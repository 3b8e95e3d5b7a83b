package tenant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// failure is why an open database takes no more writes: fenec.ErrFailed.
type failure struct {
	Degradation
	tried time.Time // when it was last tried to be closed, to be opened again
}

// A database that has failed is closed, so that its next use opens it, once nobody uses it
// for a moment. It is tried again after retryAfter where somebody does.
const reopenWait = time.Second

// failed notes that the database has failed, if err says so.
func (h *handle) failed(err error) {
	if err != nil && h.slot.m != nil {
		h.slot.failed(h.live, err)
	}
}

// failed notes that the database of live has failed, if err says so, or whichever is open
// if live is nil.
func (s *slot) failed(live *instance, err error) {
	if !errors.Is(err, fenec.ErrFailed) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live != nil && (live == nil || s.live == live) && s.failure == nil {
		s.failure = &failure{Degradation: Degradation{s.id.name, err, s.m.opts.Clock()}}
	}
}

// failures returns the open databases that have failed.
func (m *Manager) failures() (list []Degradation) {
	for _, s := range m.all() {
		s.mu.Lock()
		if s.failure != nil {
			list = append(list, s.failure.Degradation)
		}
		s.mu.Unlock()
	}
	return list
}

// reopenFailed closes the databases that have failed. Who asks for one meanwhile waits.
func (m *Manager) reopenFailed(now time.Time) {
	for _, s := range m.all() {
		if s.ownFailed(now) {
			m.runs.Go(func() { s.closeFailed(m.life) })
		}
	}
}

// ownFailed makes the caller the owner of a slot whose database has failed and is to be
// closed now. A frozen one stays open: its freeze would end.
func (s *slot) ownFailed(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.failure
	if f == nil || s.owner != nil || s.frozen.Load() || now.Sub(f.tried) < retryAfter {
		return false
	}
	f.tried = now
	s.owner = make(chan struct{})
	return true
}

// closeFailed closes the failed database of an owned slot, if it is not used, and leaves.
// That it could not write everything to disk is known.
func (s *slot) closeFailed(ctx context.Context) {
	defer s.leave()
	if s.vacate(ctx, reopenWait) != nil {
		return
	}
	if err := s.close(false); err != nil && !errors.Is(err, fenec.ErrFailed) {
		s.m.degrade(s.id.name, fmt.Errorf("close: %w", err))
	}
}
