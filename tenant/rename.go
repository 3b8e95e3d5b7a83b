package tenant

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/fenec-go/fenecdb/fenec"
)

// Rename gives a tenant another name, without copying anything. It ends its streams
// and waits for the last handle as Delete does. It fails with ErrNotFound, ErrExists if the new
// name is taken, ErrBusy, ErrFrozen, ErrFollows, or ErrProvisioning while Provision is at it.
func (m *Manager) Rename(ctx context.Context, from, to string) error {
	for _, name := range []string{from, to} {
		if err := CheckName(name); err != nil {
			return err
		}
	}
	if from == to {
		return fmt.Errorf("tenant %q: rename: %w", to, ErrExists)
	}
	// In this order, whoever renames the other way.
	first, err := m.enter(ctx, min(from, to))
	if err != nil {
		return err
	}
	defer first.leave()
	second, err := m.enter(ctx, max(from, to))
	if err != nil {
		return err
	}
	defer second.leave()
	if first.id.name == from {
		err = first.rename(ctx, second)
	} else {
		err = second.rename(ctx, first)
	}
	if err != nil {
		return fmt.Errorf("tenant %q: rename to %q: %w", from, to, err)
	}
	m.changed(from)
	m.changed(to)
	return nil
}

// rename moves the tenant of an owned slot to another owned one. All that belongs to
// the new name is there before the database is, and what belongs to the old one is
// removed after.
func (s *slot) rename(ctx context.Context, to *slot) error {
	m, name := s.m, to.id.name
	if there, err := s.exists(); err != nil {
		return err
	} else if !there {
		return ErrNotFound
	}
	if err := to.vacant(); err != nil {
		return err
	}
	switch {
	case s.frozen.Load():
		return ErrFrozen
	case m.settingUp(s.id.name) != nil:
		return ErrProvisioning
	}
	if err := s.vacate(ctx, m.opts.DeleteWait); err != nil {
		return err
	}
	if s.follows() {
		return ErrFollows
	}
	m.opts.step("rename: settle")
	if err := s.settle(ctx); err != nil {
		return err
	}
	m.opts.step("rename: beside")
	if err := errors.Join(to.clear(), s.linkBeside(name)); err != nil {
		return err
	}
	if err := m.keepStatus(ctx, name, m.statusOf(s.id.name)); err != nil {
		return err
	}
	m.opts.step("rename: database")
	ctx = context.WithoutCancel(ctx)
	if err := os.Rename(s.path(), to.path()); err != nil {
		return errors.Join(err, m.keepStatus(ctx, name, Active))
	}
	err := syncDir(m.dir)
	m.opts.step("renamed")
	m.degraded.forget(s.id.name)
	m.degraded.forget(name)
	return errors.Join(err, s.clear(), m.keepStatus(ctx, s.id.name, Active))
}

// follows reports whether the database of an owned slot that nobody uses is a copy of another
// node's. What does not open is renamed as it is.
func (s *slot) follows() bool {
	if s.live != nil {
		return s.live.db.History().Following
	}
	db, err := fenec.Open(s.path(), s.m.opts.DB)
	if err != nil {
		return false
	}
	follows := db.History().Following
	return db.CloseUnfolded() == nil && follows
}

// linkBeside gives what is kept beside a tenant a second name.
func (s *slot) linkBeside(name string) error {
	for _, ending := range sidecars {
		err := os.Link(s.m.beside(s.id.name, ending), s.m.beside(name, ending))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return syncDir(s.m.dir)
}
