package router

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// initLeasing makes the leasing of a router that fails over by itself; of another it
// stays nil.
func (rt *Router) initLeasing() {
	rt.admin.obeys(&rt.directory.halted)
	if rt.opts.AutoFailover == 0 {
		return
	}
	l := newLeasing(rt.directory, rt.opts.AutoFailover, rt.logf)
	calls := newAdmin(l.interval)
	calls.obeys(&rt.directory.halted)
	context.AfterFunc(l.ctx, calls.close)
	l.grant, l.failOver, l.restored = calls.grantLease, rt.failOverLost, rt.restored
	l.repair = func(ctx context.Context, node string) error { return left(rt.repairReturned(ctx, node).Failed) }
	rt.leasing = l
}

// failOverLost fails over tenants of a node that has lost its lease. With an error some of
// them are left, which says why.
func (rt *Router) failOverLost(ctx context.Context, node string, tenants []string) error {
	if tenants == nil {
		tenants = []string{} // not all, for others may be written there
	}
	done, err := rt.failOver(ctx, node, tenants, false)
	switch {
	case errors.Is(err, ErrNoStandby) && len(tenants) == 0:
		return nil
	case err != nil:
		return err
	}
	return left(done.Failed)
}

// left returns an error that says what could not be done, nil if that is nothing.
func left(failed []Unmoved) error {
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("%d are left, such as %q: %s", len(failed), failed[0].Tenant, failed[0].Why)
}

// obeys has nothing but reads sent once h says so.
func (a *admin) obeys(h *halt) {
	a.client.Transport = haltable{a.client.Transport.(*http.Transport), h}
}
