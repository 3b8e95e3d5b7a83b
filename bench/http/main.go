// Command http measures what fenec's HTTP surface costs: requests against
// constants of the same size answered by the same process, and against SQLite
// behind net/http; tokens, idempotency keys, and many subscriptions. It prints
// ratios, since those outlive the machine they were measured on. The sides of a
// ratio are measured in turns within one run, under the same client, and every
// figure is the median of several rounds after one that is thrown away.
//
// What is measured runs in processes of its own, which this program starts from
// its own binary, so that their CPU time and memory can be told from those of
// the clients.
//
// The exit code is 0 even when a goal is missed: a busy machine misses goals. It
// is 1 only when something could not be measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/litedriver"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// config is what the flags set.
type config struct {
	rows    int           // documents, and as many vectors
	rounds  int           // counted rounds of each comparison
	slice   time.Duration // how long one side works in one round
	streams int           // subscriptions at once
	idle    time.Duration // how long they are left alone before their memory is read
	where   string        // the directory in which the databases are made
	server  string        // the fenec-server binary
	only    string        // letters of the parts to run, or all
	profile string        // directory for profiles of the requests, or none

	hosted hosted // of a process that is measured
}

var parts = []report.Part[*env]{
	{Letter: "a", Title: "one kept-alive client, p50, against a constant of the same size", Run: measureLatency},
	{Letter: "b", Title: "CPU time of the server a request, against the constant's", Run: measureCPU},
	{Letter: "c", Title: "against SQLite behind net/http (peer / ours)", Run: measureSQLite},
	{Letter: "d", Title: "tokens", Run: measureTokens},
	{Letter: "e", Title: "a put under an idempotency key, against a plain one", Run: measureKeyed},
	{Letter: "f", Title: "idle subscriptions of one server", Run: measureStreams},
}

func main() {
	cfg := parseFlags()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	work := run
	if cfg.hosted.role != "" {
		work = host
	}
	if err := work(ctx, cfg); err != nil {
		fmt.Fprintln(os.Stderr, "http:", err)
		stop()
		os.Exit(1)
	}
}

func parseFlags() config {
	var c config
	flag.IntVar(&c.rows, "rows", 10_000, "documents, and as many vectors")
	flag.IntVar(&c.rounds, "rounds", 15, "counted rounds of each comparison")
	flag.DurationVar(&c.slice, "slice", 100*time.Millisecond, "how long one side works in one round")
	flag.IntVar(&c.streams, "streams", 10_000, "subscriptions at once, for part f")
	flag.DurationVar(&c.idle, "idle", 25*time.Second, "how long they are left alone before their memory is read")
	flag.StringVar(&c.where, "dir", os.TempDir(), "directory for the databases; it should be on a real disk")
	flag.StringVar(&c.server, "server", "../bin/fenec-server", "the fenec-server binary, for part a")
	flag.StringVar(&c.only, "only", "", "letters of the parts to run, as in a,c (default all)")
	flag.StringVar(&c.profile, "profile", "", "directory for CPU profiles of the server under each request of parts b and e")
	flag.StringVar(&c.hosted.role, "host", "", "be the process that is measured: fenec or sqlite")
	flag.StringVar(&c.hosted.file, "file", "", "its database")
	flag.StringVar(&c.hosted.sync, "sync", "250", "when its writes are on disk, as fenec-server has it")
	flag.Parse()
	return c
}

// run measures the wanted parts and prints the table. A part that fails does
// not stop the ones after it.
func run(ctx context.Context, cfg config) error {
	wanted, err := report.Choose(parts, cfg.only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(cfg.where, "fenec-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	e := &env{config: cfg, dir: dir, out: report.New(os.Stdout)}
	e.out.Conditions("fenec http bench", fmt.Sprintf("%d documents and vectors, %d rounds of %v a side, databases in %s, SQLite by %s",
		cfg.rows, cfg.rounds, cfg.slice, cfg.where, litedriver.Description))
	failed := report.RunParts(ctx, e.out, wanted, e)
	failed = append(failed, e.close())
	e.out.Summary()
	return errors.Join(failed...)
}
