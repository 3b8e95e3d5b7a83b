package main

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// face is the HTTP surface of one database, with what replicas ask for beside it.
type face struct {
	server *serve.Server
	source serve.Source
	opts   replicasConfig
	file   *replicated // nil for a database that takes no part in replication
	ended  atomic.Bool
}

// ServeHTTP answers one request.
func (f *face) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !f.server.Begin(w, r) {
		return
	}
	path := serve.Segments(r.URL)
	switch {
	case len(path) == 1 && path[0] == "_ready" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		f.ready().Write(w, r)
	case len(path) > 0 && path[0] == "_replication":
		f.serveReplication(w, r, path[1:])
	default:
		f.serve(w, r, path)
	}
}

// ready answers whether requests are taken, and a replica has been in touch with its
// primary, or tried. It needs no token and waits for nothing.
func (f *face) ready() serve.Answer {
	switch {
	case f.ended.Load():
		return serve.Fail(http.StatusServiceUnavailable, "the server is being closed")
	case f.file != nil && f.file.pending():
		return serve.Fail(http.StatusServiceUnavailable, "the replica has not been in touch with its primary")
	}
	return serve.Health()
}

// end says that the server is about to end: requests go on, streams to replicas do not.
func (f *face) end() {
	f.ended.Store(true)
	if f.file != nil {
		f.file.endStreams()
	}
}

// serve answers a request for the database.
func (f *face) serve(w http.ResponseWriter, r *http.Request, path []string) {
	source := f.source
	if asked := r.Header.Get("Fenec-Replicas"); asked != "" {
		copies, err := mirror.ParseCopies(asked, max(f.opts.held, 0))
		if err != nil {
			f.server.Send(w, r, serve.Fail(http.StatusBadRequest, err.Error()))
			return
		}
		if copies > 0 && f.opts.held < 0 {
			source.Open = unreported(source.Open)
		}
		r = r.WithContext(mirror.WithHeld(r.Context(), copies))
	}
	f.server.Serve(w, r, path, source)
}

// unreported has a request's writes refused that are to wait for replicas.
func unreported(open func(context.Context) (*serve.Use, *serve.Answer)) func(context.Context) (*serve.Use, *serve.Answer) {
	return func(ctx context.Context) (*serve.Use, *serve.Answer) {
		use, refusal := open(ctx)
		if use == nil {
			return nil, refusal
		}
		own := *use // others may have the same
		own.Writes = func() error { return mirror.ErrNoReports }
		return &own, nil
	}
}

// refuse answers what became of writes that replication has to do with.
func refuse(err error) (serve.Answer, bool) { return node.Refuse(err) }

// serveReplication answers a request below /_replication, for who carries the token.
func (f *face) serveReplication(w http.ResponseWriter, r *http.Request, path []string) {
	if f.file == nil || !f.opts.token.Opens(serve.Bearer(r.Header)) {
		f.server.Refused(w, r)
		serve.Unauthorized().Write(w, r)
		return
	}
	answer := func(w http.ResponseWriter, r *http.Request) { f.file.source.Load().Serve(w, r, path) }
	if len(path) == 1 && path[0] == "promote" {
		f.server.Administers(w, r, answer)
		return
	}
	answer(w, r)
}

// metrics answers /_metrics and nothing else, for a listener of its own.
func (f *face) metrics(w http.ResponseWriter, r *http.Request) {
	if !serve.Begin(w, r) {
		return
	}
	path := serve.Segments(r.URL)
	if len(path) == 1 && path[0] == "_metrics" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		f.server.Serve(w, r, path, f.source)
		return
	}
	f.server.Send(w, r, serve.NotFound(r))
}

// always gives a database that stays open for as long as anybody asks.
func always(db *fenec.DB) func(context.Context) (*serve.Use, *serve.Answer) {
	use := &serve.Use{DB: db, Release: func() {}, Refuse: refuse}
	return func(context.Context) (*serve.Use, *serve.Answer) { return use, nil }
}
