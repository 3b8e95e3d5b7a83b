package router

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// Copy is a tenant's file on a node.
type Copy struct {
	Node   string `json:"node"`
	Seq    uint64 `json:"seq"`    // of the last write in it
	Frozen bool   `json:"frozen"` // it takes no writes
	// Role is "primary", "replica" for one that follows another, or "" of a node that
	// does not tell.
	Role string `json:"role,omitempty"`
}

func copyOn(n Node, s standing) Copy { return Copy{n.Name, s.Seq, s.Frozen, s.Role} }

func (c Copy) String() string {
	text := fmt.Sprintf("node %s (at %d", c.Node, c.Seq)
	if c.Frozen {
		text += ", frozen"
	}
	if c.Role == roleReplica {
		text += ", a replica"
	}
	return text + ")"
}

// CopiesError tells that several nodes have a tenant, and that nobody has said which of
// them it is to be.
type CopiesError struct{ Copies []Copy }

func (e *CopiesError) Error() string {
	list := make([]string, len(e.Copies))
	for i, c := range e.Copies {
		list[i] = c.String()
	}
	return "several nodes have it, name one: " + strings.Join(list, ", ")
}

// Adopted is a tenant that was placed where its file is.
type Adopted struct {
	Tenant string `json:"tenant"`
	Copy
	// Quota are the limits that the node holds it to, which the directory has taken over.
	Quota quota.Limits `json:"quota"`
}

// claimUnplaced takes a tenant that has no place for one operation.
func (rt *Router) claimUnplaced(name string) (release func(), err error) {
	if !ValidName(name) {
		return nil, ErrName
	}
	if release, err = rt.directory.Claim(name); err != nil {
		return nil, err
	}
	if _, ok := rt.directory.Tenant(name); ok {
		release()
		return nil, ErrTenantExists
	}
	return release, nil
}

// takeIn places a tenant on the node that has its file, with the quota that the node
// holds it to. A copy that follows another follows none any more. The tenant is claimed.
func (rt *Router) takeIn(ctx context.Context, name string, n Node, found standing, force bool) (Adopted, error) {
	limits, err := rt.admin.quota(ctx, n, name)
	if err != nil {
		return Adopted{}, err
	}
	if err := rt.lead(ctx, name, n, &found, force); err != nil {
		return Adopted{}, err
	}
	if err := rt.directory.placeAs(name, n, tenant.Active, limits); err != nil {
		return Adopted{}, err
	}
	rt.arrived(ctx, name, n)
	return Adopted{name, copyOn(n, found), limits}, nil
}

// lead has a copy that was found on a node take writes and follow no other.
func (rt *Router) lead(ctx context.Context, name string, n Node, found *standing, force bool) error {
	if found.Role == "" || found.Role == rolePrimary {
		return nil
	}
	if err := rt.admin.promote(ctx, n, name, force); err != nil {
		return err
	}
	found.Role = rolePrimary
	return nil
}

// arrived sees to what a tenant needs that was just placed where its file is: a lease, its
// copies, and a node that takes tenants.
func (rt *Router) arrived(ctx context.Context, name string, n Node) {
	rt.leasing.granted(ctx, name, n.Name)
	if rt.directory.Attrs(n.Name).Draining {
		rt.fleet.startDrain(n.Name)
	}
	rt.copier.completeNow(context.WithoutCancel(ctx), name, copying{})
}

// among returns the nodes that have a tenant, of what all have said of it; absent tells
// the errors by which a node says that it does not. Of other errors it is an
// ErrNodesSilent.
func among(said []reply[standing], absent func(error) bool) (have []reply[standing], unsure error) {
	var why []string
	for _, r := range said {
		switch {
		case r.err == nil:
			have = append(have, r)
		case !absent(r.err):
			why = append(why, r.err.Error())
		}
	}
	if len(why) > 0 {
		unsure = fmt.Errorf("%w: %s", ErrNodesSilent, strings.Join(why, "; "))
	}
	return have, unsure
}

// leading leaves out the copies that follow another one, unless all do.
func leading(have []reply[standing]) []reply[standing] {
	lead := slices.DeleteFunc(slices.Clone(have), func(r reply[standing]) bool { return r.value.Role == roleReplica })
	if len(lead) == 0 {
		return have
	}
	return lead
}

func several(have []reply[standing]) error {
	e := &CopiesError{}
	for _, r := range have {
		e.Copies = append(e.Copies, copyOn(r.node, r.value))
	}
	return e
}
