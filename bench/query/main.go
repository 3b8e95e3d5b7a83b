// Command query measures what fenec's statements cost against SQLite, with the
// same rows, the same indexes, prepared statements and the same durability on
// both sides. It prints ratios, since those outlive the machine they were
// measured on: both sides work in turns within one run, under the same client,
// and every figure is the median of several rounds after one that is thrown away.
// Every answer is scanned whole and compared with what is known about the rows.
//
// The exit code is 0 even when a goal is missed: a busy machine misses goals.
// It is 1 only when something could not be measured, or an answer was wrong.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/litedriver"
	"github.com/fenec-go/fenecdb/bench/internal/program"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// config is what the flags set.
type config struct {
	program.Settings

	rows  int   // rows of the tables
	big   int64 // bytes of the large database of the waits
	cache int   // MiB of page cache of a SQLite connection
}

var parts = []report.Part[*env]{
	{Letter: "a", Title: "equality on an indexed field", Run: measureEquality},
	{Letter: "b", Title: "a range of an indexed field, ordered, a page of it", Run: measurePage},
	{Letter: "c", Title: "count and sum by groups, over all rows", Run: measureGroup},
	{Letter: "d", Title: "count with a filter", Run: measureCounts},
	{Letter: "e", Title: "parents with their children, SQLite by a query for each parent", Run: measureLookup},
	{Letter: "f", Title: "in, on an indexed field", Run: measureIn},
	{Letter: "g", Title: "equality on an indexed path of a JSON field", Run: measureJSON},
	{Letter: "h", Title: "YCSB mixes, zipfian keys", Run: measureMixes},
	{Letter: "i", Title: "what a reader and a writer wait for a job beside them", Run: measureWaits},
	{Letter: "j", Title: "allocations of a prepared statement", Run: measureAllocs},
	{Letter: "k", Title: "memory held by an open database", Run: measureMemory},
}

func main() {
	cfg := parseFlags()
	program.Main("query", func(ctx context.Context) error { return run(ctx, cfg, os.Stdout) })
}

func parseFlags() config {
	var c config
	flag.IntVar(&c.rows, "rows", 1_000_000, "rows in each table, of about 200 bytes")
	c.Bind(7, 250*time.Millisecond)
	flag.Int64Var(&c.big, "big", 1000, "size of the large database of part i, MB")
	flag.IntVar(&c.cache, "sqlite-cache", 0, "page cache of each SQLite connection, MiB (default SQLite's own choice, 2)")
	flag.Parse()
	c.big *= 1_000_000
	return c
}

// run measures the wanted parts and prints the table.
func run(ctx context.Context, cfg config, w io.Writer) error {
	b := program.Bench[*env]{
		Name:  "query",
		About: fmt.Sprintf("tables of %d rows, SQLite by %s", cfg.rows, litedriver.Description),
		Parts: parts,
		Begin: func(dir string, out *report.Report) *env { return &env{config: cfg, dir: dir, out: out} },
		End:   (*env).close,
	}
	return b.Run(ctx, w, &cfg.Settings)
}
