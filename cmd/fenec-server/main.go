// Command fenec-server serves one database (--file), a directory of tenants
// (--dir), or a database in memory over HTTP.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/fenec-go/fenecdb/internal/process"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	return process.Run("fenec-server", args, stderr, parse, serveUntil)
}

// grace is how long running requests get to finish when the server ends.
const grace = 2 * time.Second

// serveUntil serves until ctx ends, then lets running requests finish and
// closes what it opened.
func serveUntil(ctx context.Context, cfg config, stderr io.Writer) (err error) {
	switch {
	case cfg.ping:
		return ping(cfg)
	case cfg.jwt.mint != "":
		return mint(cfg.jwt, os.Stdout)
	}
	errorLog := log.New(stderr, "", log.LstdFlags)
	app, err := open(cfg, stderr, errorLog)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, app.close()) }()
	srv, err := newServer(cfg, app, errorLog)
	if err != nil {
		return err
	}
	app.connections.Store(&srv)
	ln, err := process.Open(cfg.listen, cfg.guard())
	if err != nil {
		return err
	}
	served := make(chan error, 2)
	if cfg.metrics != "" {
		stop, err := serveMetrics(cfg, app.metrics, stderr, served)
		if err != nil {
			return errors.Join(err, ln.Close())
		}
		defer stop()
	}
	go func() { served <- srv.Serve(ln) }()
	process.Announce(stderr, "fenec-http", fenec.Version, ln, cfg.guard())
	select {
	case err := <-served:
		return errors.Join(err, srv.Close())
	case <-ctx.Done():
		app.ending()
		return errors.Join(app.surface.Close(), shutdown(srv))
	}
}

// serveMetrics serves the metrics on a listener of their own until stop is called.
func serveMetrics(cfg config, h http.Handler, stderr io.Writer, served chan<- error) (stop func() error, err error) {
	guard := process.Guard{
		Token:     !cfg.token.IsZero() || !cfg.adminToken.IsZero(),
		Insecure:  cfg.insecure,
		TokenFlag: "--http-token or --admin-token",
	}
	ln, err := process.Open(cfg.metrics, guard)
	if err != nil {
		return nil, err
	}
	srv := http1.NewServer(h, http1.ServerOptions{MaxConnections: 16, IdleTimeout: cfg.idleTimeout})
	go func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			served <- err
		}
	}()
	process.AnnounceMetrics(stderr, ln, guard)
	return srv.Close, nil
}

func shutdown(srv server) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := srv.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return srv.Close()
}
