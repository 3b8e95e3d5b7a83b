package tenant

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
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

// Freeze makes every write to a tenant fail with ErrFrozen until it is thawed; after
// d, if that is not 0, it thaws by itself. When Freeze returns, every earlier write has
// ended and is on disk. Reads, streams and checkpoints go on. Freezing again starts the time
// anew. A frozen tenant stays open.
func (m *Manager) Freeze(ctx context.Context, name string, d time.Duration) (Frozen, error) {
	if err := CheckName(name); err != nil {
		return Frozen{}, err
	}
	h, err := m.use(ctx, name)
	if err != nil {
		return Frozen{}, err
	}
	defer h.Release()
	was := h.slot.freeze(d)
	err = h.slot.setFence(ctx, h.live.db) // for the writer that is at it
	if err == nil {
		err = h.live.db.Sync(ctx)
	}
	if err != nil {
		if !was {
			h.slot.unfreeze()
		}
		return Frozen{}, fmt.Errorf("tenant %q: freeze: %w", name, err)
	}
	return Frozen{h.live.db.Seq(), m.boot}, nil
}

// Position says how far a tenant's database has come.
type Position struct {
	Seq    uint64 // of the last write
	Boot   string // as in Frozen
	Frozen bool
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
	return Position{h.live.db.Seq(), m.boot, h.slot.frozen.Load()}, nil
}

// Thaw ends a freeze.
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

// freeze makes writes fail from now on, and reports whether they did already.
func (s *slot) freeze(d time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.frozen.Swap(true)
	s.stopThawLocked()
	if d > 0 {
		mine := s.freezes
		s.thaw = time.AfterFunc(d, func() { s.thawBy(mine) })
	}
	return was
}

// stopThawLocked makes sure that no timer ends what comes next.
func (s *slot) stopThawLocked() {
	s.freezes++
	if s.thaw != nil {
		s.thaw.Stop()
		s.thaw = nil
	}
}

// thawBy ends the freeze that a timer was set for.
func (s *slot) thawBy(freeze int) {
	s.mu.Lock()
	thaws := s.freezes == freeze
	if thaws {
		s.frozen.Store(false)
	}
	s.mu.Unlock()
	if thaws {
		s.m.idleAgain()
	}
}

func (s *slot) unfreeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopThawLocked()
	s.frozen.Store(false)
}

// setFence has the database ask whether it is frozen, and returns once every block
// has ended that had begun before.
func (s *slot) setFence(ctx context.Context, db *fenec.DB) error {
	return db.SetFence(ctx, func() error {
		if s.frozen.Load() {
			return fmt.Errorf("tenant %q: %w", s.id.name, ErrFrozen)
		}
		return nil
	})
}
