package tenant

import (
	"context"
	"errors"
	"fmt"
)

// setup is one tenant being set up. It tells that tenant from others that are given its
// name later.
type setup struct{ name string }

// Provision makes a tenant and sets it up: until fill has returned, everybody else gets
// ErrProvisioning, and nobody can rename it. When fill fails, or panics, the tenant is
// removed. It is ErrNotFound if somebody else has deleted the tenant meanwhile: whoever has
// the name then is left alone. What ends the set-up does not end with ctx. After a crash in
// between the tenant is left as it is, with the status Provisioning.
func (m *Manager) Provision(ctx context.Context, name string, fill func(context.Context, *Handle) error) error {
	made := &setup{name}
	h := newHandle()
	if err := m.create(ctx, name, func(s *slot, ctx context.Context) error { return s.provision(ctx, made, h.handle) }); err != nil {
		return err
	}
	later := context.WithoutCancel(ctx)
	ended := false
	defer func() {
		if !ended { // fill has panicked, or ended its goroutine
			_ = m.giveUp(later, made)
		}
	}()
	err := fillWith(NewContext(ctx, h), h, fill)
	if err == nil {
		err = m.finish(later, made)
	}
	ended = true
	if err == nil {
		return nil
	}
	return fmt.Errorf("tenant %q: provision: %w", name, errors.Join(err, m.giveUp(later, made)))
}

// provision makes the tenant of an owned slot, one that is being set up, and gives h a
// reference to it: with that, nobody comes between.
func (s *slot) provision(ctx context.Context, made *setup, h *handle) error {
	if err := s.create(ctx, Provisioning); err != nil {
		return err
	}
	s.m.setUp(s.id.name, made)
	s.lend(h, s.m.lastTurn())
	return nil
}

func fillWith(ctx context.Context, h *Handle, fill func(context.Context, *Handle) error) error {
	defer h.Release()
	return fill(ctx, h)
}

// finish has a tenant served that is set up. The status is left alone if somebody has set
// another meanwhile.
func (m *Manager) finish(ctx context.Context, made *setup) error {
	s, err := m.enter(ctx, made.name)
	if err != nil {
		return err
	}
	defer s.leave()
	if !s.is(made) {
		return ErrNotFound
	}
	if m.statusOf(made.name) == Provisioning {
		if err := m.keepStatus(ctx, made.name, Active); err != nil {
			return err
		}
	}
	m.setUp(made.name, nil)
	m.changed(made.name)
	return nil
}

// giveUp removes a tenant that could not be set up, if it is still there.
func (m *Manager) giveUp(ctx context.Context, made *setup) error {
	s, err := m.enter(ctx, made.name)
	if err != nil {
		return err
	}
	defer s.leave()
	if !s.is(made) {
		return nil
	}
	err = s.remove(ctx, (*slot).erase)
	m.setUp(made.name, nil)
	m.changed(made.name)
	if err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	return nil
}

// is reports whether the tenant of an owned slot is the one that is being set up.
func (s *slot) is(made *setup) bool {
	there, err := s.exists()
	return err == nil && there && s.m.settingUp(s.id.name) == made
}

// settingUp returns what is being set up under a name, or nil.
func (m *Manager) settingUp(name string) *setup {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.setups[name]
}

// setUp notes what is being set up under a name whose slot is owned, nil for nothing.
func (m *Manager) setUp(name string, made *setup) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if made == nil {
		delete(m.setups, name)
	} else {
		m.setups[name] = made
	}
}
