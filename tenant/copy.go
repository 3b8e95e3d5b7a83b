package tenant

import (
	"context"
	"errors"
	"fmt"

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

// Replace puts what has arrived in the place of the database, or gives it up.
func (c *replicated) Replace(ctx context.Context, a *fenec.Arrival) error {
	s, err := c.m.enter(ctx, c.name)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	defer s.leave()
	if err := errors.Join(s.replace(ctx, a), a.Close()); err != nil {
		return fmt.Errorf("tenant %q: replace: %w", c.name, err)
	}
	s.m.restored(c.name)
	return nil
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
func (s *slot) replace(ctx context.Context, a *fenec.Arrival) error {
	switch there, err := s.exists(); {
	case err != nil:
		return err
	case !there:
		return ErrNotFound
	case s.frozen.Load():
		return ErrFrozen // it would end with the close
	}
	if err := s.vacate(ctx, s.m.opts.DeleteWait); err != nil && !errors.Is(err, ErrBusy) {
		return err
	}
	s.m.opts.step("replace: close")
	_ = s.close(false) // what it could not write is not needed any more
	s.m.opts.step("replace: rename")
	if err := a.Replace(); err != nil {
		return err
	}
	s.m.opts.step("replaced")
	return nil
}
