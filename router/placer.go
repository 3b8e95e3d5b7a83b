package router

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Placer chooses the node of a tenant. It must be safe for concurrent use.
type Placer interface {
	// Place returns the name of the candidate that the tenant is to be placed on,
	// or ErrNoCapacity if it is to be on none of them. There is at least one, and
	// they are in the order of their names; among may be kept and changed.
	//
	// It is asked for each tenant that is created without a node. It is also asked
	// before a rebalance or a drain moves a tenant, with the one node that it would
	// be moved to: a Placer that keeps tenants apart keeps them apart there, too.
	Place(ctx context.Context, tenant string, among []Candidate) (node string, err error)
}

// Candidate is a node that may take a tenant: it answers, is shared and not being
// drained, and is below its limits.
type Candidate struct {
	Node    string
	Attrs   Attrs
	Disk    int64 // bytes that its files take up
	Tenants int   // placed on it, with those that are being created there
}

// FewestBytes is the Placer that a Router has by default. It takes the candidate whose
// files take up the fewest bytes, of several the first by name. Disk and not memory
// decides, as a node's memory tells of its open tenants only.
type FewestBytes struct{}

// Place implements Placer.
func (FewestBytes) Place(_ context.Context, _ string, among []Candidate) (string, error) {
	// The first of several minima is taken.
	return slices.MinFunc(among, func(a, b Candidate) int { return cmp.Compare(a.Disk, b.Disk) }).Node, nil
}

// pick asks the placer and checks what it says.
func pick(ctx context.Context, p Placer, tenant string, among []Candidate) (string, error) {
	name, err := p.Place(ctx, tenant, slices.Clone(among))
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(among, func(c Candidate) bool { return c.Node == name }) {
		return "", fmt.Errorf("the placer chose %q, which is not a candidate", name)
	}
	return name, nil
}

// takes reports whether a node may take one more tenant without being asked for by
// name: it has tenants already, whose files take up disk bytes.
func (a Attrs) takes(disk int64, tenants int) bool {
	return a.shares() &&
		(a.MaxTenants == 0 || tenants < a.MaxTenants) &&
		(a.MaxBytes == 0 || disk < a.MaxBytes)
}

// shares reports whether tenants come and go on a node without being asked for by
// name.
func (a Attrs) shares() bool { return a.Role != RoleDedicated && !a.Draining }
