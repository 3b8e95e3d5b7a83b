// Command shard measures what a router in front of nodes costs: the hop that it adds
// to a request, beside those of nginx and HAProxy, the CPU time of that, a tenant's
// move from one node to another, and a large directory of placements. The sides of a
// ratio are measured in turns within one run, under the same client.
//
// From part e on it measures replication: how far replicas are behind, and how long
// tenants are without writes whose node is lost.
//
// Whatever answers or forwards in parts a to c runs in a process of its own. Those that
// are not installed are named and left out. From part e on all is in this process, over
// loopback.
//
// The exit code is 0 even when a goal is missed: a busy machine misses goals. It
// is 1 only when something could not be measured.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/program"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// config is what the flags set.
type config struct {
	program.Settings

	requests int           // of one side in one turn of part a
	vectors  int           // of the tenant that moves
	dim      int           // components of each
	built    bool          // create their index over them, and not before they come
	moves    int           // counted
	tenants  int           // in the large directory
	term     time.Duration // of the leases in parts h and i
	crowd    int           // tenants of the node that is failed over in part i
	server   string
	shard    string

	constant string // of a process that answers it: the file that says what
}

var parts = []report.Part[*env]{
	{Letter: "a", Title: "one kept-alive client, a get of one document", Run: measureLatency},
	{Letter: "b", Title: "many clients at once, the same get", Run: measureThroughput},
	{Letter: "c", Title: "moving a tenant", Run: measureMove},
	{Letter: "d", Title: "a large directory", Run: measureDirectory},
	{Letter: "e", Title: "a pair: 20 tenants with their replicas on a standby", Run: measurePair},
	{Letter: "f", Title: "a new replica", Run: measureCatchUp},
	{Letter: "g", Title: "30 tenants on three nodes, each with a replica on another", Run: measureSpread},
	{Letter: "h", Title: "automatic failover of a node that is cut off", Run: measureAutomatic},
	{Letter: "i", Title: "automatic failover of many tenants at once", Run: measureCrowd},
	{Letter: "j", Title: "a second router that follows", Run: measureStandby},
}

func main() {
	cfg := parseFlags()
	work := func(ctx context.Context) error { return run(ctx, cfg, os.Stdout) }
	if cfg.constant != "" {
		work = func(ctx context.Context) error { return serveConstant(ctx, cfg.constant) }
	}
	program.Main("shard", work)
}

func parseFlags() config {
	var c config
	c.Bind(10, 300*time.Millisecond)
	flag.IntVar(&c.requests, "requests", 500, "requests of one side in one round, for part a")
	flag.IntVar(&c.vectors, "vectors", 100_000, "vectors of the tenant that moves, for part c, and that is replicated, for part f")
	flag.IntVar(&c.dim, "dim", 128, "components of each")
	flag.BoolVar(&c.built, "built", false, "create their index once they are there, not before")
	flag.IntVar(&c.moves, "moves", 4, "counted moves, for part c, and images, for part f")
	flag.IntVar(&c.tenants, "tenants", 100_000, "tenants in the large directory, for parts d and j")
	flag.DurationVar(&c.term, "term", time.Second, "length of a lease, for parts h and i")
	flag.IntVar(&c.crowd, "crowd", 1000, "tenants in one failover, for part i")
	flag.StringVar(&c.server, "server", "../bin/fenec-server", "the fenec-server binary")
	flag.StringVar(&c.shard, "shard", "../bin/fenec-shard", "the fenec-shard binary")
	flag.StringVar(&c.constant, "constant", "", "be a net/http server of the answer in this file")
	flag.Parse()
	return c
}

// run measures the wanted parts and prints the table.
func run(ctx context.Context, cfg config, w io.Writer) error {
	b := program.Bench[*env]{
		Name:  "shard",
		About: fmt.Sprintf("%d requests a round, a move of %d vectors of %d", cfg.requests, cfg.vectors, cfg.dim),
		Parts: parts,
		Begin: func(dir string, out *report.Report) *env { return &env{config: cfg, dir: dir, out: out} },
	}
	return b.Run(ctx, w, &cfg.Settings)
}
