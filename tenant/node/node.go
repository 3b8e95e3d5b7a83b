// Package node gives a directory of tenants its HTTP surface.
//
//	/t/<tenant>/…     the tenant's database, as package serve has it
//	/_admin/…         tenants come and go, freeze, travel as images, are limited and
//	                  metered; docs/tenants.md lists the routes
//	/_metrics         figures of the node, without the name of any tenant
//	/_health          GET: without a token
//
// Middleware gives the handlers of another program their request's tenant.
//
// The data token, or a JSON Web Token that names the tenant, opens /t/, the admin
// token /_admin/; without an admin token there is no /_admin/. A tenant is opened by
// its first request and held while a request runs on it: neither a slow sender nor a
// slow reader of an ordinary answer keeps it from being closed or deleted. No request
// brings a tenant into being but a create and an import.
package node

import (
	"context"
	"errors"
	"log"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

// Options say how a directory is served, and to whom.
type Options struct {
	Tenants    tenant.Options // OnOpen is called before the node's own
	Surface    serve.Options  // of the tenants' databases, at /t/
	AdminToken serve.Secret   // for /_admin/; empty turns it off
}

// Node answers requests for the tenants of one directory. It is an http.Handler.
type Node struct {
	tenants *tenant.Manager
	opts    Options
	server  *serve.Server
	limits  limits
	meter   *meter
}

// Open opens a directory of tenants, which is made if it is missing.
func Open(dir string, opts Options) (*Node, error) {
	n := &Node{opts: opts, server: serve.New(opts.Surface)}
	before := opts.Tenants.OnOpen
	opts.Tenants.OnOpen = func(id tenant.ID, db *fenec.DB) error {
		if before != nil {
			if err := before(id, db); err != nil {
				return err
			}
		}
		return n.opened(id.String(), db)
	}
	var err error
	if n.tenants, err = tenant.Open(dir, opts.Tenants); err != nil {
		return nil, err
	}
	if n.meter, err = newMeter(n.tenants, n.keep); err != nil {
		return nil, errors.Join(err, n.tenants.Close())
	}
	return n, nil
}

// keep is called every minute with what went wrong in the counting, if anything did.
func (n *Node) keep(ctx context.Context, err error) {
	n.limits.forget(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	logger := n.opts.Surface.ErrorLog
	if logger == nil {
		logger = log.Default()
	}
	logger.Printf("usage is not written down: %v", err)
}

// opened is called with every database as it is opened.
func (n *Node) opened(name string, db *fenec.DB) error {
	return n.limits.attach(n.tenants, name, db)
}

// Tenants returns the manager of the directory.
func (n *Node) Tenants() *tenant.Manager { return n.tenants }

// Surface returns the server of the tenants' databases.
func (n *Node) Surface() *serve.Server { return n.server }

// Close ends subscriptions and held requests, and closes the directory.
func (n *Node) Close() error {
	return errors.Join(n.server.Close(), n.meter.Close(), n.tenants.Close())
}

// ServeHTTP answers one request.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !serve.Begin(w, r) {
		return
	}
	path := serve.Segments(r.URL)
	switch {
	case len(path) > 0 && path[0] == "_admin" && n.opts.AdminToken != "":
		n.serveAdmin(w, r, path[1:])
	case len(path) > 1 && path[0] == "t":
		n.server.Serve(w, r, path[2:], n.source(path[1]))
	default:
		n.server.ServeNode(w, r, path, n.writeMetrics)
	}
}

// source gives the database of a tenant for as long as a request runs on it.
func (n *Node) source(name string) serve.Source {
	return serve.Source{Tenant: name, Open: func(ctx context.Context) (*serve.Use, *serve.Answer) {
		h, err := n.tenants.Acquire(ctx, name)
		if err != nil {
			refusal := failure(err)
			return nil, &refusal
		}
		use := &serve.Use{
			DB:      raw.DB(h),
			Release: h.Release,
			Ended:   h.Done(),
			Why:     "the tenant is being deleted, renamed or closed",
			Waits: func() func(context.Context) error {
				h.Pause()
				return h.Resume
			},
			Refuse: refuse,
		}
		n.meter.use(use, name)
		if q := n.limits.of(name, use.DB); q != nil {
			if err := limit(use, q); err != nil {
				use.Release()
				refusal := failure(err)
				return nil, &refusal
			}
		}
		return use, nil
	}}
}

// limit holds a use of a database to a quota.
func limit(use *serve.Use, q *quota.Quota) error {
	if err := q.Enter(); err != nil {
		return err
	}
	release := use.Release
	use.Release = func() {
		q.Leave()
		release()
	}
	use.Writes = q.MayWrite
	streams := use.Streams
	use.Streams = func() (func(), error) {
		if err := q.OpenStream(); err != nil {
			return nil, err
		}
		end, err := streams()
		if err != nil {
			q.CloseStream()
			return nil, err
		}
		return func() {
			end()
			q.CloseStream()
		}, nil
	}
	use.Warns = func() (string, string) {
		if key := q.Warning(); key != "" {
			return "Fenec-Quota-Warning", key
		}
		return "", ""
	}
	return nil
}
