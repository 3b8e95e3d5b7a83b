package router

import (
	"context"
	"net/http"
	"strings"

	"github.com/fenec-go/fenecdb/tenant"
)

// serveShard answers what lies under /_shard/; path is what follows it.
func (rt *Router) serveShard(w *capture, r *http.Request, path []string) {
	answer, err := rt.watched(w, r, path)
	if err != nil {
		refuse(err).write(w)
		return
	}
	if answer.body == nil {
		w.WriteHeader(answer.status)
		return
	}
	writeJSON(w, answer.status, answer.body)
}

// answer is what a route under /_shard/ has done. A nil body is none.
type answer struct {
	status int
	body   any
}

func (rt *Router) shard(r *http.Request, path []string) (answer, error) {
	if err := rt.mayServe(r, path); err != nil {
		return answer{}, err
	}
	// Whoever asked may stop waiting; what was begun is finished.
	ctx := context.WithoutCancel(r.Context())
	name := ""
	if len(path) > 1 {
		name = path[1]
	}
	switch route(r.Method, path) {
	case "GET nodes":
		return rt.listNodes()
	case "PUT nodes/*":
		return rt.putNode(ctx, r, name)
	case "DELETE nodes/*":
		return rt.deleteNode(name)
	case "PUT nodes/*/attrs":
		return rt.putAttrs(r, name)
	case "GET nodes/*/drain":
		return rt.drainProgress(name)
	case "POST nodes/*/drain":
		return rt.beginDrain(name)
	case "POST nodes/*/undrain":
		return rt.endDrain(name)
	case "POST nodes/*/failover":
		return rt.postFailover(ctx, r, name)
	case "POST replicas":
		return rt.postReplicas(ctx)
	case "GET tenants":
		return rt.listTenants(ctx, r)
	case "PUT tenants/*":
		return rt.createTenant(ctx, r, name)
	case "DELETE tenants/*":
		return rt.deleteTenant(ctx, name)
	case "POST tenants/*/move":
		return rt.postMove(ctx, r, name)
	case "GET tenants/*/quota":
		return rt.getQuota(name)
	case "PUT tenants/*/quota":
		return rt.putQuota(ctx, r, name)
	case "GET tenants/*/usage":
		return rt.getUsage(ctx, name)
	case "PUT tenants/*/status":
		return rt.putStatus(r, name)
	case "POST tenants/*/adopt":
		return rt.postAdopt(ctx, r, name)
	case "POST tenants/*/undelete":
		return rt.postUndelete(ctx, r, name)
	case "POST tenants/*/thaw":
		return rt.postThaw(ctx, name)
	case "GET unplaced":
		return rt.getUnplaced(ctx)
	case "GET strays":
		return rt.listStrays()
	case "GET unsent":
		return rt.listUnsent()
	case "GET plan":
		return rt.getPlan(ctx)
	case "GET rebalance":
		return rt.rebalanceProgress()
	case "POST rebalance":
		return rt.postRebalance(ctx, r)
	}
	return answer{}, errNotFound
}

var errNotFound = refusing(http.StatusNotFound, "not found")

// route names the route of a request: the method and the path, with a star in the
// place of the name that follows the collection.
func route(method string, path []string) string {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	switch len(path) {
	case 1:
		return method + " " + path[0]
	case 2:
		return method + " " + path[0] + "/*"
	case 3:
		return method + " " + path[0] + "/*/" + path[2]
	}
	return ""
}

// bearer returns the token that a request carries.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func (rt *Router) listTenants(ctx context.Context, r *http.Request) (answer, error) {
	type listedTenant struct {
		Name   string `json:"name"`
		Node   string `json:"node"`
		State  State  `json:"state"`
		To     string `json:"to,omitempty"` // of a tenant that moves
		Status string `json:"status,omitempty"`
		Epoch  int64  `json:"epoch"`
		Bytes  *int64 `json:"bytes,omitempty"`
		// Replica is the node that has a replica, Replicas those of a tenant with several.
		Replica  string   `json:"replica,omitempty"`
		Replicas []string `json:"replicas,omitempty"`
	}
	sizes := map[string]map[string]int64{}
	if r.URL.Query().Has("bytes") {
		for _, said := range ask(rt.directory.Nodes(), func(n Node) (map[string]int64, error) { return rt.admin.sizes(ctx, n) }) {
			sizes[said.node.Name] = said.value
		}
	}
	list := []listedTenant{}
	for _, t := range rt.directory.Tenants() {
		entry := listedTenant{Name: t.Name, Node: t.Node, State: t.State, Epoch: t.Epoch}
		if t.Move != nil {
			entry.To = t.Move.To
		}
		if t.Status != tenant.Active {
			entry.Status = t.Status.String()
		}
		if len(t.Replicas) > 0 {
			entry.Replica = t.Replicas[0]
		}
		if len(t.Replicas) > 1 {
			entry.Replicas = t.Replicas
		}
		if bytes, ok := sizes[t.Node][t.Name]; ok {
			entry.Bytes = &bytes
		}
		list = append(list, entry)
	}
	return answer{http.StatusOK, list}, nil
}
