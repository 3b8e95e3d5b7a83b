package tenant

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// slot is a tenant that is open, being opened or closed. Slots of closed
// tenants are forgotten, so that asking for names that do not exist costs no
// memory.
type slot struct {
	m    *Manager
	name string

	mu       sync.Mutex // held while opening and closing; guards the fields below
	db       *fenec.DB  // nil while closed
	users    int        // handles not yet released
	lastUsed time.Time
	gone     bool          // forgotten by the manager: look the name up again
	unused   chan struct{} // closed when users falls to 0; nil unless somebody waits
}

// enter returns the tenant's slot, locked. leave it afterwards.
func (m *Manager) enter(name string) (*slot, error) {
	for {
		m.mu.Lock()
		if m.closed {
			m.mu.Unlock()
			return nil, ErrClosed
		}
		s := m.slots[name]
		if s == nil {
			s = &slot{m: m, name: name}
			m.slots[name] = s
		}
		m.mu.Unlock()
		s.mu.Lock()
		switch {
		case m.isClosed():
			s.leave()
			return nil, ErrClosed
		case !s.gone:
			return s, nil
		}
		s.mu.Unlock()
	}
}

func (m *Manager) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// leave unlocks the slot and forgets it if there is nothing to remember.
func (s *slot) leave() {
	if s.db == nil && !s.gone {
		s.gone = true
		s.m.mu.Lock()
		delete(s.m.slots, s.name)
		s.m.mu.Unlock()
	}
	s.mu.Unlock()
}

func (s *slot) opened(db *fenec.DB) {
	s.db = db
	s.lastUsed = time.Now()
}

// closeDB closes the database. Whatever it reports, the file is closed.
func (s *slot) closeDB() error {
	db := s.db
	s.db = nil
	if db == nil {
		return nil
	}
	return db.Close()
}

// waitUnused waits until no handle is left. The lock is given up meanwhile and
// held again when it returns: handles taken in between are waited for too.
func (s *slot) waitUnused(ctx context.Context, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for s.users > 0 {
		if s.unused == nil {
			s.unused = make(chan struct{})
		}
		unused := s.unused
		s.mu.Unlock()
		var err error
		select {
		case <-unused:
		case <-timer.C:
			err = ErrBusy
		case <-ctx.Done():
			err = ctx.Err()
		}
		s.mu.Lock()
		if err != nil && s.users > 0 {
			return err
		}
	}
	return nil
}

// Handle is the right to use one tenant's database. Only a Manager makes one.
type Handle struct {
	slot     *slot
	db       *fenec.DB
	released atomic.Bool
}

// Tenant returns the tenant's name.
func (h *Handle) Tenant() string { return h.slot.name }

// DB returns the tenant's database, or nil once the handle is released.
func (h *Handle) DB() *fenec.DB {
	if h.released.Load() {
		return nil
	}
	return h.db
}

// Release gives the handle up. Releasing again does nothing.
func (h *Handle) Release() {
	if h.released.Swap(true) {
		return
	}
	s := h.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	s.lastUsed = time.Now()
	if s.users == 0 && s.unused != nil {
		close(s.unused)
		s.unused = nil
	}
}
