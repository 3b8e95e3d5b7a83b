package tenant

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/fenec-go/fenecdb/fenec"
)

// Acquire returns a handle to the tenant's database, opening it if need be, and
// waits for a place where they are bounded. Release the handle when done. It fails
// with ErrName, ErrNotFound, ErrProvisioning, ErrDegraded, ErrBusy or ErrClosed.
func (m *Manager) Acquire(ctx context.Context, name string) (*Handle, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := m.admits(name); err != nil {
		return nil, fmt.Errorf("tenant %q: %w", name, err)
	}
	h, err := m.use(ctx, name)
	if err != nil {
		return nil, err
	}
	// The status may have changed while the slot was waited for. It is that of this tenant
	// for as long as there is a handle: whoever takes the name away waits for that.
	err = m.admits(name)
	if err == nil {
		err = h.enter(ctx)
	}
	if err != nil {
		h.Release()
		return nil, fmt.Errorf("tenant %q: %w", name, err)
	}
	return h, nil
}

// enter gets the handle its place.
func (h *handle) enter(ctx context.Context) error {
	gate := h.slot.gate()
	if gate == nil {
		return nil
	}
	if err := gate.enter(ctx, &h.slot.line); err != nil {
		return err
	}
	h.holds = true
	return nil
}

// use returns a handle without a place, whatever the tenant's status.
func (m *Manager) use(ctx context.Context, name string) (*Handle, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := newHandle()
	for {
		s, turn, err := m.slot(name)
		if err != nil {
			return nil, err
		}
		switch got, owner := s.take(h.handle, turn); got {
		case used:
			return h, nil
		case taken:
			if err := await(ctx, owner); err != nil {
				return nil, err
			}
		case owned:
			if err := s.openFor(ctx, h.handle, turn); err != nil {
				return nil, fmt.Errorf("tenant %q: %w", name, err)
			}
			return h, nil
		}
	}
}

// openFor opens the database of an owned slot, gives h a reference, and leaves.
func (s *slot) openFor(ctx context.Context, h *handle, turn uint64) error {
	defer s.leave()
	if err := s.open(ctx); err != nil {
		return err
	}
	h.opened = true
	s.lend(h, turn)
	return nil
}

// open opens the database of an owned slot that is closed. A name without a file
// costs nothing but the look at it.
func (s *slot) open(ctx context.Context) error {
	m := s.m
	switch there, err := s.exists(); {
	case err != nil:
		return err
	case !there:
		return ErrNotFound
	}
	if err := m.degraded.refuses(s.id.name, m.opts.Clock()); err != nil {
		return err
	}
	db, err := s.openDB(ctx, m.opts.DB)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case errors.Is(err, ErrBusy), err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		err = fmt.Errorf("open: %w", err)
		m.degrade(s.id.name, err)
		return fmt.Errorf("%w: %w", ErrDegraded, err)
	}
	s.opened(db)
	m.restored(s.id.name)
	m.keepMemory()
	return nil
}

// openDB opens the database of an owned slot in a place of its own, which it keeps
// unless it fails.
func (s *slot) openDB(ctx context.Context, opts fenec.Options) (*fenec.DB, error) {
	if err := s.m.reserve(ctx); err != nil {
		return nil, err
	}
	db, err := s.openInTurn(ctx, opts)
	if err != nil {
		s.m.giveBack()
	}
	return db, err
}

// openInTurn opens a database, so many at once.
func (s *slot) openInTurn(ctx context.Context, opts fenec.Options) (*fenec.DB, error) {
	m := s.m
	select {
	case m.opening <- struct{}{}:
		defer func() { <-m.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	db, err := s.tryOpen(ctx, opts)
	for err != nil && exhausted(err) {
		// The process holds more than it was thought to: do with less.
		if !m.closeOldest() {
			return nil, fmt.Errorf("%w: raise the limits of the process (ulimit -n, vm.max_map_count) or lower MaxOpen: %w", ErrBusy, err)
		}
		db, err = s.tryOpen(ctx, opts)
	}
	return db, err
}

func (s *slot) tryOpen(ctx context.Context, opts fenec.Options) (*fenec.DB, error) {
	if err := filesLeft(); err != nil {
		return nil, err
	}
	db, err := fenec.Open(s.path(), opts)
	if err != nil {
		return nil, err
	}
	err = s.setFence(ctx, db, 0)
	if err == nil && s.m.opts.OnOpen != nil {
		err = s.m.opts.OnOpen(s.id, db)
	}
	if err != nil {
		return nil, errors.Join(err, db.CloseUnfolded())
	}
	return db, nil
}

// exhausted reports whether the process has come to a limit of the system.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// Lookup returns the ID of a tenant that is there, whatever its status.
func (m *Manager) Lookup(ctx context.Context, name string) (ID, error) {
	if err := CheckName(name); err != nil {
		return ID{}, err
	}
	if err := ctx.Err(); err != nil {
		return ID{}, err
	}
	s := slot{m: m, id: ID{name}}
	switch there, err := s.exists(); {
	case err != nil:
		return ID{}, fmt.Errorf("tenant %q: %w", name, err)
	case !there:
		return ID{}, fmt.Errorf("tenant %q: %w", name, ErrNotFound)
	}
	return s.id, nil
}
