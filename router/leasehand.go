package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/replication"
)

// handover is somebody who takes tenants from a node that may be well.
type handover struct {
	begun bool
	free  bool // the node has stopped writing the tenants
}

// handOver makes a node give tenants up that are about to be placed elsewhere: those of
// a failover by hand, or the one of a move. When it returns, the node has stopped
// writing them, and is not granted them before done is called, which the caller does
// when the directory says where they are, or that they stay.
//
// A node that does not answer within the time between two rounds may go on writing
// until its lease has run out: ErrLeaseRunning. With force it is not waited for, and it
// is for whoever set it to know that the node does not write. One handover or failover
// of a node goes on at a time; another waits as long at most, and fails with
// replication.ErrInProgress.
func (l *leasing) handOver(ctx context.Context, node string, tenants []string, force bool) (done func(), err error) {
	if l == nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.interval, errNoTurn)
	defer cancel()
	h := &handover{}
	err = l.await(ctx, func() (bool, error) {
		switch {
		case l.leases == nil:
			return false, ErrFollows // leasing begins when that ends
		case l.leases.Superseded():
			return false, ErrSuperseded
		}
		err := l.beginLocked(h, node, tenants, force)
		return h.free, err
	})
	done = sync.OnceFunc(func() {
		if h.begun {
			l.failedOver(node)
		}
	})
	if err == nil {
		return done, nil
	}
	done()
	if h.begun && errors.Is(err, errNoTurn) {
		err = ErrLeaseRunning
	}
	return nil, fmt.Errorf("node %s: %w", node, err)
}

// errNoTurn is why a handover is given up that had no turn, or whose node did not answer.
var errNoTurn = fmt.Errorf("%w", replication.ErrInProgress)

// beginLocked begins the handover, if it is its turn and it has not begun.
func (l *leasing) beginLocked(h *handover, node string, tenants []string, force bool) (err error) {
	t := l.tenures[node]
	switch {
	case t == nil:
		return ErrUnknownNode
	case h.begun:
		return nil
	}
	l.doLocked(func(now time.Duration) (actions []replication.Action) {
		actions, err = l.leases.HandOver(now, node, tenants, force)
		if err == nil {
			h.begun, t.handover = true, h
			t.withheld = slices.Sorted(slices.Values(tenants))
		}
		return actions
	})
	if errors.Is(err, replication.ErrInProgress) {
		return nil
	}
	return err
}

// failedOver ends a failover or a handover.
func (l *leasing) failedOver(node string) {
	l.do(func(now time.Duration) []replication.Action {
		if t := l.tenures[node]; t != nil {
			t.release()
		}
		l.tellLocked()
		return l.leases.FailedOver(now, node)
	})
}
