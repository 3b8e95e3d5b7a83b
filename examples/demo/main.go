// Command demo shows a small fenec cluster at work: a router and two nodes on
// loopback ports that the system chooses, three tenants, and the paragraphs and
// questions of XQuAD in English and Turkish. It asks ten things of them and
// prints each as the curl line that asks it, followed by the answer.
//
// Without -once the cluster stays up until Ctrl-C. Nothing is left behind: the
// databases live in a temporary directory. The exit code is 1 when an answer is
// not the expected one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

type config struct {
	server, shard string // the daemons' binaries
	data          string // directory of the XQuAD files
	once          bool   // end after the questions
}

func main() {
	var c config
	flag.StringVar(&c.server, "server", "bin/fenec-server", "the fenec-server binary")
	flag.StringVar(&c.shard, "shard", "bin/fenec-shard", "the fenec-shard binary")
	flag.StringVar(&c.data, "data", "testdata/xquad", "directory of the XQuAD files")
	flag.BoolVar(&c.once, "once", false, "end after the questions instead of staying up")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, c); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run is the whole show. However it ends, the daemons are stopped and their
// directory is removed.
func run(ctx context.Context, c config) (err error) {
	p := newPrinter(os.Stdout)
	p.title("fenec: one router, two nodes, three tenants")

	cl, err := startCluster(ctx, c)
	defer func() { err = errors.Join(err, cl.stop()) }()
	if err != nil {
		return err
	}
	p.cluster(cl)

	tenants, err := prepare(ctx, p, cl, c.data)
	if err != nil {
		return err
	}
	if err := ask(ctx, p, cl, questions(tenants)); err != nil {
		return err
	}
	if c.once {
		return nil
	}
	p.staysUp(cl)
	return cl.wait(ctx)
}
