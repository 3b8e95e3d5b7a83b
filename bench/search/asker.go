package main

import (
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
)

// asker is a side that is asked the questions of a corpus, some in each round,
// and remembers how long each took.
type asker struct {
	title  string
	ask    func(question string) error
	rounds int
	took   []float64 // nanoseconds, of all rounds but the first
}

// round asks the questions of the next round, again until d has passed, and
// returns the median time.
func (a *asker) round(questions []string, d time.Duration) (float64, error) {
	from := a.rounds * chunk % len(questions)
	now := questions[from:min(from+chunk, len(questions))]
	var took []float64
	for start := time.Now(); len(took) == 0 || time.Since(start) < d; {
		for _, q := range now {
			before := time.Now()
			if err := a.ask(q); err != nil {
				return 0, fmt.Errorf("%s: %q: %w", a.title, q, err)
			}
			took = append(took, float64(time.Since(before)))
		}
	}
	if a.rounds > 0 {
		a.took = append(a.took, took...)
	}
	a.rounds++
	return measure.Median(took), nil
}
