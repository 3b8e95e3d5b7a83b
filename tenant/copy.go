package tenant

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

func init() {
	raw.CopyOf = func(manager any, name string) raw.Copy { return &replicated{manager.(*Manager), name} }
}

// replicated is a tenant as replication has it: whatever its status, and without a place
// among those of requests. It may be gone, or another tenant of the name.
type replicated struct {
	m    *Manager
	name string
}

// Path returns where the database is.
func (c *replicated) Path() string { return c.m.path(c.name) }

// Use gives the open database until release is called.
func (c *replicated) Use(ctx context.Context) (*fenec.DB, func(), error) {
	db, _, release, err := c.Hold(ctx)
	return db, release, err
}

// Hold gives the open database until release is called, which is to be soon after ended is
// closed.
func (c *replicated) Hold(ctx context.Context) (db *fenec.DB, ended <-chan struct{}, release func(), err error) {
	h, err := c.m.use(ctx, c.name)
	if err != nil {
		return nil, nil, nil, err
	}
	return h.live.db, h.Done(), h.Release, nil
}

// Replace puts what has arrived in the place of the database, or gives it up. What is to
// be kept goes into the trash, if there is one, and its path is returned.
func (c *replicated) Replace(ctx context.Context, a *fenec.Arrival, keep bool) (kept string, err error) {
	s, err := c.m.enter(ctx, c.name)
	if err != nil {
		return "", errors.Join(err, a.Close())
	}
	defer s.leave()
	kept, err = s.replace(ctx, a, keep && c.m.opts.TrashKeep >= 0)
	if err := errors.Join(err, a.Close()); err != nil {
		return kept, fmt.Errorf("tenant %q: replace: %w", c.name, err)
	}
	s.m.restored(c.name)
	return kept, nil
}

// Failed tells that the database has given an error.
func (c *replicated) Failed(err error) {
	c.m.mu.Lock()
	s := c.m.slots[c.name]
	c.m.mu.Unlock()
	if s != nil {
		s.failed(nil, err)
	}
}

// replace puts what has arrived in the place of the database of an owned slot. Who wants
// the database meanwhile waits; who has it is asked to let go, and reads on until then. Who
// does not in DeleteWait finds it closed. The next use opens what has come.
func (s *slot) replace(ctx context.Context, a *fenec.Arrival, keep bool) (kept string, err error) {
	switch there, err := s.exists(); {
	case err != nil:
		return "", err
	case !there:
		return "", ErrNotFound
	case s.frozen.Load():
		return "", ErrFrozen // it would end with the close
	}
	if err := s.vacate(ctx, s.m.opts.DeleteWait); err != nil && !errors.Is(err, ErrBusy) {
		return "", err
	}
	s.m.opts.step("replace: close")
	// What it could not write is not needed any more; and what is kept keeps its logs.
	_ = s.close(keep)
	if keep {
		if kept, err = s.setAside(); err != nil {
			return "", err
		}
	}
	s.m.opts.step("replace: rename")
	if err := a.Replace(); err != nil {
		if keep { // it has the name still
			err = errors.Join(err, os.RemoveAll(filepath.Dir(kept)))
		}
		return "", err
	}
	s.m.opts.step("replaced")
	return kept, nil
}

// setAside puts the closed database of an owned slot into the trash, with a second name
// while it has its own, and returns its path there.
func (s *slot) setAside() (path string, err error) {
	m, name := s.m, s.id.name
	dir, err := m.newTrash(name)
	if err != nil {
		return "", err
	}
	m.opts.step("replace: set aside")
	if err := fenec.SetAside(s.path(), filepath.Join(dir+partial, name+suffix)); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir+partial))
	}
	m.opts.step("replace: keep")
	return filepath.Join(dir, name+suffix), errors.Join(os.Rename(dir+partial, dir), syncDir(filepath.Dir(dir)))
}
