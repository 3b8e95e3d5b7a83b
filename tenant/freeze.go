package tenant

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/replication"
)

// Frozen tells what a freeze has come to.
type Frozen struct {
	Seq uint64 // of the last write; it is on disk

	// Boot names the manager. A freeze lives in memory: if another call tells of
	// another Boot, or of another Seq, the tenant was writable in between.
	Boot string
}

func newBoot() string {
	var id [8]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// freeze is what there is of a freeze of a tenant: those that are being brought about, and
// one that holds. Nothing may be written while there is either, so that one that comes to
// nothing undoes no other.
type freeze struct {
	begun int         // freezes that have not come to their end yet
	holds bool        // one has, and is not thawed
	thaw  *time.Timer // ends it; nil if nothing does
	nth   int         // counts them, so that a timer knows its own

	fences int64 // counts those that were set because of a freeze
}

// Freeze makes every write to a tenant fail with ErrFrozen until it is thawed; after
// d, if that is not 0, it thaws by itself. When Freeze returns, every earlier write has
// ended and is on disk. Reads, streams and checkpoints go on. Freezing again starts the time
// anew. One that fails leaves the tenant as frozen as it was. A frozen tenant stays open.
func (m *Manager) Freeze(ctx context.Context, name string, d time.Duration) (Frozen, error) {
	if err := CheckName(name); err != nil {
		return Frozen{}, err
	}
	if d < 0 {
		return Frozen{}, fmt.Errorf("tenant %q: freeze for %v: the time must not be negative", name, d)
	}
	h, err := m.use(ctx, name)
	if err != nil {
		return Frozen{}, err
	}
	defer h.Release()
	fence := h.slot.beginFreeze()
	err = h.slot.setFence(ctx, h.live.db, fence)
	if err == nil {
		err = h.live.db.Sync(ctx)
	}
	h.slot.endFreeze(err == nil, d)
	if err != nil {
		h.failed(err)
		return Frozen{}, fmt.Errorf("tenant %q: freeze: %w", name, err)
	}
	return Frozen{h.live.db.Seq(), m.boot}, nil
}

// Position says how far a tenant's database has come.
type Position struct {
	Seq     uint64 // what readers see everything up to
	Last    uint64 // number of the last write: Seq may be past it
	Boot    string // as in Frozen
	Frozen  bool
	History replication.History
}

// Position returns how far a tenant has come, whatever its status. It opens the
// tenant.
func (m *Manager) Position(ctx context.Context, name string) (Position, error) {
	if err := CheckName(name); err != nil {
		return Position{}, err
	}
	h, err := m.use(ctx, name)
	if err != nil {
		return Position{}, err
	}
	defer h.Release()
	db := h.live.db
	return Position{db.Seq(), db.LastWrite(), m.boot, h.slot.frozen.Load(), db.History()}, nil
}

// Thaw ends a freeze. One that is being brought about meanwhile comes after it.
func (m *Manager) Thaw(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	h, err := m.use(ctx, name)
	if err != nil {
		return err
	}
	defer h.Release()
	h.slot.unfreeze()
	return nil
}

// beginFreeze makes writes fail from when the fence is set whose number it returns. Follow
// it by endFreeze.
func (s *slot) beginFreeze() (fence int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.freeze
	f.begun++
	f.fences++
	if !s.frozen.Load() {
		s.frozenFrom.Store(f.fences)
		s.frozen.Store(true)
	}
	return f.fences
}

// endFreeze says whether the tenant is to stay frozen, and for how long; 0 is until it is
// thawed.
func (s *slot) endFreeze(stays bool, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.freeze
	f.begun--
	if !stays {
		s.frozen.Store(f.holds || f.begun > 0)
		return
	}
	f.stopThaw()
	f.holds = true
	if d > 0 {
		mine := f.nth
		f.thaw = time.AfterFunc(d, func() { s.thawBy(mine) })
	}
}

// stopThaw makes sure that no timer ends what comes next.
func (f *freeze) stopThaw() {
	f.nth++
	if f.thaw != nil {
		f.thaw.Stop()
		f.thaw = nil
	}
}

// thawBy ends the freeze that a timer was set for.
func (s *slot) thawBy(freeze int) {
	s.mu.Lock()
	thaws := s.freeze.nth == freeze
	if thaws {
		s.thawLocked()
	}
	s.mu.Unlock()
	if thaws {
		s.m.idleAgain()
	}
}

func (s *slot) unfreeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thawLocked()
}

// thawLocked ends a freeze that holds.
func (s *slot) thawLocked() {
	f := &s.freeze
	f.stopThaw()
	f.holds = false
	s.frozen.Store(f.begun > 0)
}

// setFence has the database ask a fence of that number, and returns once every block has
// ended that had begun before.
func (s *slot) setFence(ctx context.Context, db *fenec.DB, fence int64) error {
	return db.SetFence(ctx, func() error { return s.mayWrite(fence) })
}

// mayWrite returns why nothing may be written now to a database that asks a fence of that
// number. A block asks the one that it began with as it lands too, so a freeze is of those
// fences that were set for it or later: what had begun before lands. The freeze comes
// first: what it refuses is sent again to where the tenant has been moved.
func (s *slot) mayWrite(fence int64) error {
	if s.frozen.Load() && fence >= s.frozenFrom.Load() {
		return fmt.Errorf("tenant %q: %w", s.id.name, ErrFrozen)
	}
	if own := s.m.opts.Fence; own != nil {
		return own(s.id)
	}
	return nil
}
