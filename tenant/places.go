package tenant

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// idleQueue are the databases to be closed next, the longest unused first. What is
// used again meanwhile is passed over, and everything else was used later: so the
// order is that of all of them, though they are looked at only when it is empty.
type idleQueue struct {
	mu   sync.Mutex // guards the fields below
	list []idleSlot
}

// next returns the idle database that was unused longest.
func (q *idleQueue) next(m *Manager) (idleSlot, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		q.list = m.oldest()
	}
	if len(q.list) == 0 {
		return idleSlot{}, false
	}
	first := q.list[0]
	q.list = q.list[1:]
	return first, true
}

// queued is the share of the idle databases that is put in order at once.
const queued = 16

// oldest returns the idle databases that were unused longest, in order.
func (m *Manager) oldest() []idleSlot {
	list := m.idleOnes(false)
	return slices.Clone(list[:(len(list)+queued-1)/queued])
}

// idleOnes returns the idle databases, the longest unused first: those that are kept open,
// or those that are not.
func (m *Manager) idleOnes(kept bool) []idleSlot {
	var list []idleSlot
	for _, s := range m.all() {
		if idle, ok := s.idle(); ok && s.kept() == kept {
			list = append(list, idle)
		}
	}
	slices.SortFunc(list, func(a, b idleSlot) int { return cmp.Compare(a.turn, b.turn) })
	return list
}

// closeOldest closes the idle database that was unused longest, one that is kept open if
// there are no others, and reports whether there was one.
func (m *Manager) closeOldest() bool {
	for {
		old, ok := m.idle.next(m)
		if !ok {
			break
		}
		if old.own() {
			old.slot.closeUnused(false)
			return true
		}
	}
	for _, old := range m.idleOnes(true) {
		if old.own() {
			old.slot.closeUnused(false)
			return true
		}
	}
	return false
}

// unfoldedMost is how much a database that is closed under pressure may hold, in bytes,
// for its log to be left as it is. Such a close must be quick, but the next open too,
// and however often a tenant is opened for one write.
const unfoldedMost = 256 << 10

// closeUnused closes the database of an owned slot and leaves it. A failure means
// that the last writes may not be on disk, which is worth a look.
func (s *slot) closeUnused(fold bool) {
	defer s.leave()
	if _, unfolded := s.live.db.MemoryBytes(); unfolded > unfoldedMost {
		fold = true
	}
	if err := s.close(fold); err != nil {
		s.m.degrade(s.id.name, fmt.Errorf("close: %w", err))
	}
}

// reserve takes one of the places of open databases, closing an idle one for it if
// need be. It is ErrBusy if none becomes free in time.
func (m *Manager) reserve(ctx context.Context) error {
	if m.tryReserve() {
		return nil
	}
	m.waiting.Add(1)
	defer m.waiting.Add(-1)
	timer := time.NewTimer(m.opts.Wait)
	defer timer.Stop()
	for {
		m.mu.Lock()
		room := m.room
		m.mu.Unlock()
		if m.tryReserve() || m.closeOldest() && m.tryReserve() {
			return nil
		}
		select {
		case <-room:
		case <-timer.C:
			return fmt.Errorf("%w: %d databases are open and in use, which is MaxOpen", ErrBusy, m.opts.MaxOpen)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (m *Manager) tryReserve() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open >= m.opts.MaxOpen {
		return false
	}
	m.open++
	return true
}

// giveBack ends what reserve began.
func (m *Manager) giveBack() {
	m.mu.Lock()
	m.open--
	m.mu.Unlock()
	if m.waiting.Load() > 0 {
		m.tellRoom()
	}
}

// tellRoom wakes those who wait for a place: one is free, or a database idle.
func (m *Manager) tellRoom() {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.room)
	m.room = make(chan struct{})
}

// keepMemory is fitMemory after an open. Looking at all databases for each would cost more
// than the open: so with many, it is done for every so many.
func (m *Manager) keepMemory() {
	m.mu.Lock()
	m.unmeasured++
	due := m.unmeasured*measuredEach >= m.open
	if due {
		m.unmeasured = 0
	}
	m.mu.Unlock()
	if due {
		m.fitMemory()
	}
}

// fitMemory closes idle databases, the longest unused first, until the open ones hold
// no more than MaxMemory.
func (m *Manager) fitMemory() {
	if m.opts.MaxMemory <= 0 {
		return
	}
	for total := m.memory(); total > m.opts.MaxMemory; {
		old, ok := m.idle.next(m)
		if !ok {
			return
		}
		if old.own() {
			held, _ := old.slot.live.db.MemoryBytes()
			old.slot.closeUnused(false)
			total -= held
		}
	}
}

// measuredEach is the most open databases that are looked at for one open.
const measuredEach = 64

// memory returns how much memory open databases hold. One whose lock is held counts
// as nothing.
func (m *Manager) memory() (total int64) {
	for _, s := range m.all() {
		if !s.mu.TryLock() {
			continue
		}
		if s.live != nil {
			held, _ := s.live.db.MemoryBytes()
			total += held
		}
		s.mu.Unlock()
	}
	return total
}
