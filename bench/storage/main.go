// Command storage measures fenec's storage against its peers: bbolt, SQLite,
// Pebble and a bare log. It prints ratios, since those outlive the machine they
// were measured on. Both sides of a ratio are measured in turns within one run,
// under the same client, the same number of goroutines and the same load, and
// every figure is the median of several rounds after one that is thrown away.
//
// The exit code is 0 even when a goal is missed: a busy machine misses goals.
// It is 1 only when something could not be measured.
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
	rows   int           // rows of the base that puts and gets meet
	rounds int           // counted rounds of each comparison
	slice  time.Duration // how long one measure.Contender works in one round
	big    int64         // bytes of the large file of the open part
	small  int64         // bytes of the small one
	where  string        // the directory in which the databases are made
	server string        // the fenec-server binary
	shard  string        // the fenec-shard binary
	only   string        // letters of the parts to run, or all
}

var parts = []report.Part[*env]{
	{Letter: "a", Title: "a 300-byte put that waits for no fsync, one goroutine", Run: measurePuts},
	{Letter: "b", Title: "durable puts: every one on disk before it returns", Run: measureDurable},
	{Letter: "c", Title: "get by id, random ids, one goroutine", Run: measureGets},
	{Letter: "d", Title: "open, one get, close", Run: measureOpens},
	{Letter: "e", Title: "gets beside a writer of 1,000-row blocks", Run: measureReaders},
	{Letter: "f", Title: "a get over HTTP", Run: measureHTTP},
	{Letter: "g", Title: "the collector's share of the CPU under puts", Run: measureCollector},
}

func main() {
	cfg := parseFlags()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, cfg); err != nil {
		fmt.Fprintln(os.Stderr, "storage:", err)
		stop()
		os.Exit(1)
	}
}

func parseFlags() config {
	var c config
	flag.IntVar(&c.rows, "rows", 1_000_000, "rows in the base that puts and gets meet")
	flag.IntVar(&c.rounds, "rounds", 7, "counted rounds of each comparison")
	flag.DurationVar(&c.slice, "slice", 250*time.Millisecond, "how long one side works in one round")
	flag.Int64Var(&c.big, "big", 1000, "size of the large file to open, MB")
	flag.Int64Var(&c.small, "small", 10, "size of the small file to open, MB")
	flag.StringVar(&c.where, "dir", os.TempDir(), "directory for the databases; it should be on a real disk")
	flag.StringVar(&c.server, "server", "../bin/fenec-server", "the fenec-server binary, for part f")
	flag.StringVar(&c.shard, "shard", "../bin/fenec-shard", "the fenec-shard binary, for part f")
	flag.StringVar(&c.only, "only", "", "letters of the parts to run, as in a,c (default all)")
	flag.Parse()
	c.big, c.small = c.big*1_000_000, c.small*1_000_000
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
	e.out.Conditions("fenec storage bench", fmt.Sprintf("base of %d rows, %d rounds of %v a side, databases in %s, SQLite by %s",
		cfg.rows, cfg.rounds, cfg.slice, cfg.where, litedriver.Description))
	failed := report.RunParts(ctx, e.out, wanted, e)
	failed = append(failed, e.close())
	e.out.Summary()
	return errors.Join(failed...)
}
