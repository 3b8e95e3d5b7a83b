package router

import "net/http"

// changed is what a request under /_shard/ has changed, for its audit line. What was not
// there before, or is not afterwards, is nil.
type changed struct{ old, new any }

// watched answers a request, and notes in w what it has changed. The value is read before
// and after, so that a change of the same by somebody else in that instant shows, too.
func (rt *Router) watched(w *capture, r *http.Request, path []string) (answer, error) {
	value := rt.valueOf(r.Method, path)
	if rt.audit == nil || value == nil {
		return rt.shard(r, path)
	}
	old := value()
	a, err := rt.shard(r, path)
	if err == nil && a.status < http.StatusBadRequest {
		w.changed = changed{old, value()}
	}
	return a, err
}

// valueOf returns what reads the value that a request changes, nil where there is none to
// be told.
func (rt *Router) valueOf(method string, path []string) func() any {
	name := ""
	if len(path) > 1 {
		name = path[1]
	}
	switch route(method, path) {
	case "PUT nodes/*", "DELETE nodes/*":
		return func() any { return rt.addrOf(name) }
	case "PUT nodes/*/attrs", "POST nodes/*/drain", "POST nodes/*/undrain":
		return func() any { return rt.attrsOf(name) }
	case "PUT tenants/*", "DELETE tenants/*", "POST tenants/*/move", "POST tenants/*/adopt", "POST tenants/*/undelete":
		return func() any { return rt.nodeOf(name) }
	case "PUT tenants/*/quota":
		return func() any { return rt.directory.Quota(name) }
	case "PUT tenants/*/status":
		return func() any { return rt.statusOf(name) }
	}
	return nil
}

func (rt *Router) addrOf(node string) any {
	if n, ok := rt.directory.Node(node); ok {
		return n.Addr
	}
	return nil
}

// attrsOf returns a node as it is listed.
func (rt *Router) attrsOf(node string) any {
	if n, ok := rt.directory.Node(node); ok {
		return rt.listed(n)
	}
	return nil
}

func (rt *Router) nodeOf(tenant string) any {
	if t, ok := rt.directory.Tenant(tenant); ok {
		return t.Node
	}
	return nil
}

func (rt *Router) statusOf(tenant string) any {
	if t, ok := rt.directory.Tenant(tenant); ok {
		return t.Status.String()
	}
	return nil
}
