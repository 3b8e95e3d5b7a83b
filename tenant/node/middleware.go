package node

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/fenec-go/fenecdb/tenant"
)

// Middleware gives any handler the database of the tenant that a request is for. The
// resolver tells which that is; nil stands for tenant.ByPath. The handler finds a
// handle in the request's context by tenant.FromContext, always, and sees the path that
// is the tenant's own. Put before it what has no tenant, such as a health check.
//
// The handle is released when the handler returns or panics, and all that is asked of
// it later is tenant.ErrReleased: work for later keeps its ID. Until then the tenant
// cannot be deleted, renamed or closed: a handler that streams ends when the handle's
// Done is closed, and one that waits for its client should Pause.
//
// Requests count against the tenant's quota as those of the node's own routes do: as they
// enter, as subscriptions of their handle, and as what they write lands. They are metered:
// the handler's time without its pauses, the rows that are read and written by the handle,
// but within Update and View, and the bytes of the answer and, of one that wrote, of the
// request's body. Connections that are hijacked are not.
//
// Requests without a handle are answered as a node does: 404 for an unknown tenant, 421
// for what the resolver does not serve, 429 for what the quota does not allow, 503 for one
// that is degraded, set up or busy, see Error.
func (n *Node) Middleware(r tenant.Resolver) func(http.Handler) http.Handler {
	if r == nil {
		r = tenant.ByPath{Registry: n.tenants}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			name, path, err := resolve(req, r)
			if err != nil {
				Error(w, req, err)
				return
			}
			v, err := n.visit(req.Context(), name)
			if err != nil {
				Error(w, req, err)
				return
			}
			m := watch(v, w, req)
			defer m.end()
			next.ServeHTTP(m, m.inside(path))
		})
	}
}

// resolve returns the tenant of a request and where within it the request goes, or why
// it goes nowhere.
func resolve(req *http.Request, r tenant.Resolver) (name string, path *url.URL, err error) {
	res, err := r.Resolve(req.Context(), described(req))
	if err != nil {
		return "", nil, err
	}
	if err := refusal(res); err != nil {
		return "", nil, err
	}
	path, err = withPath(req.URL, res.Path)
	return res.Name, path, err
}

// described returns what a resolver may go by.
func described(req *http.Request) tenant.Request {
	peer, _ := netip.ParseAddrPort(req.RemoteAddr) // the zero address, of a Unix socket, is nobody's
	return tenant.Request{
		Host: req.Host,
		Path: req.URL.EscapedPath(),
		Peer: peer.Addr(),
		Header: func(name string) string {
			// One that came twice may be a client's own before that of a proxy.
			if values := req.Header.Values(name); len(values) == 1 {
				return values[0]
			}
			return ""
		},
	}
}

// refusal returns why a tenant as resolved is not served, or nil.
func refusal(res tenant.Resolution) error {
	var err error
	switch res.Outcome {
	case tenant.Found:
		return nil
	case tenant.Unknown:
		err = tenant.ErrNotFound
	case tenant.IsDegraded:
		err = tenant.ErrDegraded
	case tenant.IsProvisioning:
		err = tenant.ErrProvisioning
	default:
		return errNotServed
	}
	return fmt.Errorf("tenant %q: %w", res.Name, err)
}

// withPath returns u with another path, which has its escapes. "" leaves it.
func withPath(u *url.URL, path string) (*url.URL, error) {
	if path == "" || path == u.EscapedPath() {
		return u, nil
	}
	plain, err := url.PathUnescape(path)
	if err != nil {
		return nil, fmt.Errorf("the resolver's path: %w", err)
	}
	to := *u
	to.Path, to.RawPath = plain, ""
	if to.EscapedPath() != path {
		to.RawPath = path
	}
	return &to, nil
}
