// Command tenants measures what a directory of tenants costs: a large one, those
// that come, those that are opened and closed all the time, and those that are open
// and idle. Most figures are held against a bound and not against a peer.
//
// The exit code is 0 even when a goal is missed: a busy machine misses goals. It
// is 1 only when something could not be measured.
package main

import (
	"context"
	"flag"
	"io"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/program"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// config is what the flags set.
type config struct {
	program.Settings

	tenants int   // in the large directory
	open    int   // databases to be open at once
	samples int   // opens of a cold tenant that a percentile is taken of
	small   int64 // bytes of the small tenant that is opened
	big     int64 // bytes of the large one; 0 leaves it out
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
	program.Main("tenants", func(ctx context.Context) error { return run(ctx, cfg, os.Stdout) })
}

func parseFlags() config {
	var c config
	flag.IntVar(&c.tenants, "tenants", 100_000, "tenants in the large directory, for parts a and b")
	flag.IntVar(&c.open, "open", 10_000, "databases open at once, for part e")
	c.Bind(7, 200*time.Millisecond)
	flag.IntVar(&c.samples, "samples", 500, "opens that a percentile is taken of, for part c")
	small := flag.Int64("small", 10, "size in MB of the small tenant, for part c")
	big := flag.Int64("big", 0, "size in MB of a large one, as 1000, which takes minutes to make; 0 for none")
	flag.Parse()
	c.small, c.big = *small*1e6, *big*1e6
	return c
}

// run measures the wanted parts and prints the table.
func run(ctx context.Context, cfg config, w io.Writer) error {
	b := program.Bench[*env]{
		Name:  "tenants",
		About: "one process",
		Parts: parts,
		Begin: func(dir string, out *report.Report) *env {
			return &env{config: cfg, dir: dir, out: out, made: map[int]string{}}
		},
	}
	return b.Run(ctx, w, &cfg.Settings)
}
