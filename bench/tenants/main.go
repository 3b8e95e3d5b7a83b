// Command tenants measures what a directory of tenants costs: a large one, those
// that come, those that are opened and closed all the time, and those that are open
// and idle. Most figures are held against a bound and not against a peer.
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
	"syscall"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// config is what the flags set.
type config struct {
	tenants int           // in the large directory
	open    int           // databases to be open at once
	rounds  int           // counted rounds of each figure
	slice   time.Duration // how long one round works
	samples int           // opens of a cold tenant that a percentile is taken of
	small   int64         // bytes of the small tenant that is opened
	big     int64         // bytes of the large one; 0 leaves it out
	where   string        // the directory in which the tenants are made
	only    string        // letters of the parts to run, or all
}

var parts = []report.Part[*env]{
	{Letter: "a", Title: "opening a large directory", Run: measureDirectory},
	{Letter: "b", Title: "making tenants", Run: measureCreate},
	{Letter: "c", Title: "the first answer of a tenant that is closed, p99, files in memory", Run: measureCold},
	{Letter: "d", Title: "many requests at once for one closed tenant", Run: measureHerd},
	{Letter: "e", Title: "many open tenants that nobody uses", Run: measureOpen},
	{Letter: "f", Title: "Acquire and Release of an open tenant", Run: measureHot},
	{Letter: "g", Title: "tenants opened a second, working set 4 times MaxOpen", Run: measureChurn},
	{Letter: "h", Title: "small reads of a tenant beside one that scans", Run: measureFairness},
}

func main() {
	cfg := parseFlags()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, cfg, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tenants:", err)
		stop()
		os.Exit(1)
	}
}

func parseFlags() config {
	var c config
	flag.IntVar(&c.tenants, "tenants", 100_000, "tenants in the large directory, for parts a and b")
	flag.IntVar(&c.open, "open", 10_000, "databases open at once, for part e")
	flag.IntVar(&c.rounds, "rounds", 7, "counted rounds of each figure")
	flag.DurationVar(&c.slice, "slice", 200*time.Millisecond, "how long one round works")
	flag.IntVar(&c.samples, "samples", 500, "opens that a percentile is taken of, for part c")
	small := flag.Int64("small", 10, "size in MB of the small tenant, for part c")
	big := flag.Int64("big", 0, "size in MB of a large one, as 1000, which takes minutes to make; 0 for none")
	flag.StringVar(&c.where, "dir", os.TempDir(), "directory for the tenants; it should be on a real disk")
	flag.StringVar(&c.only, "only", "", "letters of the parts to run, as in a,c (default all)")
	flag.Parse()
	c.small, c.big = *small*1e6, *big*1e6
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
	e := &env{config: cfg, dir: dir, out: report.New(w), made: map[int]string{}}
	e.out.Conditions("fenec tenants bench", fmt.Sprintf("%d rounds of %v, tenants in %s", cfg.rounds, cfg.slice, cfg.where))
	failed := report.RunParts(ctx, e.out, wanted, e)
	e.out.Summary()
	return errors.Join(failed...)
}
