// Command fenec-shard is the router: it knows which node holds which tenant
// and forwards each tenant's requests there.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/internal/process"
	"github.com/fenec-go/fenecdb/router"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

func run(args []string, stderr io.Writer) int {
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

// shutdown ends the router, and cuts off what does not finish in time.
func shutdown(rt *router.Router) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	rt.Shutdown(ctx)
}
