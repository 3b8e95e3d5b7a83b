// Command cluster shows how a fenec cluster goes on when a part of it dies. It starts
// three nodes that write under leases, a router that grants them, and a second router that
// follows the first, all as processes on loopback. A client writes all the while. Then the
// node that it writes to is killed, comes back, and the router is killed.
//
// What is shown are the command lines, with which the same can be done by hand, and what
// the client sees. At the end nothing that was acknowledged is missing, or there is an
// error, and the exit code is 1. Nothing is left behind.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	var b binaries
	flag.StringVar(&b.server, "server", "bin/fenec-server", "the fenec-server binary")
	flag.StringVar(&b.shard, "shard", "bin/fenec-shard", "the fenec-shard binary")
	term := flag.Int("lease", 1, "how long leases are, in seconds")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Stdout, b, *term); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

// absolute returns the paths from everywhere, as the daemons run in a directory of their
// own.
func (b binaries) absolute() (binaries, error) {
	server, err := filepath.Abs(b.server)
	if err != nil {
		return b, err
	}
	shard, err := filepath.Abs(b.shard)
	return binaries{server, shard}, err
}
