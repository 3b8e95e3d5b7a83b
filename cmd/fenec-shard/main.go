// Command fenec-shard is the router: it knows which node holds which tenant
// and forwards each tenant's requests there.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/listen"
	"github.com/fenec-go/fenecdb/router"
)

func main() {
	// A standard error that nobody reads any more must not end the router.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], os.Stderr))
}

// The exit codes.
const (
	exitOK    = 0
	exitError = 1 // what was to be opened could not be
	exitUsage = 2 // the flags make no sense
)

// grace is how long running requests get to finish when the router ends.
const grace = 5 * time.Second

func run(args []string, stderr io.Writer) int {
	cfg, err := parse(args, stderr)
	switch {
	case errors.Is(err, errHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(stderr, "fenec-shard:", err)
		return exitUsage
	}
	// Before the start-up line, so that whoever waits for it may stop us.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := serveUntil(ctx, cfg, stderr); err != nil {
		fmt.Fprintln(stderr, "fenec-shard:", err)
		return exitError
	}
	return exitOK
}

// serveUntil serves until ctx ends, then lets running requests finish and
// closes what it opened.
func serveUntil(ctx context.Context, cfg config, stderr io.Writer) (err error) {
	ln, err := listen.Open(cfg.listen, cfg.guard())
	if err != nil {
		return err
	}
	defer ln.Close()
	dir, err := router.OpenDirectory(cfg.directory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	cfg.options.Directory = dir
	cfg.options.ErrorLog = log.New(stderr, "", log.LstdFlags)
	rt, err := router.New(cfg.options)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- rt.Serve(ln) }()
	listen.Announce(stderr, "fenec-shard", fenec.Version, ln, cfg.guard())
	select {
	case err = <-served:
		shutdown(rt)
		return err
	case <-ctx.Done():
		shutdown(rt)
		return nil
	}
}

// shutdown ends the router, and cuts off what does not finish in time.
func shutdown(rt *router.Router) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	rt.Shutdown(ctx)
}
