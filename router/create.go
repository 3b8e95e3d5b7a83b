package router

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// creation is what a request to create a tenant asks for.
type creation struct {
	tenant string
	node   string       // "" for the one that is chosen
	schema []byte       // a description as JSON, nil for none
	limits quota.Limits // of its quota
}

func (rt *Router) createTenant(ctx context.Context, r *http.Request, name string) (answer, error) {
	if !ValidName(name) {
		return answer{}, ErrName
	}
	c := creation{tenant: name}
	if err := readMembers(r, members{"node": textTo(&c.node), "schema": schemaTo(&c.schema), "quota": limitsTo(&c.limits)}); err != nil {
		return answer{}, err
	}
	made, err := rt.create(ctx, c)
	var refused *schemaRefusal
	switch {
	case errors.As(err, &refused):
		return answer{refused.status, refused.body}, nil
	case err != nil:
		return answer{}, fmt.Errorf("tenant %s: %w", name, err)
	}
	return answer{http.StatusCreated, struct {
		Tenant       string          `json:"tenant"`
		Node         string          `json:"node"`
		Schema       json.RawMessage `json:"schema,omitempty"`
		Replica      string          `json:"replica,omitempty"` // why the standby has no copy
		ReplicaOn    string          `json:"replica_on,omitempty"`
		Unreplicated string          `json:"unreplicated,omitempty"`
	}{name, made.Node, made.Schema, textOf(made.Standby), made.ReplicaOn, textOf(made.Unreplicated)}}, nil
}

// schemaTo takes a description of a schema: an object, or a text that holds one.
func schemaTo(into *[]byte) func([]byte) error {
	return func(value []byte) error {
		if value[0] == '"' {
			var text string
			if err := textTo(&text)(value); err != nil {
				return err
			}
			value = bytes.TrimSpace([]byte(text))
		}
		if len(value) == 0 || value[0] != '{' || !json.Valid(value) {
			return errors.New("must be a description of a schema, an object")
		}
		*into = value
		return nil
	}
}

// limitsTo takes a quota.
func limitsTo(into *quota.Limits) func([]byte) error {
	return func(value []byte) (err error) {
		if *into, err = quota.Parse(value); err != nil {
			return fmt.Errorf("cannot be read: %w", err)
		}
		return nil
	}
}

// create makes a tenant on the given node, or on the one that is chosen if none is
// given. That copies of it could not be made does not fail it.
//
// That the file is to come is recorded first, as a stray until the tenant is placed: a
// router that ends in between, or a node that does not answer, leaves nothing for ever.
func (rt *Router) create(ctx context.Context, c creation) (made Created, err error) {
	release, err := rt.directory.Claim(c.tenant)
	if err != nil {
		return made, err
	}
	defer release()
	if _, ok := rt.directory.Tenant(c.tenant); ok {
		return made, ErrTenantExists
	}
	n, leave, err := rt.nodeFor(ctx, c.tenant, c.node)
	if err != nil {
		return made, err
	}
	defer leave()
	if err := rt.makeRoom(ctx, n, c.tenant); err != nil {
		return made, err
	}
	if err := rt.makeFile(ctx, n, c.tenant); err != nil {
		return made, err
	}
	outcome, err := rt.setUp(ctx, n, c)
	if err != nil {
		rt.undo(ctx, n, c.tenant)
		return made, err
	}
	if rt.directory.Attrs(n.Name).Draining {
		rt.fleet.startDrain(n.Name) // which had begun meanwhile, and may be over
	}
	done := rt.copier.completeNow(context.WithoutCancel(ctx), c.tenant, copying{})
	return Created{n.Name, outcome, done.on, done.missing, done.standby}, nil
}

// textOf returns what an error says, "" for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// makeRoom clears away what an earlier tenant of that name has left on the node. That
// it is a stray stays recorded until the new one is placed.
func (rt *Router) makeRoom(ctx context.Context, n Node, tenant string) error {
	if !rt.directory.isStray(Stray{Tenant: tenant, Node: n.Name}) {
		return nil
	}
	return gone(rt.admin.purge(ctx, n, tenant))
}

// makeFile has the node make the tenant's file. That the file is to be cleared away is
// recorded before, but only where there was none: a file that was there is somebody's,
// and the node refuses to make another.
func (rt *Router) makeFile(ctx context.Context, n Node, tenant string) error {
	_, err := rt.admin.standing(ctx, n, tenant)
	switch {
	case err == nil:
		return rt.admin.createPrimary(ctx, n, tenant)
	case !isGone(err):
		return err
	}
	coming := Stray{Tenant: tenant, Node: n.Name}
	if err := rt.directory.expect(coming); err != nil {
		return err
	}
	err = rt.admin.createPrimary(ctx, n, tenant)
	switch {
	case err == nil:
		return nil
	case isRefusal(err):
		return errors.Join(err, rt.directory.dropStray(coming))
	}
	rt.lookAgain(coming)
	return err
}

