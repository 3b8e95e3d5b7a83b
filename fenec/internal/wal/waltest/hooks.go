package waltest

import (
	"sync"
	"syscall"
)

// Chain asks hooks one after another until one of them has a fault.
func Chain(hooks ...Hook) Hook {
	return func(op Op) *Fault {
		for _, hook := range hooks {
			if fault := hook(op); fault != nil {
				return fault
			}
		}
		return nil
	}
}

// Fail makes the nth operation of a kind fail with err.
func Fail(kind Kind, nth int, err error) Hook {
	return func(op Op) *Fault {
		if op.Kind == kind && op.Nth == nth {
			return &Fault{Err: err}
		}
		return nil
	}
}

// ShortWrite makes the nth write stop after keep bytes with err.
func ShortWrite(nth int, keep int64, err error) Hook {
	return func(op Op) *Fault {
		if op.Kind == Write && op.Nth == nth {
			return &Fault{Err: err, Keep: keep}
		}
		return nil
	}
}

// DiskFull lets n bytes be written and then fails writes with ENOSPC; the write
// that meets the end stops short. Space is not allocated ahead when less than
// that is left.
func DiskFull(n int64) Hook {
	var mu sync.Mutex // guards n
	return func(op Op) *Fault {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case op.Kind == Allocate && op.Len > n:
			return &Fault{Err: syscall.ENOSPC}
		case op.Kind == Write && op.Len > n:
			keep := n
			n = 0
			return &Fault{Err: syscall.ENOSPC, Keep: keep}
		case op.Kind == Write:
			n -= op.Len
		}
		return nil
	}
}

// Gate holds up operations of one kind.
type Gate struct {
	kind    Kind
	entered chan Op
	leave   chan *Fault
	opened  chan struct{}
	once    sync.Once
}

// NewGate returns a closed gate for operations of a kind. Its Hook method is the
// hook to use.
func NewGate(kind Kind) *Gate {
	return &Gate{kind: kind, entered: make(chan Op), leave: make(chan *Fault), opened: make(chan struct{})}
}

// Hook waits at the gate.
func (g *Gate) Hook(op Op) *Fault {
	if op.Kind != g.kind {
		return nil
	}
	select {
	case g.entered <- op:
	case <-g.opened:
		return nil
	}
	select {
	case fault := <-g.leave:
		return fault
	case <-g.opened:
		return nil
	}
}

// Wait returns the next operation that reaches the gate. It stays there until
// Pass or Open.
func (g *Gate) Wait() Op { return <-g.entered }

// Entered is Wait as a channel.
func (g *Gate) Entered() <-chan Op { return g.entered }

// Pass lets the operation that Wait returned go on, or fail if fault is not nil.
func (g *Gate) Pass(fault *Fault) { g.leave <- fault }

// Open lets everything through from now on.
func (g *Gate) Open() { g.once.Do(func() { close(g.opened) }) }
