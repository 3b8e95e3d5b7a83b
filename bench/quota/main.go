// Command quota measures what limits cost those who stay within them: a put in a
// program, and reads and writes over HTTP, with limits against without, in turns.
//
// The exit code is 0 even when a goal is missed: a busy machine misses goals. It
// is 1 only when something could not be measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// config is what the flags set.
type config struct {
	rounds int           // counted rounds of each comparison
	slice  time.Duration // how long one side works in one round
	where  string        // the directory in which the databases are made
	server string        // the fenec-server binary
	only   string        // letters of the parts to run, or all
}

// env is what the parts share.
type env struct {
	config
	dir string
	out *report.Report
}

func (e *env) path(name string) string { return filepath.Join(e.dir, name) }

var parts = []report.Part[*env]{
	{Letter: "a", Title: "a put in a program, against one without a thought of quotas", Run: measurePuts},
	{Letter: "b", Title: "one kept-alive client, p50, every limit set against none", Run: measureHTTP},
}

func main() {
	cfg := parseFlags()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, cfg, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quota:", err)
		stop()
		os.Exit(1)
	}
}

func parseFlags() config {
	var c config
	flag.IntVar(&c.rounds, "rounds", 101, "counted rounds of each comparison")
	flag.DurationVar(&c.slice, "slice", 20*time.Millisecond, "how long one side works in one round")
	flag.StringVar(&c.where, "dir", os.TempDir(), "directory for the databases; it should be on a real disk")
	flag.StringVar(&c.server, "server", "../bin/fenec-server", "the fenec-server binary, for part b")
	flag.StringVar(&c.only, "only", "", "letters of the parts to run, as in a,b (default all)")
	flag.Parse()
	return c
}

// run measures the wanted parts and prints the table. A part that fails does
// not stop the ones after it.
func run(ctx context.Context, cfg config, w io.Writer) error {
	wanted, err := report.Choose(parts, cfg.only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(cfg.where, "fenec-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e := &env{config: cfg, dir: dir, out: report.New(w)}
	e.out.Conditions("fenec quota bench", fmt.Sprintf("%d rounds of %v a side, databases in %s", cfg.rounds, cfg.slice, cfg.where))
	failed := report.RunParts(ctx, e.out, wanted, e)
	e.out.Summary()
	return errors.Join(failed...)
}
