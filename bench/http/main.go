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

	rows    int           // documents, and as many vectors
	streams int           // subscriptions at once
	idle    time.Duration // how long they are left alone before their memory is read
	server  string        // the fenec-server binary
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
	work := run
	if cfg.hosted.role != "" {
		work = host
	}
	program.Main("http", func(ctx context.Context) error { return work(ctx, cfg) })
}

func parseFlags() config {
	var c config
	flag.IntVar(&c.rows, "rows", 10_000, "documents, and as many vectors")
	c.Bind(15, 100*time.Millisecond)
	flag.IntVar(&c.streams, "streams", 10_000, "subscriptions at once, for part f")
	flag.DurationVar(&c.idle, "idle", 25*time.Second, "how long they are left alone before their memory is read")
	flag.StringVar(&c.server, "server", "../bin/fenec-server", "the fenec-server binary, for part a")
	flag.StringVar(&c.profile, "profile", "", "directory for CPU profiles of the server under each request of parts b and e")
	flag.StringVar(&c.hosted.role, "host", "", "be the process that is measured: fenec or sqlite")
	flag.StringVar(&c.hosted.file, "file", "", "its database")
	flag.StringVar(&c.hosted.sync, "sync", "250", "when its writes are on disk, as fenec-server has it")
	flag.Parse()
	return c
}

// run measures the wanted parts and prints the table.
func run(ctx context.Context, cfg config) error {
	b := program.Bench[*env]{
		Name:  "http",
		About: fmt.Sprintf("%d documents and vectors, SQLite by %s", cfg.rows, litedriver.Description),
		Parts: parts,
		Begin: func(dir string, out *report.Report) *env { return &env{config: cfg, dir: dir, out: out} },
		End:   (*env).close,
	}
	return b.Run(ctx, os.Stdout, &cfg.Settings)
}
