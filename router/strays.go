package router

import (
	"cmp"
	"net/http"
	"slices"
)

// listStrays answers with the copies that are to be cleared away, by tenant and node.
func (rt *Router) listStrays() (answer, error) {
	type listedStray struct {
		Tenant string `json:"tenant"`
		Node   string `json:"node"`
		Seq    uint64 `json:"seq,omitempty"`
		Placed string `json:"placed,omitempty"` // where the tenant is
	}
	strays := rt.directory.Strays()
	slices.SortFunc(strays, func(a, b Stray) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Node, b.Node))
	})
	list := []listedStray{}
	for _, s := range strays {
		t, _ := rt.directory.Tenant(s.Tenant)
		list = append(list, listedStray{s.Tenant, s.Node, s.Seq, t.Node})
	}
	return answer{http.StatusOK, list}, nil
}
