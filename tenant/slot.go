package tenant

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// slot is a tenant that is open, or that somebody opens, closes or changes. Slots of
// closed tenants are forgotten, so that asking for names that do not exist costs no
// memory.
//
// Whoever does more with a slot than to take or give up a reference owns it, one at a
// time, from take or own to leave. Opening, closing and the renaming of files happen then.
// Lock order: a slot's mu, then the manager's; of two slots, the first by name is
// owned first, and nobody waits to own one while holding a lock.
type slot struct {
	m    *Manager
	id   ID
	line line // of the manager's gate

	frozen     atomic.Bool  // nothing may be written
	frozenFrom atomic.Int64 // by whoever asks a fence of that number or a later one

	mu      sync.Mutex    // guards the fields below; held for moments
	live    *instance     // nil while closed
	turn    uint64        // of the manager's, when it was last looked up
	used    int64         // when it was opened or last given up, by Manager.now
	users   int           // references not yet given up
	owner   chan struct{} // closed when the owner leaves; nil while there is none
	unused  chan struct{} // closed when users falls to 0; nil unless somebody waits
	gone    bool          // forgotten by the manager: look the name up again
	failure *failure      // of the database that is open; nil if there is none
	freeze  freeze
}

// instance is an open database.
type instance struct {
	db *fenec.DB

	// streams is what streams live by. It ends when they are to end, and another takes its
	// place if the database then stays open all the same.
	streams atomic.Pointer[lifetime]
}

type lifetime struct {
	context.Context
	end context.CancelCauseFunc
}

// begin lets streams begin, until within ends or they are to end.
func (x *instance) begin(within context.Context) {
	ctx, end := context.WithCancelCause(within)
	x.streams.Store(&lifetime{ctx, end})
}

// end ends streams.
func (x *instance) end() { x.streams.Load().end(ErrEnded) }

// slot returns the tenant's slot, a new one if there is none, and the turn of the
// look-up: they count up.
func (m *Manager) slot(name string) (s *slot, turn uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, 0, ErrClosed
	}
	s = m.slots[name]
	if s == nil {
		s = &slot{m: m, id: ID{name}}
		m.slots[name] = s
	}
	m.turn++
	return s, m.turn, nil
}

// gate returns what hands out places, or nil.
func (s *slot) gate() *gate {
	if s.m == nil {
		return nil
	}
	return s.m.gate
}

// all returns the slots of the moment.
func (m *Manager) all() []*slot {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]*slot, 0, len(m.slots))
	for _, s := range m.slots {
		list = append(list, s)
	}
	return list
}

// enter returns the tenant's slot, owned. leave it afterwards.
func (m *Manager) enter(ctx context.Context, name string) (*slot, error) {
	for {
		s, turn, err := m.slot(name)
		if err != nil {
			return nil, err
		}
		switch got, owner := s.take(nil, turn); {
		case got == owned:
			return s, nil
		case got == taken:
			if err := await(ctx, owner); err != nil {
				return nil, err
			}
		}
	}
}

// got is what came of an attempt to take a slot.
type got int

const (
	owned  got = iota // the caller owns it
	used              // the caller has a reference to its open database
	taken             // somebody owns it: wait for the channel, then try again
	absent            // it is forgotten: look the name up again
)

// take takes a reference for h if the database is open, and h is not nil. Otherwise
// it makes the caller the owner.
func (s *slot) take(h *handle, turn uint64) (got, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.owner != nil:
		return taken, s.owner
	case s.gone:
		return absent, nil
	case h != nil && s.live != nil:
		s.lendLocked(h, turn)
		return used, nil
	}
	s.owner = make(chan struct{})
	return owned, nil
}

// lend gives h a reference to the open database of an owned slot.
func (s *slot) lend(h *handle, turn uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lendLocked(h, turn)
}

// lendLocked gives h a reference.
func (s *slot) lendLocked(h *handle, turn uint64) {
	s.users++
	s.turn = turn
	h.slot, h.live = s, s.live
	h.surface = surface{h, s.live.db}
}

