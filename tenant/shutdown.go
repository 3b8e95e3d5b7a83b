package tenant

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Close ends every stream, brings every log to disk, and closes every database,
// whoever still uses it: calls that run are waited for, and handles then see
// fenec.ErrClosed. Closing again does nothing.
func (m *Manager) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	m.mu.Unlock()
	deadline := time.Now().Add(m.opts.CloseWait)
	m.end(ErrClosed)
	m.runs.Wait()
	list := m.all()
	return errors.Join(
		m.forAll(list, (*slot).sync),
		m.forAll(list, func(s *slot) error { return s.shut(deadline) }),
		m.node.Close())
}

// forAll calls fn for every slot, so many at once as are opened at once, and returns
// the errors, naming tenants.
func (m *Manager) forAll(list []*slot, fn func(*slot) error) error {
	next := make(chan *slot)
	errs := make([][]error, m.opts.Opens)
	var workers sync.WaitGroup
	for i := range errs {
		workers.Go(func() {
			for s := range next {
				if err := fn(s); err != nil {
					errs[i] = append(errs[i], fmt.Errorf("tenant %q: %w", s.id.name, err))
				}
			}
		})
	}
	for _, s := range list {
		next <- s
	}
	close(next)
	workers.Wait()
	var all []error
	for _, list := range errs {
		all = append(all, list...)
	}
	return errors.Join(all...)
}

// sync brings the log of an open database to disk. A database that is being closed
// does so by itself.
func (s *slot) sync() error {
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if live == nil {
		return nil
	}
	if err := live.db.Sync(context.Background()); err != nil && s.isOpen() {
		return err
	}
	return nil
}

func (s *slot) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live != nil
}

// shut closes the database, folding it if it is not too late for that.
func (s *slot) shut(deadline time.Time) error {
	for {
		got, owner := s.take(nil, 0)
		switch got {
		case owned:
			defer s.leave()
			return s.close(!s.m.opts.DB.NoCheckpoint && time.Now().Before(deadline))
		case absent:
			return nil
		}
		<-owner
	}
}
