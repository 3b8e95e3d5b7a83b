// Package program is what the benches have in common as programs: the flags that
// each of them has, how they end, and the run of their parts.
package program

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

// Settings are the flags that each bench has.
type Settings struct {
	Rounds int           // counted rounds of each comparison
	Slice  time.Duration // how long one side works in one round, at least
	Where  string        // the directory in which the databases are made
	Only   string        // letters of the parts to run, or all
}

// Bind declares the flags, with the bench's own defaults.
func (s *Settings) Bind(rounds int, slice time.Duration) {
	flag.IntVar(&s.Rounds, "rounds", rounds, "counted rounds of each comparison")
	flag.DurationVar(&s.Slice, "slice", slice, "how long one side works in one round")
	flag.StringVar(&s.Where, "dir", os.TempDir(), "directory for the databases; it should be on a real disk")
	flag.StringVar(&s.Only, "only", "", "letters of the parts to run, as in a,c (default all)")
}

// Main runs a bench until it is done or interrupted, and ends the program if it
// fails.
func Main(name string, run func(ctx context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		stop()
		os.Exit(1)
	}
}

// Bench is a bench of several parts, which share an E.
type Bench[E any] struct {
	Name  string // as in "fenec query bench"
	About string // what its figures depend on besides the settings
	Parts []report.Part[E]

	// Begin makes what the parts share, in a directory of its own, and End, unless it
	// is nil, takes it down.
	Begin func(dir string, out *report.Report) E
	End   func(E) error
}

// Run measures the wanted parts and prints the table. A part that fails does not
// stop the ones after it.
func (b *Bench[E]) Run(ctx context.Context, w io.Writer, s *Settings) error {
	wanted, err := report.Choose(b.Parts, s.Only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(s.Where, "fenec-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out := report.New(w)
	out.Conditions("fenec "+b.Name+" bench", fmt.Sprintf("%s, %d rounds of %v a side, in %s", b.About, s.Rounds, s.Slice, s.Where))
	e := b.Begin(dir, out)
	failed := report.RunParts(ctx, out, wanted, e)
	if b.End != nil {
		failed = append(failed, b.End(e))
	}
	out.Summary()
	return errors.Join(failed...)
}