func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave gives up an owned slot, and forgets it if there is nothing to remember.
func (s *slot) leave() {
	s.mu.Lock()
	close(s.owner)
	s.owner = nil
	if s.live == nil {
		s.gone = true
		s.m.mu.Lock()
		delete(s.m.slots, s.id.name)
		s.m.mu.Unlock()
	}
	idle := s.idleLocked()
	s.mu.Unlock()
	if idle {
		s.m.idleAgain()
	}
}

// release gives up a reference.
func (s *slot) release() {
	s.mu.Lock()
	s.users--
	s.used = s.m.now.Load()
	last := s.users == 0
	if last && s.unused != nil {
		close(s.unused)
		s.unused = nil
	}
	s.mu.Unlock()
	if last {
		s.m.idleAgain()
	}
}

// idleAgain is called after a database may have become one that can be closed.
func (m *Manager) idleAgain() {
	if m.waiting.Load() > 0 {
		m.tellRoom()
	}
}

// idleSlot is a database that may be closed.
type idleSlot struct {
	slot *slot
	turn uint64 // of its last use
	used int64  // when that was over
}

// idle returns the slot if its database may be closed.
func (s *slot) idle() (idleSlot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return idleSlot{s, s.turn, s.used}, s.idleLocked()
}

func (s *slot) idleLocked() bool {
	return s.live != nil && s.users == 0 && s.owner == nil && !s.frozen.Load()
}

// kept reports whether the database is in use by somebody without a handle.
func (s *slot) kept() bool { return s.m.opts.KeepOpen != nil && s.m.opts.KeepOpen(s.id) }

// own makes the caller the owner of a slot if it is still idle and was not used since
// it was found so.
func (i idleSlot) own() bool {
	s := i.slot
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.idleLocked() || s.turn != i.turn {
		return false
	}
	s.owner = make(chan struct{})
	return true
}

// opened puts a database into an owned slot whose place is reserved.
func (s *slot) opened(db *fenec.DB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used, s.turn = s.m.tick(), s.m.lastTurn()
	s.live = &instance{db: db}
	s.live.begin(s.m.life)
}

func (m *Manager) lastTurn() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.turn
}

// tick sets and returns the time that is told to those who need not know it exactly.
func (m *Manager) tick() int64 {
	now := m.opts.Clock().UnixNano()
	m.now.Store(now)
	return now
}

// vacate ends the streams of an owned slot and waits until no reference is left, for so
// long at most; then it is ErrBusy, and streams may begin again.
func (s *slot) vacate(ctx context.Context, most time.Duration) error {
	s.mu.Lock()
	if s.live == nil {
		s.mu.Unlock()
		return nil
	}
	s.live.end()
	var unused chan struct{}
	if s.users > 0 {
		s.unused = make(chan struct{})
		unused = s.unused
	}
	s.mu.Unlock()
	if unused == nil {
		return nil
	}
	err := s.awaitUnused(ctx, unused, most)
	if err != nil {
		s.mu.Lock()
		s.unused = nil
		s.live.begin(s.m.life)
		s.mu.Unlock()
	}
	return err
}

func (s *slot) awaitUnused(ctx context.Context, unused <-chan struct{}, most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-unused:
		return nil
	case <-timer.C:
		return fmt.Errorf("%w: still in use after %v", ErrBusy, most)
	case <-ctx.Done():
		return ctx.Err()
	case <-s.m.life.Done():
		return ErrClosed
	}
}

// close closes the database of an owned slot, if it is open. Whatever it reports, the
// file is closed. Without fold, what was written is left in the log, on disk.
func (s *slot) close(fold bool) error {
	s.mu.Lock()
	live := s.live
	s.live, s.failure = nil, nil
	s.thawLocked()
	s.mu.Unlock()
	if live == nil {
		return nil
	}
	live.end()
	if s.m.opts.OnClose != nil {
		s.m.opts.OnClose(s.id, live.db)
	}
	var err error
	if fold {
		err = live.db.Close()
	} else {
		err = live.db.CloseUnfolded()
	}
	s.m.giveBack()
	return err
}

// path returns where the tenant's database is.
func (s *slot) path() string { return s.m.path(s.id.name) }

// exists reports whether there is a tenant: only a regular file is one.
func (s *slot) exists() (bool, error) {
	info, err := os.Lstat(s.path())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}
