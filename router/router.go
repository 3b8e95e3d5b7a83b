package router

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"github.com/fenec-go/fenecdb/internal/cors"
	"github.com/fenec-go/fenecdb/internal/eventlog"
	delays "github.com/fenec-go/fenecdb/internal/refusal"
)

// Router answers for all tenants of a directory: it forwards what lies under
// /t/<tenant>/ to the node that holds the tenant, and serves the directory
// itself under /_shard/.
//
// It is an http.Handler for any server, and with Serve a server of its own. All
// methods are safe for concurrent use.
type Router struct {
	opts         Options
	directory    *Directory
	forwarder    *Forwarder
	admin        *admin
	front        front
	cors         cors.Policy
	delays       *delays.Delays
	audit        *eventlog.Log // nil if off
	metrics      counters
	degradations degradations
	fleet        fleet
	copier       *copier
	mover        *mover
	reconciler   *reconciler
	staleness    staleness
	leasing      *leasing // nil if nodes write without leases
	standby      *standby // nil of a router that was not started to follow another

	stop     sync.Once
	stopping chan struct{} // closed when Shutdown begins
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
		cors:      cors.New(opts.AllowOrigin),
		delays:    delays.New(opts.RefusalDelay),
		audit:     eventlog.New(opts.AuditLog),
		stopping:  make(chan struct{}),
	}
	rt.front.init(rt)
	rt.degradations.init(rt)
	if rt.directory == nil {
		d, err := OpenDirectory("")
		if err != nil {
			return nil, err
		}
		rt.directory = d
	}
	if err := rt.checkReplication(); err != nil {
		return nil, err
	}
	rt.directory.trouble.tell(rt.logTrouble)
	rt.initLeasing()
	rt.fleet.init(rt)
	rt.staleness.init(rt)
	rt.initMoves()
	if !rt.follows() {
		rt.takeCharge()
	} else if err := rt.follow(); err != nil {
		return nil, err
	}
	return rt, nil
}

// takeCharge takes up what another router has left unfinished, or this one before it was
// started, and grants the nodes their leases. A router that follows another does neither.
func (rt *Router) takeCharge() {
	rt.fleet.unsent.add(rt.directory.limited()...)
	rt.reconciler.kick()
	rt.resumeDrains()
	rt.staleness.begin()
	rt.leasing.begin()
}

// Directory returns the router's directory.
func (rt *Router) Directory() *Directory { return rt.directory }

// Serve accepts clients until Shutdown and returns ErrClosed then, or the
// listener's error. It closes the listener. It may be called for several.
//
// One goroutine serves each connection. Requests of tenants go on byte for byte.
func (rt *Router) Serve(l net.Listener) error { return rt.front.serve(l, rt.front.admit) }

// ServeTLS is Serve for encrypted connections. Those of clients that choose HTTP/2 are
// served by net/http, with the router as the handler; the limits of connections and of
// silence hold for them, too. The configuration says which protocols there are to choose
// from, and must not be changed afterwards.
func (rt *Router) ServeTLS(l net.Listener, config *tls.Config) error {
	e := newEncryption(rt, config)
	if !rt.front.run(e.serve) || !rt.front.run(e.endWithRouter) {
		l.Close()
		return ErrClosed
	}
	return rt.front.serve(l, e.admit)
}

// Shutdown closes the listeners, ends streams and idle connections and waits for
// the requests that run; those that wait for a move go on at once, and refusals are
// no longer delayed. When ctx ends it cuts them off and returns ctx's error.
// Afterwards no goroutine and no connection of the router is left.
func (rt *Router) Shutdown(ctx context.Context) error {
	rt.stop.Do(func() { close(rt.stopping) })
	rt.standby.close()
	rt.fleet.stop()
	rt.reconciler.stop()
	err := rt.front.shutdown(ctx)
	rt.fleet.close()
	rt.reconciler.close()
	rt.staleness.close()
	rt.leasing.close()
	rt.degradations.close()
	rt.forwarder.Close()
	rt.admin.close()
	return err
}

// logTrouble logs that the directory begins to refuse changes, or no longer does.
func (rt *Router) logTrouble(why error) {
	if why != nil {
		rt.logf("the directory refuses changes: %v", why)
	} else {
		rt.logf("the directory takes changes again")
	}
}

func (rt *Router) logf(format string, args ...any) { rt.opts.ErrorLog.Printf(format, args...) }

// isStopping reports whether Shutdown has begun.
func (rt *Router) isStopping() bool {
	select {
	case <-rt.stopping:
		return true
	default:
		return false
	}
}

var errTooMany = refusing(http.StatusServiceUnavailable, "too many connections")
