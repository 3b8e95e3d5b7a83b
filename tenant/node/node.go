// Package node gives a directory of tenants its HTTP surface.
//
//	/t/<tenant>/…            the tenant's database, as package serve has it
//	/_admin/stats            GET: tenants, bytes on disk, memory, open databases
//	/_admin/tenants          GET: names
//	/_admin/tenants/<tenant> PUT: create it; DELETE: remove it
//	/_admin/sizes            GET: bytes on disk by tenant
//	/_health                 GET: without a token
//
// The data token opens /t/, the admin token /_admin/; without an admin token
// there is no /_admin/. A tenant is opened by its first request and held only
// while a request runs on it: neither a slow sender nor a slow reader keeps it
// from being closed or deleted. No request brings a tenant into being but PUT.
package node

import (
	"context"
	"errors"
	"log"
	"net/http"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant"
)

// Options say who may use a node.
type Options struct {
	Token      serve.Secret // for /t/; empty lets everybody in
	AdminToken serve.Secret // for /_admin/; empty turns it off
	ErrorLog   *log.Logger  // as serve.Options has it
}

// Node answers requests for the tenants of one manager. It is an http.Handler.
type Node struct {
	tenants *tenant.Manager
	opts    Options
	server  *serve.Server
}

// New returns a node that serves the tenants of m.
func New(m *tenant.Manager, opts Options) *Node {
	return &Node{tenants: m, opts: opts, server: serve.New(serve.Options{Token: opts.Token, ErrorLog: opts.ErrorLog})}
}

// ServeHTTP answers one request.
func (n *Node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !serve.Begin(w, r) {
		return
	}
	path := serve.Segments(r.URL)
	switch {
	case serve.IsHealth(r, path):
		serve.Health().Write(w, r)
	case len(path) > 0 && path[0] == "_admin" && n.opts.AdminToken != "":
		n.server.Send(w, r, n.admin(r, path[1:]))
	case len(path) > 1 && path[0] == "t":
		n.serveTenant(w, r, path[1], path[2:])
	default:
		serve.NotFound(r).Write(w, r)
	}
}

// serveTenant answers a request for a tenant. The token is asked for first, so
// that nobody without one learns which tenants there are.
func (n *Node) serveTenant(w http.ResponseWriter, r *http.Request, name string, path []string) {
	if !n.server.Authorized(w, r) {
		return
	}
	if req, ok := serve.ReadRequest(w, r, path); ok {
		n.server.Send(w, r, n.do(r.Context(), name, req))
	}
}

// do answers a request that has been taken in, holding the tenant meanwhile.
func (n *Node) do(ctx context.Context, name string, req serve.Request) serve.Answer {
	h, err := n.tenants.Acquire(ctx, name)
	if err != nil {
		return failure(err)
	}
	defer h.Release()
	return serve.Do(ctx, h.DB(), req)
}

// failure returns the answer for an error of the manager.
func failure(err error) serve.Answer {
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return serve.Fail(s.status, err.Error())
		}
	}
	return serve.Error(err)
}

var statuses = []struct {
	err    error
	status int
}{
	{tenant.ErrName, http.StatusBadRequest},
	{tenant.ErrNotFound, http.StatusNotFound},
	{tenant.ErrExists, http.StatusConflict},
	{tenant.ErrBusy, http.StatusConflict},
	{tenant.ErrClosed, http.StatusServiceUnavailable},
}

// admin answers a request under /_admin/.
func (n *Node) admin(r *http.Request, path []string) serve.Answer {
	if !n.opts.AdminToken.Opens(r.Header) {
		return serve.Unauthorized()
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var body []byte
	var err error
	status := http.StatusOK
	switch {
	case method == "GET" && is(path, "stats"):
		body, err = n.stats()
	case method == "GET" && is(path, "tenants"):
		body, err = n.names()
	case method == "GET" && is(path, "sizes"):
		body, err = n.sizes()
	case method == "PUT" && len(path) == 2 && path[0] == "tenants":
		status = http.StatusCreated
		err = n.tenants.Create(r.Context(), path[1])
		body = []byte(`{"created":` + strconv.Quote(path[1]) + `}`)
	case method == "DELETE" && len(path) == 2 && path[0] == "tenants":
		status = http.StatusNoContent
		err = n.tenants.Delete(r.Context(), path[1])
	default:
		return serve.NotFound(r)
	}
	if err != nil {
		return failure(err)
	}
	return serve.Answer{Status: status, Body: body}
}

func is(path []string, name string) bool { return len(path) == 1 && path[0] == name }
