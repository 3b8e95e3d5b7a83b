package router

import (
	"context"
	"fmt"
	"net/http"
)

// Thaw has a tenant's node take writes again, and returns the node's name: a freeze may
// have been left by somebody who is gone. It fails with ErrInProgress while the tenant
// moves, as its freeze is the move's.
func (rt *Router) Thaw(ctx context.Context, tenant string) (node string, err error) {
	release, err := rt.directory.Claim(tenant)
	if err != nil {
		return "", err
	}
	defer release()
	t, ok := rt.directory.Tenant(tenant)
	switch {
	case !ok:
		return "", ErrUnknownTenant
	case t.State == StateMoving:
		return "", ErrInProgress
	}
	n, _ := rt.directory.Node(t.Node) // which is in use, and so known
	return n.Name, rt.admin.thaw(ctx, n, tenant)
}

// postThaw answers POST /_shard/tenants/<tenant>/thaw.
func (rt *Router) postThaw(ctx context.Context, name string) (answer, error) {
	if !ValidName(name) {
		return answer{}, ErrName
	}
	node, err := rt.Thaw(ctx, name)
	if err != nil {
		return answer{}, fmt.Errorf("tenant %s: %w", name, err)
	}
	return answer{http.StatusOK, struct {
		Tenant string `json:"tenant"`
		Node   string `json:"node"`
		Frozen bool   `json:"frozen"`
	}{name, node, false}}, nil
}
