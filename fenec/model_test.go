package fenec_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	modelSeed  = flag.Uint64("model.seed", 0, "the first seed of the model test; 0 for the usual ones")
	modelSeeds = flag.Uint64("model.seeds", 0, "how many seeds the model test runs from -model.seed on; 0 for as many as -model.time allows")
	modelSteps = flag.Int("model.steps", 250, "steps of the model test a seed")
	modelTime  = flag.Duration("model.time", 10*time.Minute, "how long the model test goes on when FENEC_LONG is set")
)

// keptSeeds have once found something.
var keptSeeds = []uint64{816966628063}

// TestModel runs random statements, batches, views, checkpoints and reopenings
// against two databases, one with many indexes and one with few, and against an
// interpreter over plain maps, and compares all they answer.
func TestModel(t *testing.T) {
	var kept, ended int
	run := func(seed uint64) bool {
		return t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			m := runModel(t, seed)
			kept, ended = kept+m.kept, ended+m.ended
		})
	}
	first, n := *modelSeed, *modelSeeds
	long := os.Getenv("FENEC_LONG") != ""
	switch {
	case first == 0 && long:
		first = rand.Uint64N(1 << 40)
	case first == 0:
		for _, seed := range keptSeeds {
			run(seed)
		}
		if n == 0 {
			n = 16
		}
		if first = 1; testing.Short() {
			n = 2
		}
	case n == 0 && !long:
		n = 1
	}
	t.Logf("seeds from %d on", first)
	end := time.Now().Add(*modelTime)
	for seed := first; (n == 0 || seed < first+n) && (n > 0 || time.Now().Before(end)); seed++ {
		if !run(seed) {
			break
		}
	}
	t.Logf("%d views were compared at their end, %d were ended by the database", kept, ended)
}

// runModel runs one seed.
func runModel(t *testing.T, seed uint64) *model {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0))}
	switch {
	case seed%11 == 3:
		g.bulk = 400
	case seed%4 == 1:
		g.bulk = 60
	}
	m, err := startModel(seed, t.TempDir())
	require.NoError(t, err)
	var events []*event
	for range *modelSteps {
		e := m.next(g)
		events = append(events, e)
		if err = m.apply(e); err != nil {
			break
		}
	}
	if err == nil {
		err = m.finish()
	} else {
		_ = m.finish() // what there is to say has been said
	}
	if err == nil {
		return m
	}
	t.Logf("run it again with -run '^TestModel$' -model.seed=%d", seed)
	t.Logf("%v", err)
	events, err = reduce(t, seed, events, err)
	var lines []string
	for _, e := range events {
		lines = append(lines, e.String())
	}
	t.Fatalf("in short:\n%s\n%v", strings.Join(lines, "\n"), err)
	return nil
}

// reduce returns fewer of the events of a run that failed, that still fail.
func reduce(t *testing.T, seed uint64, events []*event, err error) ([]*event, error) {
	fails := func(events []*event) error { return replay(seed, t.TempDir(), events) }
	end := time.Now().Add(30 * time.Second)
	for size := len(events) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(events) && time.Now().Before(end); {
			fewer := append(append([]*event{}, events[:at]...), later(events[at:at+size], events[at+size:])...)
			if ferr := fails(fewer); ferr != nil && alike(ferr, err) {
				events, err = fewer, ferr
			} else {
				at += size
			}
		}
	}
	return events, err
}

// alike reports whether two failures are of one sort.
func alike(a, b error) bool {
	sort := func(err error) string {
		_, text, _ := strings.Cut(err.Error(), ": got ")
		return text[:min(len(text), 12)]
	}
	return sort(a) == sort(b)
}

// later returns events with the time added that those before them took.
func later(before, events []*event) []*event {
	if len(events) == 0 {
		return nil
	}
	first := *events[0]
	for _, e := range before {
		first.tick += e.tick
	}
	return append([]*event{&first}, events[1:]...)
}

// replay takes events in another run. One that the model cannot follow, because
// what it builds on is not there, does not count as a failure.
func replay(seed uint64, dir string, events []*event) (err error) {
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	m, err := startModel(seed, dir)
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := m.apply(e); err != nil {
			_ = m.finish()
			return err
		}
	}
	return m.finish()
}
