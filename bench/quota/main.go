// Command quota measures what limits cost those who stay within them: a put in a
// program, and reads and writes over HTTP, with limits against without, in turns.
//
// The exit code is 0 even when a goal is missed: a busy machine misses goals. It
// is 1 only when something could not be measured.
package main

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/program"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// config is what the flags set.
type config struct {
	program.Settings

	server string // the fenec-server binary
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
	program.Main("quota", func(ctx context.Context) error { return run(ctx, cfg, os.Stdout) })
}

func parseFlags() config {
	var c config
	c.Bind(101, 20*time.Millisecond)
	flag.StringVar(&c.server, "server", "../bin/fenec-server", "the fenec-server binary, for part b")
	flag.Parse()
	return c
}

// run measures the wanted parts and prints the table.
func run(ctx context.Context, cfg config, w io.Writer) error {
	b := program.Bench[*env]{
		Name:  "quota",
		About: "a put and a get",
		Parts: parts,
		Begin: func(dir string, out *report.Report) *env { return &env{config: cfg, dir: dir, out: out} },
	}
	return b.Run(ctx, w, &cfg.Settings)
}
