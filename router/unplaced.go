package router

import (
	"cmp"
	"context"
	"net/http"
	"slices"
)

// Unplaced are the files of tenants on nodes that the directory knows nothing of.
type Unplaced struct {
	Files []UnplacedFile `json:"files"` // by tenant and node
	// Silent are the nodes that did not answer, which may have more.
	Silent []string `json:"silent"`
}

// UnplacedFile is a file of a tenant on a node that the tenant is not placed on, and that
// is no stray either.
type UnplacedFile struct {
	Tenant string `json:"tenant"`
	Node   string `json:"node"`
	Bytes  int64  `json:"bytes"`
	// Placed is the node that the tenant is placed on, "" if the directory does not
	// know the tenant: it can be adopted then.
	Placed string `json:"placed,omitempty"`
}

// Unplaced asks all nodes for their files and returns those that the directory does not
// account for.
func (rt *Router) Unplaced(ctx context.Context) Unplaced {
	found := Unplaced{[]UnplacedFile{}, []string{}}
	for _, r := range ask(rt.directory.Nodes(), func(n Node) ([]UnplacedFile, error) { return rt.unplacedOn(ctx, n) }) {
		if r.err != nil {
			found.Silent = append(found.Silent, r.node.Name)
		}
		found.Files = append(found.Files, r.value...)
	}
	slices.SortFunc(found.Files, func(a, b UnplacedFile) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Node, b.Node))
	})
	return found
}

func (rt *Router) getUnplaced(ctx context.Context) (answer, error) {
	return answer{http.StatusOK, rt.Unplaced(ctx)}, nil
}

// unplacedOn asks one node. It asks again where there is something to be told: a file that
// a move has left may have been cleared away, and forgotten, since the node named it.
func (rt *Router) unplacedOn(ctx context.Context, n Node) (files []UnplacedFile, err error) {
	if err := rt.healthSoon(ctx, n); err != nil {
		return nil, err
	}
	for range 2 {
		sizes, err := rt.admin.sizes(ctx, n)
		if err != nil {
			return nil, err
		}
		if files = rt.unaccounted(n.Name, sizes); len(files) == 0 {
			break
		}
	}
	return files, nil
}

// unaccounted returns those of a node's files that the directory knows nothing of.
func (rt *Router) unaccounted(node string, sizes map[string]int64) (files []UnplacedFile) {
	for name, bytes := range sizes {
		if !rt.accountsFor(name, node) {
			t, _ := rt.directory.Tenant(name)
			files = append(files, UnplacedFile{name, node, bytes, t.Node})
		}
	}
	return files
}

// accountsFor reports whether the directory knows why a node has, or is to have, a file of
// the tenant.
func (rt *Router) accountsFor(tenant, node string) bool {
	has := slices.ContainsFunc(rt.directory.copies(tenant), Stray{Tenant: tenant, Node: node}.is)
	t, _ := rt.directory.Tenant(tenant)
	return t.Node == node || has || rt.hasStray(tenant, node)
}
