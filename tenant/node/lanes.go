package node

import (
	"context"
	"sync"
)

// lanes are locks by name. The zero lanes are ready.
type lanes struct {
	mu   sync.Mutex // guards the field below
	held map[string]chan struct{}
}

// lock waits until the caller has the name for itself, or ctx ends.
func (l *lanes) lock(ctx context.Context, name string) (unlock func(), err error) {
	for {
		unlock, freed := l.take(name)
		if unlock != nil {
			return unlock, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take takes the lock if it is free, and else returns what tells that it was given back.
func (l *lanes) take(name string) (unlock func(), freed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if freed, taken := l.held[name]; taken {
		return nil, freed
	}
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	done := make(chan struct{})
	l.held[name] = done
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, name)
		close(done)
	}, nil
}
