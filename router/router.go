package router

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// Router answers for all tenants of a directory: it forwards what lies under
// /t/<tenant>/ to the node that holds the tenant, and serves the directory
// itself under /_shard/.
//
// It is an http.Handler for any server, and with Serve a server of its own. All
// methods are safe for concurrent use.
type Router struct {
	opts      Options
	directory *Directory
	forwarder *Forwarder
	admin     *admin
	front     front
}

// New returns a router.
func New(opts Options) (*Router, error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	rt := &Router{
		opts:      opts,
		directory: opts.Directory,
		forwarder: NewForwarder(ForwarderOptions{Timeout: opts.UpstreamTimeout, MaxBody: opts.MaxBody, ErrorLog: opts.ErrorLog}),
		admin:     newAdmin(opts.UpstreamTimeout),
	}
	rt.front.init(rt)
	if rt.directory == nil {
		d, err := OpenDirectory("")
		if err != nil {
			return nil, err
		}
		rt.directory = d
	}
	return rt, nil
}

// Directory returns the router's directory.
func (rt *Router) Directory() *Directory { return rt.directory }

// ServeHTTP answers one request. The target is forwarded as it came, so a prefix
// that a handler in front has cut off URL.Path is not seen as cut.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := requestID(r)
	w.Header().Set("X-Request-Id", string(id))
	target := targetOf(r)
	if tenant, ok := tenantOf(target); ok {
		n, err := rt.locate(tenant)
		if err != nil {
			refuse(err).write(w)
			return
		}
		rt.forwarder.forward(w, r, n, id)
		return
	}
	rt.serveOwn(w, r, http1.Segments(target))
}

// targetOf returns the target of a request as it came, or as it would go out if
// it came from nowhere.
func targetOf(r *http.Request) []byte {
	if r.RequestURI != "" {
		return []byte(r.RequestURI)
	}
	return []byte(r.URL.RequestURI())
}

// tenantOf returns the second segment of a target's path if the first is "t".
// The segment is nil if there is none.
func tenantOf(target []byte) (tenant []byte, ok bool) {
	first, rest := http1.NextSegment(http1.Path(target))
	if string(http1.Unescape(nil, first)) != "t" {
		return nil, false
	}
	segment, _ := http1.NextSegment(rest)
	return http1.Unescape(nil, segment), true
}

// locate returns the node that holds a tenant, or why there is none.
func (rt *Router) locate(tenant []byte) (Node, error) {
	n, ok := rt.directory.Lookup(tenant)
	switch {
	case ok:
		return n, nil
	case len(tenant) == 0:
		return Node{}, errNotFound
	case !ValidName(tenant):
		return Node{}, ErrName
	}
	return Node{}, fmt.Errorf("tenant %s: %w", tenant, ErrUnknownTenant)
}

// serveOwn answers what is not under /t/.
func (rt *Router) serveOwn(w http.ResponseWriter, r *http.Request, path []string) {
	switch {
	case len(path) == 1 && path[0] == "_health" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		writeJSON(w, http.StatusOK, struct {
			OK bool `json:"ok"`
		}{true})
	case len(path) > 0 && path[0] == "_shard":
		rt.serveShard(w, r, path[1:])
	default:
		errNotFound.write(w)
	}
}

// Serve accepts clients until Shutdown and returns ErrClosed then, or the
// listener's error. It closes the listener. It may be called for several.
//
// One goroutine serves each connection: requests under /t/ go on byte for byte,
// and ServeHTTP answers all others.
func (rt *Router) Serve(l net.Listener) error { return rt.front.serve(l) }

// Shutdown closes the listeners, ends streams and idle connections and waits for
// the requests that run. When ctx ends it cuts them off and returns ctx's error.
// Afterwards no goroutine and no connection of the router is left.
func (rt *Router) Shutdown(ctx context.Context) error {
	err := rt.front.shutdown(ctx)
	rt.forwarder.Close()
	rt.admin.close()
	return err
}

func (rt *Router) logf(format string, args ...any) { rt.opts.ErrorLog.Printf(format, args...) }
