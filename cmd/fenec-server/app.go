package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// app is what is served.
type app struct {
	handler http.Handler
	metrics http.Handler
	surface *serve.Server

	endStreams func() // to replicas

	connections atomic.Pointer[server] // nil until there is a listener
	closers     []io.Closer            // closed from the last to the first
}

// open opens what the flags name.
func open(cfg config, stderr io.Writer, errorLog *log.Logger) (a *app, err error) {
	a = &app{endStreams: func() {}}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	opts, err := a.options(cfg, stderr, errorLog)
	if err != nil {
		return a, err
	}
	if cfg.dir != "" {
		return a, a.openDir(cfg, opts)
	}
	db, err := fenec.Open(cfg.file, cfg.db)
	if err != nil {
		return a, err
	}
	a.closers = append(a.closers, db)
	a.surface = serve.New(opts)
	a.handler, a.metrics = a.surface.Handler(db), a.surface.MetricsHandler(db)
	if cfg.warm.all || len(cfg.warm.collections) > 0 {
		a.warm(db, cfg.warm.collections, errorLog)
	}
	return a, nil
}

func (a *app) openDir(cfg config, opts serve.Options) error {
	cfg.tenants.DB, cfg.tenants.MaxMemory = cfg.db, cfg.db.MaxMemory
	cfg.tenants.KeepFiles = keptFiles + cfg.maxConnections + cfg.maxStreams
	n, err := node.Open(cfg.dir, node.Options{
		Tenants:    cfg.tenants,
		Surface:    opts,
		AdminToken: cfg.adminToken,
		Lease:      cfg.lease,

		ReplicationToken:  cfg.replicas.token,
		ReplicaOf:         cfg.replicas.primary,
		ReplicationBuffer: cfg.replicas.buffer,
		ReplicasHeld:      max(cfg.replicas.held, 0),
		ReplicaReports:    cfg.replicas.held >= 0,
	})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, n)
	a.surface, a.endStreams = n.Surface(), n.EndStreams
	a.handler, a.metrics = n, n.MetricsHandler()
	return nil
}

// keptFiles is how many file descriptors the server needs beside connections and open
// databases.
const keptFiles = 256

// warm loads graphs in the background, until it is done or the app is closed.
func (a *app) warm(db *fenec.DB, collections []string, errorLog *log.Logger) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := db.Warm(ctx, collections...); err != nil && ctx.Err() == nil {
			errorLog.Printf("--warm: %v", err)
		}
	}()
	a.closers = append(a.closers, closerFunc(func() error {
		cancel()
		<-done
		return nil
	}))
}

// close closes what was opened.
func (a *app) close() (err error) {
	for i := len(a.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, a.closers[i].Close())
	}
	return err
}

type closerFunc func() error

func (f closerFunc) Close() error { return f() }

// connectionCount returns the number of open connections.
func (a *app) connectionCount() int {
	if srv := a.connections.Load(); srv != nil {
		return (*srv).ConnCount()
	}
	return 0
}

// options returns how databases are served.
func (a *app) options(cfg config, stderr io.Writer, errorLog *log.Logger) (serve.Options, error) {
	opts := serve.Options{
		Token:            cfg.token,
		MetricsToken:     cfg.adminToken,
		ReadOnly:         cfg.readOnly,
		AllowOrigin:      cfg.cors,
		MaxStreams:       orNone(cfg.maxStreams),
		KeepAlive:        cfg.keepAlive,
		IdleTimeout:      orNone(cfg.idleTimeout),
		IdempotencyTTL:   cfg.idempotencyTTL,
		StatementTimeout: cfg.statementTimeout,
		RefusalDelay:     cfg.authDelay,
		Connections:      a.connectionCount,
		ErrorLog:         errorLog,
	}
	if cfg.slow >= 0 {
		opts.SlowLog, opts.SlowAfter = stderr, cfg.slow
	}
	if cfg.audit != "" {
		f, err := os.OpenFile(cfg.audit, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return opts, err
		}
		a.closers = append(a.closers, f)
		opts.AuditLog = f
	}
	if cfg.jwt.on() {
		var err error
		if opts.Tokens, err = cfg.jwt.open(errorLog); err != nil {
			return opts, err
		}
	}
	if cfg.otlp.url == "" {
		return opts, nil
	}
	return opts, a.trace(cfg.otlp, &opts)
}

// orNone returns what means "no limit" to the library for the 0 that means it to
// the flags.
func orNone[T ~int | ~int64](n T) T {
	if n == 0 {
		return -1
	}
	return n
}

func (a *app) trace(cfg otlpConfig, opts *serve.Options) error {
	headers := http.Header{}
	for _, h := range cfg.headers {
		headers.Add(h[0], h[1])
	}
	t, err := serve.OpenTracer(serve.TracerOptions{Endpoint: cfg.url, Exact: true, Headers: headers, Sample: cfg.sample})
	if err != nil {
		return &process.UsageError{Err: err}
	}
	a.closers = append(a.closers, t)
	opts.Tracer = t
	return nil
}
