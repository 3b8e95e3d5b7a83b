package router

import (
	"net/http"

	"github.com/fenec-go/fenecdb/internal/metrics"
)

// serveOwn answers what the router answers itself; path holds the segments.
func (rt *Router) serveOwn(w *capture, r *http.Request, path []string) {
	switch first := firstOf(path); {
	case len(path) == 1 && first == "_health" && reads(r):
		w.private = true
		writeJSON(w, http.StatusOK, healthy)
	case len(path) == 1 && first == "_ready" && reads(r):
		w.private = true
		rt.serveReady(w)
	case len(path) == 1 && first == "_metrics":
		w.private = true
		rt.serveMetrics(w, r)
	case first == "_replication":
		w.private = true
		if rt.admitsReplication(w, r) {
			rt.serveReplication(w, r, path[1:])
		}
	case first == "_shard":
		if rt.admits(w, r) {
			rt.serveShard(w, r, path[1:])
		}
	default:
		errNotFound.write(w)
	}
}

func firstOf(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return path[0]
}

// healthy is what a router says that answers at all.
var healthy = struct {
	OK bool `json:"ok"`
}{true}

// serveReady answers whether requests should be sent here. A router that is asked can
// forward, as it listens once its directory is open; one that ends cannot for long, and
// one whose directory takes no changes can do nothing else.
func (rt *Router) serveReady(w *capture) {
	switch {
	case rt.isStopping():
		refusing(http.StatusServiceUnavailable, "the router is shutting down").write(w)
	case rt.directory.trouble.failing.Load():
		refusing(http.StatusServiceUnavailable, "the directory refuses changes").write(w)
	case rt.directory.superseded():
		refusing(http.StatusServiceUnavailable, ErrSuperseded.Error()).write(w)
	case !rt.directory.arrived.Load():
		errNotArrived.write(w)
	default:
		writeJSON(w, http.StatusOK, healthy)
	}
}

func (rt *Router) serveMetrics(w *capture, r *http.Request) {
	if !rt.admits(w, r) {
		return
	}
	if !reads(r) {
		w.Header().Set("Allow", "GET, HEAD")
		refusing(http.StatusMethodNotAllowed, "metrics are read by GET").write(w)
		return
	}
	var p metrics.Page
	rt.writeMetrics(&p)
	w.Header().Set("Content-Type", metrics.ContentType)
	w.Write(p.Bytes())
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// admits reports whether a request carries the router's token, and refuses it if not.
func (rt *Router) admits(w *capture, r *http.Request) bool {
	if rt.opts.Token.IsZero() {
		return true
	}
	if rt.opts.Token.Opens(bearer(r)) {
		rt.delays.Accepted(r.RemoteAddr)
		return true
	}
	w.refused = true
	refusing(http.StatusUnauthorized, "the router's token is required").write(w)
	return false
}

// noteOwn notes an answer of the router's own before it is sent, which may have to
// wait. With errAborted it is not sent.
func (rt *Router) noteOwn(client waiter, in *incoming, k kind, a *capture) error {
	if a.refused {
		return rt.refused(client, in, nil)
	}
	if k == forShard || k == forReplication && in.isPromotion() {
		rt.administered(in, a)
	}
	return nil
}
