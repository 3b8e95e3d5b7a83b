package node

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/netip"
	"net/url"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant"
)

// errNotServed is the refusal of a request that names nothing a tenant could be at.
var errNotServed = errors.New("no tenant is served here")

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
// Requests without a handle are answered as a node does: 404 for an unknown tenant, 421
// for what the resolver does not serve, 503 for one that is degraded, set up or busy,
// each with an X-Request-Id; one that a layer above has set stays. What went wrong on our
// side is told in full to the ErrorLog of the http.Server alone. Requests are not metered,
// nor counted against a quota.
func Middleware(m *tenant.Manager, r tenant.Resolver) func(http.Handler) http.Handler {
	if r == nil {
		r = tenant.ByPath{Registry: m}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			name, path, err := resolve(req, r)
			if err != nil {
				turnAway(w, req, err)
				return
			}
			h, err := m.Acquire(req.Context(), name)
			if err != nil {
				turnAway(w, req, err)
				return
			}
			defer h.Release()
			next.ServeHTTP(w, inside(tenant.NewContext(req.Context(), h), req, path))
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

// inside returns the request as its handler sees it. The caller's own stays as it is.
func inside(ctx context.Context, req *http.Request, to *url.URL) *http.Request {
	req = req.WithContext(ctx)
	req.URL = to
	return req
}

// turnAway answers a request that gets no handle.
func turnAway(w http.ResponseWriter, req *http.Request, err error) {
	if w.Header().Get("X-Request-Id") == "" && !serve.Begin(w, req) {
		return
	}
	a := failure(err)
	if errors.Is(err, errNotServed) {
		a = serve.Fail(http.StatusMisdirectedRequest, err.Error())
	}
	if a.Err != nil {
		id := w.Header().Get("X-Request-Id")
		errorLog(req).Printf("%s %s%s: %v request_id=%s", req.Method, req.Host, req.URL.EscapedPath(), a.Err, id)
	}
	a.Write(w, req)
}

// errorLog returns the log of the server that a request came to.
func errorLog(req *http.Request) *log.Logger {
	if srv, ok := req.Context().Value(http.ServerContextKey).(*http.Server); ok && srv.ErrorLog != nil {
		return srv.ErrorLog
	}
	return log.Default()
}
