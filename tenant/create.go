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
	return m.create(ctx, name, Active)
}

// Provision makes a tenant and sets it up: until fill has returned, everybody else gets
// ErrProvisioning. When fill fails, or panics, the tenant is removed. After a crash
// in between it is left as it is, with the status Provisioning.
func (m *Manager) Provision(ctx context.Context, name string, fill func(context.Context, *Handle) error) error {
	if err := m.create(ctx, name, Provisioning); err != nil {
		return err
	}
	filled := false
	defer func() {
		if !filled {
			_ = m.DeleteNow(context.WithoutCancel(ctx), name) // fill has said what is wrong
		}
	}()
	if err := m.fill(ctx, name, fill); err != nil {
		return err
	}
	filled = true
	return m.SetStatus(ctx, name, Active)
}

func (m *Manager) fill(ctx context.Context, name string, fill func(context.Context, *Handle) error) error {
	h, err := m.use(ctx, name)
	if err != nil {
		return err
	}
	defer h.Release()
	if err := fill(NewContext(ctx, h), h); err != nil {
		return fmt.Errorf("tenant %q: provision: %w", name, err)
	}
	return nil
}

func (m *Manager) create(ctx context.Context, name string, status Status) error {
	if err := CheckName(name); err != nil {
		return err
	}
	s, err := m.enter(ctx, name)
	if err != nil {
		return err
	}
	defer s.leave()
	if err := s.create(ctx, status); err != nil {
		return fmt.Errorf("tenant %q: create: %w", name, err)
	}
	m.changed(name)
	return nil
}

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

// vacant is ErrExists if anything has the name of an owned slot.
func (s *slot) vacant() error {
	if _, err := os.Lstat(s.path()); err == nil {
		return ErrExists
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
