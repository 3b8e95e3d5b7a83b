// Command fenec-shard is the router: it knows which node holds which tenant
// and forwards each tenant's requests there.
package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/router"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "ctl" {
		return ctl(args[1:], os.Stdout, stderr)
	}
	return process.Run("fenec-shard", args, stderr, parse, serveUntil)
}

// grace is how long running requests get to finish when the router ends.
const grace = 5 * time.Second

// serveUntil serves until ctx ends, then lets running requests finish and
// closes what it opened.
func serveUntil(ctx context.Context, cfg config, stderr io.Writer) (err error) {
	ln, err := process.Open(cfg.listen, cfg.guard())
	if err != nil {
		return err
	}
	defer ln.Close()
	errorLog := log.New(stderr, "", log.LstdFlags)
	serve, err := cfg.server(errorLog)
	if err != nil {
		return err
	}
	cfg.file.ErrorLog = errorLog
	dir, err := router.OpenDirectoryWith(cfg.directory, cfg.file)
	if err != nil {
		return unlessMisled(err)
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	closeFiles, err := cfg.complete(dir, errorLog)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFiles()) }()
	rt, err := router.New(cfg.options)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- serve(rt, ln) }()
	process.Announce(stderr, "fenec-shard", fenec.Version, ln, cfg.guard())
	select {
	case err = <-served:
		shutdown(rt)
		return err
	case <-ctx.Done():
		shutdown(rt)
		return nil
	}
}

// server returns how the router is served: encrypted if there is a certificate.
func (c *config) server(errorLog *log.Logger) (func(*router.Router, net.Listener) error, error) {
	if c.tls.cert == "" {
		return (*router.Router).Serve, nil
	}
	cert, err := process.LoadCertificate(c.tls.cert, c.tls.key, errorLog)
	if err != nil {
		return nil, err
	}
	return func(rt *router.Router, ln net.Listener) error { return rt.ServeTLS(ln, cert.Config()) }, nil
}

// complete puts what has to be opened into the options.
func (c *config) complete(dir *router.Directory, errorLog *log.Logger) (closeFiles func() error, err error) {
	c.options.Directory, c.options.ErrorLog = dir, errorLog
	if c.hosts.on() {
		c.options.Resolver, err = router.OpenHosts(router.HostOptions{
			Registry: dir, Domain: c.hosts.domain, File: c.hosts.file, ErrorLog: errorLog,
		})
		if err != nil {
			return nil, unlessMissing(err)
		}
	}
	if c.audit == "" {
		return func() error { return nil }, nil
	}
	f, err := os.OpenFile(c.audit, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	c.options.AuditLog = f
	return f.Close, nil
}

// unlessMissing makes an error of what a file says one of usage. One that cannot be read
// may be there another time.
func unlessMissing(err error) error {
	if errors.As(err, new(*fs.PathError)) {
		return err
	}
	return &process.UsageError{Err: err}
}

// shutdown ends the router, and cuts off what does not finish in time.
func shutdown(rt *router.Router) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	rt.Shutdown(ctx)
}
