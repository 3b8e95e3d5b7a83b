package node

import (
	"context"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec/serve"
)

// Create makes an empty tenant and leaves it open. On a node with Options.ReplicaOf it
// follows there, unless primary is set: one that is to be written to begins a history of
// its own, and so stays a primary whatever its node is started with. It fails with
// tenant.ErrExists if the name is taken.
func (n *Node) Create(ctx context.Context, name string, primary bool) error {
	if n.replicator == nil {
		return n.tenants.Create(ctx, name)
	}
	return n.replicator.create(ctx, name, primary)
}

// create makes a tenant in its lane: of two of one name, the one that is made gets the
// role that was asked for it.
func (r *replicator) create(ctx context.Context, name string, primary bool) error {
	unlock, err := r.lanes.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	if primary {
		r.leading.Store(name, nil)
		defer r.leading.Delete(name)
	}
	return r.node.tenants.Create(ctx, name)
}

// leads reports whether a tenant is being made as a primary.
func (r *replicator) leads(name string) bool {
	_, leads := r.leading.Load(name)
	return leads
}

// create answers PUT /_admin/tenants/<t>.
func (n *Node) create(r *http.Request, name string) serve.Answer {
	role := r.URL.Query()["role"]
	if len(role) > 1 || len(role) == 1 && role[0] != "primary" {
		return serve.Fail(http.StatusBadRequest, "role is primary, or left out")
	}
	err := n.Create(r.Context(), name, len(role) == 1)
	return answer(http.StatusCreated, map[string]string{"created": name}, err)
}
