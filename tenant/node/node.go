// Package node gives a directory of tenants its HTTP surface.
//
//	/t/<tenant>/…     the tenant's database, as package serve has it
//	/_admin/…         tenants come and go, freeze, travel as images, are limited and
//	                  metered; docs/tenants.md lists the routes
//	/_metrics         figures of the node, without the name of any tenant
//	/_health          GET: that it is there, without a token
//	/_ready           GET: whether it takes requests, 503 once it closes, without a token
//
// Node.Middleware gives the handlers of another program their request's tenant, and Error
// answers with what became of it.
//
// The data token, or a JSON Web Token that names the tenant, opens /t/, the admin
// token /_admin/; without an admin token there is no /_admin/. A tenant is opened by
// its first request and held while a request runs on it: neither a slow sender nor a
// slow reader keeps it from being deleted. A long answer, which is sent while its rows are
// found, is cut short by that. No request
// brings a tenant into being but a create and an import.
package node

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/tenant"
)

// Options say how a directory is served, and to whom.
type Options struct {
	Tenants    tenant.Options // OnOpen is called before the node's own
	Surface    serve.Options  // of the tenants' databases, at /t/
	AdminToken serve.Secret   // for /_admin/; the zero Secret turns it off. A router knows it: see serve.Options.RouterToken

	// Lease has tenants written only under a lease, which a router renews at
	// /_admin/lease: it needs AdminToken. Without one, as at the start, only reads are
	// answered. LeaseClock tells the time of leases; by default the machine's clocks do.
	Lease      bool
	LeaseClock func() replication.Instant
}

// Node answers requests for the tenants of one directory. It is an http.Handler.
type Node struct {
	tenants *tenant.Manager
	opts    Options
	server  *serve.Server
	meter   *meter
	lease   *lease // nil for a node that writes without one
	open    registry

	applying sync.Mutex  // orders those who apply limits
	ended    atomic.Bool // Close was called
}

// Open opens a directory of tenants, which is made if it is missing.
func Open(dir string, opts Options) (*Node, error) {
	if opts.Surface.RouterToken.IsZero() {
		opts.Surface.RouterToken = opts.AdminToken
	}
	n := &Node{opts: opts, server: serve.New(opts.Surface)}
	var err error
	if n.lease, err = newLease(opts); err != nil {
		return nil, err
	}
	if n.lease != nil {
		opts.Tenants.Fence = n.lease.fencing(opts.Tenants.Fence)
	}
	before := opts.Tenants.OnOpen
	opts.Tenants.OnOpen = func(id tenant.ID, db *fenec.DB) error {
		if before != nil {
			if err := before(id, db); err != nil {
				return err
			}
		}
		return n.opened(id, db)
	}
	opts.Tenants.OnClose = both(opts.Tenants.OnClose, n.closing)
	if n.tenants, err = tenant.Open(dir, opts.Tenants); err != nil {
		return nil, err
	}
	totals, err := quota.NewMeter(context.Background(), n.tenants.Node(), quota.MeterOptions{})
	if err != nil {
		return nil, errors.Join(err, n.tenants.Close())
	}
	n.meter = newMeter(n.tenants, totals, &n.open, opts.Surface.ErrorLog)
	return n, nil
}

// Tenants returns the manager of the directory.
func (n *Node) Tenants() *tenant.Manager { return n.tenants }

// Surface returns the server of the tenants' databases.
func (n *Node) Surface() *serve.Server { return n.server }

// Close ends subscriptions and held requests, and closes the directory.
func (n *Node) Close() error {
	n.ended.Store(true)
	return errors.Join(n.server.Close(), n.meter.Close(), n.tenants.Close())
}

// ServeHTTP answers one request.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !n.server.Begin(w, r) {
		return
	}
	path := serve.Segments(r.URL)
	switch {
	case len(path) == 1 && path[0] == "_ready" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		n.ready().Write(w, r)
	case len(path) > 0 && path[0] == "_admin" && !n.opts.AdminToken.IsZero():
		n.serveAdmin(w, r, path[1:])
	case len(path) > 1 && path[0] == "t":
		source := n.source(path[1])
		if r.Header.Get("Fenec-Read-Only") != "" {
			source.Open = reading(source.Open)
		}
		n.server.Serve(w, r, path[2:], source)
	default:
		n.server.ServeNode(w, r, path, n.writeMetrics)
	}
}

// ready answers whether requests for tenants are taken. Like the health it needs no token
// and waits for nothing.
func (n *Node) ready() serve.Answer {
	if n.ended.Load() {
		return failure(tenant.ErrClosed)
	}
	return serve.OK([]byte(`{"ok":true}`))
}

// reading refuses what writes, as a frozen tenant does: a router asks for it in the moment
// in which a write would be lost by a move, whatever has become of the freeze.
func reading(open func(context.Context) (*serve.Use, *serve.Answer)) func(context.Context) (*serve.Use, *serve.Answer) {
	return func(ctx context.Context) (*serve.Use, *serve.Answer) {
		use, refusal := open(ctx)
		if use != nil {
			use.Writes = func() error { return tenant.ErrFrozen }
		}
		return use, refusal
	}
}

// source gives the database of a tenant for as long as a request runs on it.
func (n *Node) source(name string) serve.Source {
	return serve.Source{Tenant: name, Open: func(ctx context.Context) (*serve.Use, *serve.Answer) {
		v, err := n.visit(ctx, name)
		if err != nil {
			refusal := failure(err)
			return nil, &refusal
		}
		return v.use(), nil
	}}
}
