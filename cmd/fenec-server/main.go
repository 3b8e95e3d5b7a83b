// Command fenec-server serves one database (--file), a directory of tenants
// (--dir), or a database in memory over HTTP.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/node"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	return process.Run("fenec-server", args, stderr, parse, serveUntil)
}

// grace is how long running requests get to finish when the server ends.
const grace = 2 * time.Second

// serveUntil serves until ctx ends, then lets running requests finish and
// closes what it opened.
func serveUntil(ctx context.Context, cfg config, stderr io.Writer) error {
	if cfg.ping {
		return ping(cfg.http)
	}
	errorLog := log.New(stderr, "", log.LstdFlags)
	handler, closer, err := open(cfg, errorLog)
	if err != nil {
		return err
	}
	ln, err := process.Open(cfg.http, cfg.guard())
	if err != nil {
		return errors.Join(err, closer.Close())
	}
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: time.Minute,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          errorLog,
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	process.Announce(stderr, "fenec-http", fenec.Version, ln, cfg.guard())
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
func open(cfg config, errorLog *log.Logger) (http.Handler, io.Closer, error) {
	if cfg.dir != "" {
		m, err := tenant.Open(cfg.dir, tenant.Options{DB: cfg.db, IdleClose: cfg.idleClose})
		if err != nil {
			return nil, nil, err
		}
		return node.New(m, node.Options{
			Token: cfg.token, AdminToken: cfg.adminToken, ErrorLog: errorLog,
		}), m, nil
	}
	db, err := fenec.Open(cfg.file, cfg.db)
	if err != nil {
		return nil, nil, err
	}
	return serve.New(serve.Options{Token: cfg.token, ErrorLog: errorLog}).Handler(db), db, nil
}

// ping asks a running server for its health.
func ping(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	client := http.Client{Timeout: 3 * time.Second}
	res, err := client.Get("http://" + net.JoinHostPort(host, port) + "/_health")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("health is %s", res.Status)
	}
	return nil
}
