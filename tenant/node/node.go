// Package node gives a directory of tenants its HTTP surface.
//
//	/t/<tenant>/…     the tenant's database, as package serve has it
//	/_admin/…         tenants come and go, freeze, travel as images, are limited and
//	                  metered; docs/tenants.md lists the routes
//	/t/<tenant>/_replication, /_replication/changed
//	                  what replicas on other nodes get
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
	"fmt"
	"log"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant"
)

// Options say how a directory is served, and to whom.
type Options struct {
	Tenants    tenant.Options // OnOpen is called before the node's own
	Surface    serve.Options  // of the tenants' databases, at /t/
	AdminToken serve.Secret   // for /_admin/; the zero Secret turns it off. A router knows it: see serve.Options.RouterToken

	// ReplicationToken is what the nodes of a cluster know, for each other. With it every
	// tenant keeps a feed of its writes and serves it to replicas on other nodes, and may be
	// a replica itself, which takes no writes. The policy of Tenants.DB must bring writes to
	// disk. The zero Secret turns replication off.
	ReplicationToken serve.Secret

	// ReplicaOf is the node, http://host:port, that this one is a standby of: tenants that
	// are made here follow there, and so do those that followed before. Others are left as
	// they are: see Node.Follow. "" is none.
	ReplicaOf string

	// ReplicationBuffer is how much of a tenant's latest writes is kept for replicas, in
	// bytes; one that is further behind takes an image. Default 64 MiB. Tenants.DB.FeedBytes
	// counts if it is more.
	ReplicationBuffer int64

	// ReplicasHeld is how many replicas must hold a write on disk before it is answered.
	// Default 0: it is answered once it is on its way to those that are in touch.
	ReplicasHeld int

	// ReplicaReports has replicas bring to disk at once what they get, and tell, though
	// ReplicasHeld is 0, so that requests can ask for that with Fenec-Replicas: <n>.
	ReplicaReports bool

	// ReplicationTransport carries what this node asks of those that it follows. Default:
	// one of its own.
	ReplicationTransport http.RoundTripper

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

	replicator *replicator // nil for a node that takes no part in replication
	said       sync.Map    // what the log was told once

	applying sync.Mutex  // orders those who apply limits
	ended    atomic.Bool // Close was called
}

// Open opens a directory of tenants, which is made if it is missing.
func Open(dir string, opts Options) (*Node, error) {
	if opts.Surface.RouterToken.IsZero() {
		opts.Surface.RouterToken = opts.AdminToken
	}
	n := &Node{server: serve.New(opts.Surface)}
	var err error
	if n.lease, err = newLease(opts); err != nil {
		return nil, err
	}
	if err := n.setReplication(&opts); err != nil {
		return nil, err
	}
	n.opts = opts
	if n.lease != nil {
		opts.Tenants.Fence = n.lease.fencing(opts.Tenants.Fence)
	}
	if n.replicator != nil {
		n.replicator.join(&opts.Tenants)
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
	if n.lease != nil {
		if err := n.lease.remember(context.Background(), n.tenants.Node()); err != nil {
			return nil, errors.Join(err, n.tenants.Close())
		}
	}
	totals, err := quota.NewMeter(context.Background(), n.tenants.Node(), quota.MeterOptions{})
	if err != nil {
		return nil, errors.Join(err, n.tenants.Close())
	}
	n.meter = newMeter(n.tenants, totals, &n.open, opts.Surface.ErrorLog)
	if n.replicator != nil {
		n.replicator.start()
	}
	return n, nil
}

// log returns where the node tells of what happens.
func (n *Node) log() *log.Logger {
	if l := n.opts.Surface.ErrorLog; l != nil {
		return l
	}
	return log.Default()
}

// Tenants returns the manager of the directory.
func (n *Node) Tenants() *tenant.Manager { return n.tenants }

// Surface returns the server of the tenants' databases.
func (n *Node) Surface() *serve.Server { return n.server }

// EndStreams ends the streams to replicas, for good: a server whose requests are to finish
// need not wait for them. Requests go on, and replicas come for what these write when the
// node is back.
func (n *Node) EndStreams() {
	if n.replicator != nil {
		n.replicator.endStreams()
	}
}

// Close ends subscriptions, held requests and replication, and closes the directory.
func (n *Node) Close() error {
	n.ended.Store(true)
	if n.replicator != nil {
		n.replicator.close()
	}
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
	case len(path) > 2 && path[0] == "t" && path[2] == "_replication":
		n.serveReplication(w, r, path[1], path[3:])
	case len(path) == 2 && path[0] == "_replication" && path[1] == "changed":
		n.serveBell(w, r)
	case len(path) > 1 && path[0] == "t":
		n.serveTenant(w, r, path[1], path[2:])
	default:
		n.server.ServeNode(w, r, path, n.writeMetrics)
	}
}

// ready answers whether requests for tenants are taken, and every tenant that follows has
// been in touch with its primary, or tried. Like the health it needs no token and waits for
// nothing.
func (n *Node) ready() serve.Answer {
	if n.ended.Load() {
		return failure(tenant.ErrClosed)
	}
	if r := n.replicator; r != nil {
		if pending, total := r.followers.waiting(); pending > 0 {
			return serve.Fail(http.StatusServiceUnavailable, fmt.Sprintf("replicas have not been in touch with their primaries: %d of %d", pending, total))
		}
	}
	return serve.OK([]byte(`{"ok":true}`))
}

// serveTenant answers a request for a tenant's database.
func (n *Node) serveTenant(w http.ResponseWriter, r *http.Request, name string, path []string) {
	source := n.source(name)
	if r.Header.Get("Fenec-Read-Only") != "" {
		// A router asks for it in the moment in which a write would be lost by a move,
		// whatever has become of the freeze.
		source.Open = refusing(source.Open, tenant.ErrFrozen)
	}
	if asked := r.Header.Get("Fenec-Replicas"); asked != "" {
		copies, err := mirror.ParseCopies(asked, n.opts.ReplicasHeld)
		if err != nil {
			n.server.Send(w, r, serve.Fail(http.StatusBadRequest, err.Error()))
			return
		}
		if copies > 0 && !n.opts.ReplicaReports {
			source.Open = refusing(source.Open, mirror.ErrNoReports)
		}
		r = r.WithContext(mirror.WithHeld(r.Context(), copies))
	}
	n.server.Serve(w, r, path, source)
}

// opener opens a tenant's database for a request.
type opener = func(context.Context) (*serve.Use, *serve.Answer)

// refusing refuses what writes, with an error.
func refusing(open opener, why error) opener {
	return func(ctx context.Context) (*serve.Use, *serve.Answer) {
		use, refusal := open(ctx)
		if use != nil {
			use.Writes = func() error { return why }
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
