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
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/litedriver"
	"github.com/fenec-go/fenecdb/bench/internal/program"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// config is what the flags set.
type config struct {
	program.Settings

	rows   int    // rows of the base that puts and gets meet
	big    int64  // bytes of the large file of the open part
	small  int64  // bytes of the small one
	server string // the fenec-server binary
	shard  string // the fenec-shard binary
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
	program.Main("storage", func(ctx context.Context) error { return run(ctx, cfg) })
}

func parseFlags() config {
	var c config
	flag.IntVar(&c.rows, "rows", 1_000_000, "rows in the base that puts and gets meet")
	c.Bind(7, 250*time.Millisecond)
	flag.Int64Var(&c.big, "big", 1000, "size of the large file to open, MB")
	flag.Int64Var(&c.small, "small", 10, "size of the small file to open, MB")
	flag.StringVar(&c.server, "server", "../bin/fenec-server", "the fenec-server binary, for part f")
	flag.StringVar(&c.shard, "shard", "../bin/fenec-shard", "the fenec-shard binary, for part f")
	flag.Parse()
	c.big, c.small = c.big*1_000_000, c.small*1_000_000
	return c
}

// run measures the wanted parts and prints the table.
func run(ctx context.Context, cfg config) error {
	b := program.Bench[*env]{
		Name:  "storage",
		About: fmt.Sprintf("base of %d rows, SQLite by %s", cfg.rows, litedriver.Description),
		Parts: parts,
		Begin: func(dir string, out *report.Report) *env { return &env{config: cfg, dir: dir, out: out} },
		End:   (*env).close,
	}
	return b.Run(ctx, os.Stdout, &cfg.Settings)
}
