package store

import "sync"

// notifier lets goroutines wait for the next of a repeated event.
type notifier struct {
	mu sync.Mutex // guards ch
	ch chan struct{}
}

// wait returns a channel that is closed by the next tell.
func (n *notifier) wait() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch == nil {
		n.ch = make(chan struct{})
	}
	return n.ch
}

// tell wakes everyone who waits.
func (n *notifier) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ch != nil {
		close(n.ch)
		n.ch = nil
	}
}
