package store

import (
	"context"
	"sync"
	"sync/atomic"
)

// lock is a mutex that can be waited for until a context ends. As with a
// sync.Mutex, whoever runs may get it before those who sleep: handing it to one of
// them each time would cost short holders more than their work.
type lock struct {
	sync.Mutex
	asleep atomic.Int32  // those who wait on free
	free   chan struct{} // holds one; told that the lock is, or was, free
}

func newLock() lock { return lock{free: make(chan struct{}, 1)} }

// LockBefore locks l, unless ctx ends before that.
func (l *lock) LockBefore(ctx context.Context) error {
	if l.TryLock() {
		return nil
	}
	// Counted before looking again: who unlocks after that look sees the count.
	l.asleep.Add(1)
	defer l.asleep.Add(-1)
	for !l.TryLock() {
		select {
		case <-l.free:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Unlock unlocks l and wakes one of those who sleep.
func (l *lock) Unlock() {
	l.Mutex.Unlock()
	if l.asleep.Load() == 0 {
		return
	}
	select {
	case l.free <- struct{}{}:
	default: // who takes that one will look anyway
	}
}
