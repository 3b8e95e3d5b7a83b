package router

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
)

// Undelete takes a tenant that was deleted out of the trash of a node, and places it
// there again, with the limits that it had. Without a name the node is the one that it
// was on; where the directory does not know that, all are asked, and it is a *CopiesError
// if several have it in their trash, which it stays in then. It fails with
// ErrTenantExists, ErrUnknownNode, ErrNoTrash, ErrNodesSilent, ErrInProgress,
// ErrDirectory, or with the *NodeError of the node.
func (rt *Router) Undelete(ctx context.Context, tenant, node string) (Adopted, error) {
	release, err := rt.claimUnplaced(tenant)
	if err != nil {
		return Adopted{}, err
	}
	defer release()
	n, err := rt.restore(ctx, tenant, node)
	if err != nil {
		return Adopted{}, err
	}
	found, err := rt.admin.standing(ctx, n, tenant)
	var adopted Adopted
	if err == nil {
		adopted, err = rt.takeIn(ctx, tenant, n, found, false)
	}
	if err != nil {
		rt.discard(ctx, n, tenant)
	}
	return adopted, err
}

// postUndelete answers POST /_shard/tenants/<tenant>/undelete.
func (rt *Router) postUndelete(ctx context.Context, r *http.Request, name string) (answer, error) {
	node := ""
	if err := readMembers(r, members{"node": textTo(&node)}); err != nil {
		return answer{}, err
	}
	return takenIn(name, func() (Adopted, error) { return rt.Undelete(ctx, name, node) })
}

// restore has a node take a tenant out of its trash: the one of that name, or, without a
// name, the one that it was on. What is to be cleared away of the tenant goes before, as
// it would have to make room.
//
// The file is not recorded before it is placed: a record would have the next router clear
// it away. A router that ends in between leaves a file that can be adopted.
func (rt *Router) restore(ctx context.Context, tenant, node string) (Node, error) {
	rt.clearStrays(ctx, tenant)
	if node == "" {
		last, err := rt.directory.leftOn(tenant)
		if err != nil {
			return Node{}, err
		}
		if n, ok := rt.directory.Node(last); ok {
			return n, rt.restoreOn(ctx, n, tenant)
		}
		return rt.restoreAnywhere(ctx, tenant)
	}
	n, err := rt.knownNode(node)
	if err != nil {
		return Node{}, err
	}
	return n, rt.restoreOn(ctx, n, tenant)
}

func (rt *Router) restoreOn(ctx context.Context, n Node, tenant string) error {
	if rt.hasStray(tenant, n.Name) {
		return fmt.Errorf("node %s: %w", n.Name, ErrStray)
	}
	err := rt.admin.undelete(ctx, n, tenant)
	if isGone(err) {
		return fmt.Errorf("node %s: %w", n.Name, ErrNoTrash)
	}
	return err
}

// restoreAnywhere has the only node that has the tenant in its trash take it out. Only by
// taking it out a node shows that it has it, so where there are several it is put back.
func (rt *Router) restoreAnywhere(ctx context.Context, tenant string) (Node, error) {
	said := ask(rt.directory.Nodes(), func(n Node) (standing, error) {
		if err := rt.healthSoon(ctx, n); err != nil {
			return standing{}, err
		}
		if err := rt.restoreOn(ctx, n, tenant); err != nil {
			return standing{}, err
		}
		s, err := rt.admin.standing(ctx, n, tenant)
		if err != nil {
			rt.discard(ctx, n, tenant)
		}
		return s, err
	})
	have, err := among(said, func(err error) bool { return errors.Is(err, ErrNoTrash) })
	switch {
	case err == nil && len(have) == 0:
		return Node{}, ErrNoTrash
	case err == nil && len(have) == 1:
		return have[0].node, nil
	case err == nil:
		err = several(have)
	}
	for _, r := range have {
		rt.discard(ctx, r.node, tenant)
	}
	return Node{}, err
}

// discard puts back into the trash what was taken out of it. What cannot be is left
// where nothing is placed.
func (rt *Router) discard(ctx context.Context, n Node, tenant string) {
	if err := gone(rt.admin.remove(context.WithoutCancel(ctx), n, tenant)); err != nil {
		rt.logf("tenant %s: it is on node %s, where it can be adopted: putting it back into the trash: %v", tenant, n.Name, err)
	}
}

// phaseDeleted is the phase of a tenant that has no place any more. The detail is the node
// that it was on.
const phaseDeleted = "deleted"

// leave keeps which node a tenant is on, that is about to have no place.
func (r rows) leave(tenant string) error {
	res, err := r.tx.Query(context.Background(), "get node from tenants where name = $1", tenant)
	if err != nil {
		return err
	}
	at, err := fenec.Collect[struct{ Node string }](res)
	if err != nil || len(at) == 0 {
		return err
	}
	_, err = r.exec("set marks {phase: $2, detail: $3} where tenant = $1", tenant, phaseDeleted, at[0].Node)
	return err
}

// leftOn returns the node that a tenant was on, which has no place; "" if that is not
// known.
func (d *Directory) leftOn(tenant string) (node string, err error) {
	read := func(r rows) error {
		res, err := r.tx.Query(context.Background(), "get detail from marks where tenant = $1 and phase = $2", tenant, phaseDeleted)
		if err != nil {
			return err
		}
		marks, err := fenec.Collect[struct{ Detail string }](res)
		if len(marks) > 0 {
			node = marks[0].Detail
		}
		return err
	}
	return node, d.write(func() error { return nil }, read, func() {})
}
