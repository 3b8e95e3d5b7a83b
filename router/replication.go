package router

import (
	"net/http"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/fenec-go/fenecdb/internal/metrics"
	"github.com/fenec-go/fenecdb/replication/mirror"
)

// source returns what serves the directory's changes, nil of a directory that has none.
func (rt *Router) source() *mirror.Source {
	if rt.directory.file == nil {
		return nil
	}
	return rt.directory.file.source.Load()
}

// replicates reports whether there is anything under /_replication.
func (rt *Router) replicates() bool { return !rt.opts.ReplicationToken.IsZero() && rt.source() != nil }

// admitsReplication reports whether a request carries the replication token, and refuses it
// if not.
func (rt *Router) admitsReplication(w *capture, r *http.Request) bool {
	switch {
	case !rt.replicates():
		errNotFound.write(w)
	case !rt.opts.ReplicationToken.Opens(bearer(r)):
		w.refused = true
		refusing(http.StatusUnauthorized, "the replication token is required").write(w)
	default:
		rt.delays.Accepted(r.RemoteAddr)
		return true
	}
	return false
}

// serveReplication answers what lies under /_replication, streams aside. What it says of
// how far the directory has come is in the maps by then.
func (rt *Router) serveReplication(w http.ResponseWriter, r *http.Request, path []string) {
	if s := rt.standby; s != nil && firstOf(path) == "status" {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	rt.source().Serve(w, r, path)
}

// streams reports whether a request under /_replication asks for the stream of the
// directory's changes, and may.
func (rt *Router) streams(r *http.Request) bool {
	return r.Method == http.MethodGet && len(http1.Segments(targetOf(r))) == 1 &&
		rt.replicates() && rt.opts.ReplicationToken.Opens(bearer(r))
}

// isPromotion reports whether a request under /_replication is to promote the router.
func (in *incoming) isPromotion() bool {
	path := http1.Segments(in.Target)
	return len(path) == 2 && path[1] == "promote"
}

// mayServe refuses requests under /_shard/ of a router that must not change anything. One
// that follows another answers what its maps tell, and nothing else.
func (rt *Router) mayServe(r *http.Request, path []string) error {
	why := rt.directory.halted.reason()
	if why == nil || reads(r) && !rt.follows() {
		return nil
	}
	switch route(r.Method, path) {
	case "GET nodes", "GET tenants", "GET tenants/*/quota", "GET strays":
		return nil
	}
	return why
}

// writeReplicationMetrics writes how the directory follows, and who follows it.
func (rt *Router) writeReplicationMetrics(p *metrics.Page) {
	following := uint64(0)
	if rt.follows() {
		following = 1
	}
	p.Family("fenec_router_following", metrics.Gauge, "1 while the directory follows that of another router.")
	p.Uint(following)
	if !rt.replicates() {
		return
	}
	p.Family("fenec_replicas", metrics.Gauge, "Routers that follow this one's directory.")
	p.Uint(uint64(len(rt.source().Peers())))
	if rt.standby == nil {
		return
	}
	if status, ok := rt.standby.status(); ok {
		writeReplicaMetrics(p, status)
	}
}

func writeReplicaMetrics(p *metrics.Page, s mirror.ReplicaStatus) {
	connected := uint64(0)
	if s.Connected {
		connected = 1
	}
	p.Family("fenec_replica_connected", metrics.Gauge, "1 while the primary's changes come.")
	p.Uint(connected)
	p.Family("fenec_replica_behind", metrics.Gauge, "Changes that the primary has on disk and that are not here yet.")
	p.Uint(s.Behind)
	p.Family("fenec_replica_last_contact_seconds", metrics.Gauge, "Time since something came from the primary; -1 if nothing ever has.")
	if s.LastContactMs < 0 {
		p.Float(-1)
	} else {
		p.Float(float64(s.LastContactMs) / 1000)
	}
	p.Family("fenec_replica_images_total", metrics.Counter, "Images taken of the whole directory.")
	p.Uint(s.Images)
	p.Family("fenec_replica_reconnects_total", metrics.Counter, "Streams of changes that have ended.")
	p.Uint(s.Reconnects)
}
