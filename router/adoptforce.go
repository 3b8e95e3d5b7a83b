package router

import (
	"context"
	"fmt"
)

// adoptElsewhere places a tenant on a node that has a copy of it, while the directory has
// it on another one, which does not answer or has no file of it.
func (rt *Router) adoptElsewhere(ctx context.Context, tenant, node string) (Adopted, error) {
	at, ok := rt.directory.Tenant(tenant)
	switch {
	case !ok:
		return Adopted{}, ErrUnknownTenant
	case at.Node == node:
		return Adopted{}, fmt.Errorf("%w on node %s", ErrAlreadyThere, node)
	}
	silent, err := rt.isLost(ctx, at)
	if err != nil {
		return Adopted{}, err
	}
	// Before it is claimed, as a failover of the node that goes on may wait for the claim.
	given, err := rt.leasing.handOver(ctx, at.Node, []string{tenant}, true)
	if err != nil {
		return Adopted{}, err
	}
	defer given()
	release, err := rt.directory.Claim(tenant)
	if err != nil {
		return Adopted{}, err
	}
	defer release()
	if now, ok := rt.directory.Tenant(tenant); !ok || now.Node != at.Node {
		return Adopted{}, fmt.Errorf("%w: it is no longer on node %s", ErrInProgress, at.Node)
	}
	n, found, err := rt.findCopy(ctx, tenant, node)
	if err != nil {
		return Adopted{}, err
	}
	if s, ok := rt.directory.nodes.get(at.Node); ok && silent {
		s.failovers.Add(1)
		defer s.relayed.end()
	}
	if err := rt.takeFrom(ctx, at, n, &found); err != nil {
		return Adopted{}, err
	}
	given() // so that the node is granted it
	rt.arrived(ctx, tenant, n)
	return Adopted{tenant, copyOn(n, found), rt.directory.Quota(tenant)}, nil
}

// isLost refuses to take a tenant from a node that answers and has its file. Else it tells
// whether the node is silent.
func (rt *Router) isLost(ctx context.Context, t Tenant) (silent bool, err error) {
	on, err := rt.knownNode(t.Node)
	if err != nil {
		return false, err
	}
	_, err = rt.standingSoon(ctx, on, t.Name)
	switch {
	case err == nil:
		return false, fmt.Errorf("node %s: %w", t.Node, ErrNotLost)
	case isGone(err), isSilent(err):
		return isSilent(err), nil
	}
	return false, err
}

// takeFrom has a node's copy take the place of a tenant whose own node is lost. What that
// node has of it is no copy to be counted on any more, should it be back. As in a failover
// nothing is recorded before: a copy that was promoted and not recorded is found to be.
func (rt *Router) takeFrom(ctx context.Context, t Tenant, n Node, found *standing) error {
	if p, ok := rt.directory.find([]byte(t.Name)); ok {
		rt.copier.newFollowing(t.Name, p).tellQuota(ctx, n, false)
	}
	if err := rt.lead(ctx, t.Name, n, found, true); err != nil {
		return err
	}
	return rt.directory.takeOver(t.Name, t.Node, n)
}
