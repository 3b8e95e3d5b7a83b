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

	ending func() // tells what is served that the server is about to end

	connections atomic.Pointer[server] // nil until there is a listener
	closers     []io.Closer            // closed from the last to the first
}

// open opens what the flags name.
func open(cfg config, stderr io.Writer, errorLog *log.Logger) (a *app, err error) {
	a = &app{}
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
	a.surface = serve.New(opts)
	return a, a.openFile(cfg, errorLog)
}

// openFile opens a single database, which may be one in memory.
func (a *app) openFile(cfg config, errorLog *log.Logger) error {
	f := &face{server: a.surface, opts: cfg.replicas}
	warm := func(db *fenec.DB) (stop func()) { return cfg.warm.begin(db, errorLog) }
	if cfg.replicas.token.IsZero() {
		db, err := fenec.Open(cfg.file, cfg.db)
		if err != nil {
			return err
		}
		a.closers = append(a.closers, db)
		if err := takesWrites(db, cfg.replicas.promote, errorLog); err != nil {
			return err
		}
		f.source.Open = always(db)
		a.closers = append(a.closers, stopper(warm(db)))
	} else {
		file, err := openReplicated(cfg, errorLog, warm)
		if err != nil {
			return err
		}
		a.closers = append(a.closers, file)
		f.file = file
		f.source.Open, f.source.Figures = file.open, file.figures
	}
	a.handler, a.metrics, a.ending = f, http.HandlerFunc(f.metrics), f.end
	return nil
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
	a.surface, a.ending = n.Surface(), n.EndStreams
	a.handler, a.metrics = n, n.MetricsHandler()
	return nil
}

// keptFiles is how many file descriptors the server needs beside connections and open
// databases.
const keptFiles = 256

// begin loads graphs in the background, until it is done or stop is called.
func (w warmth) begin(db *fenec.DB, errorLog *log.Logger) (stop func()) {
	if !w.all && len(w.collections) == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := db.Warm(ctx, w.collections...); err != nil && ctx.Err() == nil {
			errorLog.Printf("--warm: %v", err)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// close closes what was opened.
func (a *app) close() (err error) {
	for i := len(a.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, a.closers[i].Close())
	}
	return err
}

// stopper is a closer that cannot fail.
type stopper func()

func (f stopper) Close() error {
	f()
	return nil
}

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
