package router

import (
	"context"
	"errors"
	"time"
)

const (
	// lateFor is how long a request that nobody waits for any more may take to reach a
	// node: after about that much a system gives up sending what was sent before its
	// connection was closed.
	lateFor = 2 * time.Minute
	// retakeEvery is how often a tenant is asked for that another operation runs on.
	retakeEvery = time.Second
)

// lookAgain has a file cleared away whose making its node has not answered, if it comes
// to be: now, and once more when no request can make it any more. A look that comes before
// the request finds nothing to clear away, and nothing is recorded any more then.
func (rt *Router) lookAgain(coming Stray) {
	rt.reconciler.kick()
	rt.fleet.inBackground(func(ctx context.Context) {
		for wait := rt.opts.lateFor; ; wait = retakeEvery {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return
			}
			if err := rt.expectLate(coming); !errors.Is(err, ErrInProgress) {
				if err != nil {
					rt.logf("tenant %s: whether node %s has made a file of it after all is not looked for: %v", coming.Tenant, coming.Node, err)
				}
				return
			}
		}
	})
}

// expectLate records a file once more that may have come late, unless it is known by now.
func (rt *Router) expectLate(coming Stray) error {
	release, err := rt.directory.Claim(coming.Tenant)
	if err != nil {
		return err
	}
	defer release()
	if rt.accountsFor(coming.Tenant, coming.Node) {
		return nil
	}
	if _, ok := rt.directory.Node(coming.Node); !ok {
		return nil
	}
	if err := rt.directory.expect(coming); err != nil {
		return err
	}
	rt.reconciler.kick()
	return nil
}

// inBackground runs do until the fleet ends, unless it has.
func (f *fleet) inBackground(do func(ctx context.Context)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() == nil {
		f.running.Go(func() { do(f.ctx) })
	}
}