// isRefusal reports whether a node has answered that it does not do what it was asked.
func isRefusal(err error) bool {
	var node *NodeError
	return errors.As(err, &node) && node.Status >= 400 && node.Status < 500
}

// gone takes a node's answer that it has no such tenant for a deletion that went well.
func gone(err error) error {
	if isGone(err) {
		return nil
	}
	return err
}

// setUp places a tenant whose file has been made. Until its schema and its quota stand
// it is being provisioned, and its requests are refused: a tenant has both, or is not
// there.
func (rt *Router) setUp(ctx context.Context, n Node, c creation) (outcome json.RawMessage, err error) {
	plain := c.schema == nil && c.limits == (quota.Limits{})
	status := tenant.Provisioning
	if plain {
		status = tenant.Active
	}
	if err := rt.directory.placeAs(c.tenant, n, status, c.limits); err != nil {
		return nil, err
	}
	rt.leasing.granted(ctx, c.tenant, n.Name)
	if plain {
		return nil, nil
	}
	if c.limits != (quota.Limits{}) {
		if err := rt.admin.setQuota(ctx, n, c.tenant, c.limits); err != nil {
			return nil, err
		}
	}
	if c.schema != nil {
		if outcome, err = rt.admin.applySchema(ctx, n, c.tenant, c.schema); err != nil {
			return nil, err
		}
	}
	return outcome, rt.directory.SetStatus(c.tenant, tenant.Active)
}

// undo makes a tenant whose creation went wrong not there: neither in the directory nor
// on its node. What cannot be deleted there now is recorded as a stray first, so that
// nothing brings it back.
func (rt *Router) undo(ctx context.Context, n Node, name string) {
	err := gone(rt.admin.purge(ctx, n, name))
	if err == nil {
		if _, placed := rt.directory.Tenant(name); placed {
			err = rt.directory.Forget(name)
		} else {
			err = rt.directory.dropStray(Stray{Tenant: name, Node: n.Name})
		}
	} else {
		err = errors.Join(err, rt.directory.abandon(Stray{Tenant: name, Node: n.Name}))
		rt.reconciler.kick()
	}
	rt.leasing.grantSoon(n.Name)
	if err != nil {
		rt.logf("tenant %s: its creation on node %s is not wholly undone: %v", name, n.Name, err)
	}
}

func (rt *Router) deleteTenant(ctx context.Context, name string) (answer, error) {
	if !ValidName(name) {
		return answer{}, ErrName
	}
	if err := rt.remove(ctx, name); err != nil {
		return answer{}, fmt.Errorf("tenant %s: %w", name, err)
	}
	return answer{status: http.StatusNoContent}, nil
}

// remove deletes a tenant on its node and forgets its place. A node that has no
// such tenant any more is content; any other refusal is passed on as it is, and
// nothing is forgotten.
func (rt *Router) remove(ctx context.Context, tenant string) error {
	release, err := rt.directory.Claim(tenant)
	if err != nil {
		return err
	}
	defer release()
	n, ok := rt.directory.Lookup([]byte(tenant))
	if !ok {
		return ErrUnknownTenant
	}
	err = gone(rt.admin.remove(ctx, n, tenant))
	var refused *NodeError
	switch {
	case err == nil:
	case errors.As(err, &refused) && refused.Status >= 400:
		return refusing(refused.Status, refused.Error())
	default:
		return err
	}
	if err := rt.forget(tenant); err != nil {
		return err
	}
	rt.degradations.forget(tenant)
	rt.clearStrays(ctx, tenant)
	return nil
}

// forget forgets a tenant that its node has deleted. Its copies on other nodes are strays
// then.
func (rt *Router) forget(tenant string) error {
	if left := rt.directory.copies(tenant); len(left) > 0 {
		return rt.directory.abandonAll(tenant, left)
	}
	return rt.directory.Forget(tenant)
}

// clearStrays deletes the copies of a tenant that are to be cleared away. Those that
// cannot be deleted now stay recorded.
func (rt *Router) clearStrays(ctx context.Context, tenant string) {
	for _, s := range rt.directory.Strays() {
		if s.Tenant != tenant {
			continue
		}
		n, ok := rt.directory.Node(s.Node)
		if !ok {
			continue
		}
		err := rt.copier.briefly(ctx, func(ctx context.Context) error { return gone(rt.admin.purge(ctx, n, tenant)) })
		if err == nil {
			err = rt.directory.dropStray(s)
		}
		if err != nil {
			rt.logf("tenant %s: a copy is left on node %s: %v", tenant, s.Node, err)
			rt.reconciler.kick()
		}
	}
}
