package router

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// Adopt places a tenant that the directory does not know on the node of that name, which
// has its file. Without a name it is the only node that has one, but for replicas that
// follow it; of several it is a *CopiesError, and ErrNodesSilent while a node does not
// say. The node's limits of the tenant become those of the directory. It fails with
// ErrTenantExists, ErrUnknownNode, ErrNoCopy, with ErrStray for a file that is to be
// cleared away, with ErrInProgress, ErrDirectory, or with the *NodeError of the node.
//
// With force, which takes the name of a node, a tenant that the directory has elsewhere is
// placed there, too, and keeps its limits: one whose own node is gone for good, and of
// which no replica is recorded. It is ErrNotLost if its own node answers and has its file;
// of one that does not answer it is for the caller to know that it does not write. A copy
// that follows is promoted, though it may never have had all of the tenant's writes.
func (rt *Router) Adopt(ctx context.Context, tenant, node string, force bool) (Adopted, error) {
	if force {
		if _, err := rt.knownNode(node); err != nil {
			return Adopted{}, err
		}
		if _, placed := rt.directory.Tenant(tenant); placed {
			return rt.adoptElsewhere(ctx, tenant, node)
		}
	}
	release, err := rt.claimUnplaced(tenant)
	if err != nil {
		return Adopted{}, err
	}
	defer release()
	n, found, err := rt.findCopy(ctx, tenant, node)
	if err != nil {
		return Adopted{}, err
	}
	return rt.takeIn(ctx, tenant, n, found, force)
}

// postAdopt answers POST /_shard/tenants/<tenant>/adopt.
func (rt *Router) postAdopt(ctx context.Context, r *http.Request, name string) (answer, error) {
	node, force := "", false
	if err := readMembers(r, members{"node": textTo(&node), "force": boolTo(&force)}); err != nil {
		return answer{}, err
	}
	if force && node == "" {
		return answer{}, refusing(http.StatusBadRequest, "\"node\" is required with \"force\"")
	}
	return takenIn(name, func() (Adopted, error) { return rt.Adopt(ctx, name, node, force) })
}

// takenIn answers a request that places a tenant where its file is, which do does.
func takenIn(name string, do func() (Adopted, error)) (answer, error) {
	if !ValidName(name) {
		return answer{}, ErrName
	}
	adopted, err := do()
	if err == nil {
		return answer{http.StatusOK, adopted}, nil
	}
	err = fmt.Errorf("tenant %s: %w", name, err)
	var several *CopiesError
	if errors.As(err, &several) {
		return answer{http.StatusConflict, struct {
			Error  string `json:"error"`
			Copies []Copy `json:"copies"`
		}{err.Error(), several.Copies}}, nil
	}
	return answer{}, err
}

// findCopy returns the node that has the tenant's file: the one of that name, or, without
// a name, the only one.
func (rt *Router) findCopy(ctx context.Context, tenant, node string) (Node, standing, error) {
	if node == "" {
		return rt.onlyCopy(ctx, tenant)
	}
	n, err := rt.knownNode(node)
	if err != nil {
		return Node{}, standing{}, err
	}
	if rt.hasStray(tenant, node) {
		return Node{}, standing{}, fmt.Errorf("node %s: %w", node, ErrStray)
	}
	found, err := rt.admin.standing(ctx, n, tenant)
	if isGone(err) {
		err = fmt.Errorf("node %s: %w", node, ErrNoCopy)
	}
	return n, found, err
}

// onlyCopy returns the only node that has the tenant's file. Strays do not count, nor do
// replicas beside another copy. While a node does not answer there is no telling.
func (rt *Router) onlyCopy(ctx context.Context, tenant string) (Node, standing, error) {
	nodes := slices.DeleteFunc(rt.directory.Nodes(), func(n Node) bool { return rt.hasStray(tenant, n.Name) })
	have, unsure := among(ask(nodes, func(n Node) (standing, error) { return rt.standingSoon(ctx, n, tenant) }), isGone)
	lead := leading(have)
	switch {
	case unsure != nil:
		return Node{}, standing{}, unsure
	case len(have) == 0:
		return Node{}, standing{}, ErrNoCopy
	case len(lead) > 1:
		return Node{}, standing{}, several(have)
	}
	return lead[0].node, lead[0].value, nil
}

// standingSoon asks how a tenant stands on a node that shows first that it is there: one
// that does not keeps the others waiting.
func (rt *Router) standingSoon(ctx context.Context, n Node, tenant string) (standing, error) {
	if err := rt.healthSoon(ctx, n); err != nil {
		return standing{}, err
	}
	return rt.admin.standing(ctx, n, tenant)
}

// healthSoon asks a node whether it is there, when all are asked.
func (rt *Router) healthSoon(ctx context.Context, n Node) error {
	ctx, cancel := context.WithTimeout(ctx, min(chooseTimeout, rt.opts.UpstreamTimeout))
	defer cancel()
	return rt.admin.health(ctx, n)
}

// hasStray reports whether a copy of the tenant on the node is to be cleared away.
func (rt *Router) hasStray(tenant, node string) bool {
	return slices.ContainsFunc(*rt.directory.strays.Load(), Stray{Tenant: tenant, Node: node}.is)
}
