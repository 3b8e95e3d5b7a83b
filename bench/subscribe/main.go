// Command subscribe measures what subscriptions cost while nothing happens to
// what they follow: the memory of many that wait, each in a goroutine of its own,
// and a write beside them against the same write without them. It also tells how
// long it takes until all of them have heard of a write.
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
	"path/filepath"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/program"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

// config is what the flags set.
type config struct {
	subscribers int
	rounds      int           // counted rounds
	slice       time.Duration // how long one side works in one round
	where       string        // the directory in which the databases are made
}

func main() {
	var c config
	flag.IntVar(&c.subscribers, "subscribers", 10_000, "subscriptions that wait")
	flag.IntVar(&c.rounds, "rounds", 7, "counted rounds of each comparison")
	flag.DurationVar(&c.slice, "slice", 500*time.Millisecond, "how long one side works in one round")
	flag.StringVar(&c.where, "dir", os.TempDir(), "directory for the databases; it should be on a real disk")
	flag.Parse()
	program.Main("subscribe", func(ctx context.Context) error { return run(ctx, c, os.Stdout) })
}

func run(ctx context.Context, c config, w io.Writer) error {
	dir, err := os.MkdirTemp(c.where, "fenec-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out := report.New(w)
	out.Conditions("fenec subscribe bench", fmt.Sprintf("%d subscribers, %d rounds of %v a side, databases in %s",
		c.subscribers, c.rounds, c.slice, c.where))
	b := bench{config: c, out: out}
	err = b.measure(ctx, dir)
	out.Summary()
	return err
}

// bench is two databases, of which one has subscribers.
type bench struct {
	config
	out            *report.Report
	followed, bare *database
	crowd          *crowd
}

func (b *bench) measure(ctx context.Context, dir string) (err error) {
	if b.bare, err = newDatabase(ctx, filepath.Join(dir, "bare.fenec")); err != nil {
		return err
	}
	defer b.bare.Close()
	if b.followed, err = newDatabase(ctx, filepath.Join(dir, "followed.fenec")); err != nil {
		return err
	}
	defer b.followed.Close()

	before := held()
	if b.crowd, err = gather(ctx, b.followed.DB, b.subscribers); err != nil {
		return err
	}
	defer b.crowd.leave()
	b.reportMemory(before)
	if err := b.reportWrites(ctx); err != nil {
		return err
	}
	return errors.Join(b.reportHearing(ctx), b.crowd.leave())
}

// memoryBound is what ten thousand subscribers may take up, and so many more or
// fewer in proportion.
const memoryBound = 100 << 20

func (b *bench) reportMemory(before int64) {
	b.out.Part("a", "memory of subscribers that wait, their goroutines included")
	took := float64(held() - before)
	bound := float64(memoryBound) / 10_000 * float64(b.subscribers)
	b.out.Line(fmt.Sprintf("%d subscribers of one collection", b.subscribers), report.Size, took, bound, took/bound, report.AtMost(1))
}

func (b *bench) reportWrites(ctx context.Context) error {
	b.out.Part("b", "a write to another collection beside them, against one without them")
	for _, documents := range []int{1, 1000} {
		sides := []measure.Contender{
			{Name: "beside", Slice: func() (float64, error) { return b.followed.puts(ctx, b.slice, documents) }},
			{Name: "without", Slice: func() (float64, error) { return b.bare.puts(ctx, b.slice, documents) }},
		}
		ns, err := measure.Interleave(ctx, b.rounds, sides)
		if err != nil {
			return err
		}
		b.out.Line(fmt.Sprintf("put of %d documents", documents), report.Duration, ns[0], ns[1], ns[0]/ns[1], report.AtMost(1.3))
	}
	return nil
}

// reportHearing tells how long it takes until everybody has heard of a write.
func (b *bench) reportHearing(ctx context.Context) error {
	b.out.Part("c", "from the beginning of a write until every subscriber has heard of it")
	var took []float64
	for range b.rounds {
		d, err := b.crowd.hear(ctx, b.followed.DB)
		if err != nil {
			return err
		}
		took = append(took, float64(d))
	}
	ns := measure.Median(took)
	b.out.Note(fmt.Sprintf("%v, %v a subscriber", time.Duration(ns).Round(10*time.Microsecond),
		time.Duration(ns/float64(b.subscribers)).Round(10*time.Nanosecond)))
	return nil
}

// database is one with a collection that is written to and one that is followed.
type database struct {
	*fenec.DB
	put *fenec.Stmt
}

func newDatabase(ctx context.Context, path string) (*database, error) {
	db, err := fenec.Open(path, fenec.Options{})
	if err != nil {
		return nil, err
	}
	for _, text := range []string{
		`create collection followed (state text @hash, n int)`,
		`put followed [{state: "open", n: 1}, {state: "done", n: 2}]`,
		`create collection written (state text, n int)`,
	} {
		if _, err := db.Query(ctx, text); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	put, err := db.Prepare(`put written $1`)
	return &database{db, put}, err
}

// puts puts blocks of new documents for a while and returns what one took.
func (d *database) puts(ctx context.Context, slice time.Duration, documents int) (float64, error) {
	docs := make([]any, documents)
	for i := range docs {
		docs[i] = map[string]any{"state": "some text of a common length", "n": i}
	}
	return measure.PerOp(slice, func() error {
		_, err := d.put.Exec(ctx, docs)
		return err
	})
}
