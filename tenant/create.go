package tenant

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fenec-go/fenecdb/fenec"
)

// Create makes an empty tenant and leaves it open. It fails with ErrExists if the name
// is taken.
func (m *Manager) Create(ctx context.Context, name string) error {
	return m.create(ctx, name, (*slot).createActive)
}

// create has a tenant made of the slot of its name, which is owned.
func (m *Manager) create(ctx context.Context, name string, do func(*slot, context.Context) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	s, err := m.enter(ctx, name)
	if err != nil {
		return err
	}
	defer s.leave()
	if err := do(s, ctx); err != nil {
		return fmt.Errorf("tenant %q: create: %w", name, err)
	}
	m.changed(name)
	return nil
}

func (s *slot) createActive(ctx context.Context) error { return s.create(ctx, Active) }

// create makes the tenant of an owned slot. Its status is there before it is.
func (s *slot) create(ctx context.Context, status Status) error {
	m := s.m
	if err := s.vacant(); err != nil {
		return err
	}
	m.opts.step("create: clear")
	if err := s.clear(); err != nil {
		return err
	}
	if err := m.keepStatus(ctx, s.id.name, status); err != nil {
		return err
	}
	m.degraded.forget(s.id.name)
	m.opts.step("create: make")
	opts := m.opts.DB
	opts.MustExist = false
	db, err := s.openDB(ctx, opts)
	if err != nil {
		if rerr := fenec.Remove(s.path()); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return errors.Join(err, m.keepStatus(context.WithoutCancel(ctx), s.id.name, Active))
	}
	m.opts.step("created")
	s.opened(db)
	m.keepMemory()
	return nil
}

// vacant is ErrExists if anything has the name of an owned slot. Whoever is given the name
// next is another than those who had it.
func (s *slot) vacant() error {
	if _, err := os.Lstat(s.path()); err == nil {
		return ErrExists
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.m.setUp(s.id.name, nil)
	return nil
}
