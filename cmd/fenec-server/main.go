// Command fenec-server serves one database (--file), a directory of tenants
// (--dir), or a database in memory over HTTP.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/listen"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// The exit codes.
const (
	exitOK    = 0
	exitError = 1 // what was to be opened could not be
	exitUsage = 2 // the flags make no sense
)

// grace is how long running requests get to finish when the server ends.
const grace = 2 * time.Second

func run(args []string, stderr io.Writer) int {
	cfg, err := parse(args, stderr)
	switch {
	case errors.Is(err, errHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, "fenec-server:", err)
		return exitUsage
	}
	if cfg.ping {
		return ping(cfg.http, stderr)
	}
	// Before the start-up line, so that whoever waits for it may stop us.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := serveUntil(ctx, cfg, stderr); err != nil {
		fmt.Fprintln(stderr, "fenec-server:", err)
		return exitError
	}
	return exitOK
}

// serveUntil serves until ctx ends, then lets running requests finish and
// closes what it opened.
func serveUntil(ctx context.Context, cfg config, stderr io.Writer) error {
	handler, closer, err := open(cfg)
	if err != nil {
		return err
	}
	ln, err := listen.Open(cfg.http, cfg.guard())
	if err != nil {
		return errors.Join(err, closer.Close())
	}
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: time.Minute,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	listen.Announce(stderr, "fenec-http", fenec.Version, ln, cfg.guard())
	select {
	case err = <-served:
	case <-ctx.Done():
		err = shutdown(srv)
	}
	return errors.Join(err, closer.Close())
}

func shutdown(srv *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := srv.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		return srv.Close()
	} else if err != nil {
		return err
	}
	return nil
}

// open opens what is to be served.
func open(cfg config) (http.Handler, io.Closer, error) {
	if cfg.dir != "" {
		m, err := tenant.Open(cfg.dir, tenant.Options{DB: cfg.db, IdleClose: cfg.idleClose})
		if err != nil {
			return nil, nil, err
		}
		return node.New(m, node.Options{Token: cfg.token, AdminToken: cfg.adminToken}), m, nil
	}
	db, err := fenec.Open(cfg.file, cfg.db)
	if err != nil {
		return nil, nil, err
	}
	return serve.New(serve.Options{Token: cfg.token}).Handler(db), db, nil
}

// ping asks a running server for its health.
func ping(addr string, stderr io.Writer) int {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		fmt.Fprintln(stderr, "fenec-server:", err)
		return exitUsage
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	client := http.Client{Timeout: 3 * time.Second}
	res, err := client.Get("http://" + net.JoinHostPort(host, port) + "/_health")
	if err != nil {
		fmt.Fprintln(stderr, "fenec-server:", err)
		return exitError
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		fmt.Fprintln(stderr, "fenec-server: health is", res.Status)
		return exitError
	}
	return exitOK
}
