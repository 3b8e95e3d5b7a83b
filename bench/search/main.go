// Command search measures fenec's search: near against hnswlib, usearch,
// coder/hnsw and chromem-go, match against bleve and SQLite's FTS5, and how good
// the answers of both are. It prints ratios, since those outlive the machine they
// were measured on: all sides answer the same questions about the same data, in
// turns within one run, and every figure is the median of several rounds after one
// that is thrown away.
//
// Answers that can be known are checked: near against a scan of all vectors, match
// against BM25 as the program computes it by itself.
//
// The exit code is 0 even when a goal is missed: a busy machine misses goals. It
// is 1 only when something could not be measured, or an answer was wrong. A peer
// that cannot be had is named and left out.
//
// It is for Unix, as coder/hnsw is.
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

	n         int    // vectors, and documents
	questions int    // asked of the vectors
	builds    int    // how often each index of vectors is built
	peersOnly bool   // leave fenec out
	drop      bool   // let the system forget files for part f
	node      string // the directory of the modules of Node.js, or none
	mnist     string // the directory of MNIST's files, or none
	xquad     string // the directory of XQuAD's files
	svg       string // the file that the curve is drawn to, or none
}

var parts = []report.Part[*env]{
	{Letter: "a", Title: "near, the first 10, one goroutine", Run: measureNear},
	{Letter: "b", Title: "building the index of vectors", Run: measureBuild},
	{Letter: "c", Title: "near with a filter that one row in a hundred passes", Run: measureFilter},
	{Letter: "d", Title: "match of any of three terms, the first 10", Run: measureMatch},
	{Letter: "e", Title: "quality on XQuAD, nDCG@10", Run: measureQuality},
	{Letter: "f", Title: "the first search after opening", Run: measureCold},
	{Letter: "g", Title: "memory while vectors are searched", Run: measureMemory},
	{Letter: "h", Title: "recall against latency, drawn", Run: drawCurves},
}

func main() {
	cfg := parseFlags()
	program.Main("search", func(ctx context.Context) error { return run(ctx, cfg, os.Stdout) })
}

func parseFlags() config {
	var c config
	flag.IntVar(&c.n, "n", 100_000, "vectors, and documents")
	flag.IntVar(&c.questions, "questions", 1000, "questions asked of the vectors")
	c.Bind(7, 250*time.Millisecond)
	flag.IntVar(&c.builds, "builds", 1, "how often each index of vectors is built in part b")
	flag.BoolVar(&c.peersOnly, "peers-only", false, "leave fenec out")
	flag.BoolVar(&c.drop, "drop-caches", true, "let the system forget what it holds of files in part f, which only root may")
	flag.StringVar(&c.node, "node", ".node", "directory that npm installs peers to; empty leaves them out")
	flag.StringVar(&c.mnist, "mnist", "", "directory of the MNIST files, as in the module GoMNIST; empty leaves them out")
	flag.StringVar(&c.xquad, "xquad", "../testdata/xquad", "directory of the XQuAD files, for part e")
	flag.StringVar(&c.svg, "svg", "", "file that part h draws to; empty leaves it out")
	flag.Parse()
	return c
}

// run measures the wanted parts and prints the table.
func run(ctx context.Context, cfg config, w io.Writer) error {
	b := program.Bench[*env]{
		Name:  "search",
		About: fmt.Sprintf("%d vectors and documents, FTS5 by %s", cfg.n, ftsDescription),
		Parts: parts,
		Begin: func(dir string, out *report.Report) *env { return newEnv(cfg, dir, out) },
		End:   (*env).close,
	}
	return b.Run(ctx, w, &cfg.Settings)
}
