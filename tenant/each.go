package tenant

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Do calls fn with a handle to the tenant, which is looked up now, and with a context
// that carries it. It is for work that comes later than the request that wanted it.
func (m *Manager) Do(ctx context.Context, id ID, fn func(context.Context, *Handle) error) error {
	h, err := m.Acquire(ctx, id.name)
	if err != nil {
		return err
	}
	defer h.Release()
	return fn(NewContext(ctx, h), h)
}

// Each does fn for every tenant that filter picks, or all if that is nil, Options.Opens
// at once, but no more than may be open or in flight. Those that are not active, or that are gone before their turn, are passed
// over, and databases that it opened are closed again. One tenant's error, panic or
// runtime.Goexit does not keep it from the others: all are returned, each naming its tenant.
func (m *Manager) Each(ctx context.Context, filter func(ID) bool, fn func(context.Context, *Handle) error) error {
	names, err := m.List()
	if err != nil {
		return err
	}
	next := make(chan ID)
	errs := make([][]error, m.visitors())
	var workers sync.WaitGroup
	for i := range errs {
		workers.Go(func() {
			for id := range next {
				if err := m.visit(ctx, id, fn); err != nil {
					errs[i] = append(errs[i], err)
				}
			}
		})
	}
	var all []error
	for _, name := range names {
		id := ID{name}
		if filter != nil && !filter(id) {
			continue
		}
		if err := ctx.Err(); err != nil {
			all = append(all, err)
			break
		}
		next <- id
	}
	close(next)
	workers.Wait()
	for _, list := range errs {
		all = append(all, list...)
	}
	return errors.Join(all...)
}

// visitors returns how many tenants Each visits at once.
func (m *Manager) visitors() int {
	n := min(m.opts.Opens, m.opts.MaxOpen)
	if most := m.opts.MaxInFlight; most > 0 {
		n = min(n, most)
	}
	return n
}

// visit does fn for one tenant.
func (m *Manager) visit(ctx context.Context, id ID, fn func(context.Context, *Handle) error) error {
	h, err := m.Acquire(ctx, id.name)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrProvisioning), errors.Is(err, ErrDegraded):
		return nil
	case err != nil:
		return err
	}
	err = caught(NewContext(ctx, h), h, fn)
	h.Release()
	if h.opened {
		if idle, ok := h.slot.idle(); ok {
			idle.closeFolded()
		}
	}
	if err != nil {
		return fmt.Errorf("tenant %q: %w", id.name, err)
	}
	return nil
}

// caught is fn, whose panic is an error, and so is the end of its goroutine, which is its
// own for that.
func caught(ctx context.Context, h *Handle, fn func(context.Context, *Handle) error) error {
	err := errors.New("the function has ended its goroutine")
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v", v)
			}
		}()
		err = fn(ctx, h)
	}()
	<-done
	return err
}
