package metrics

import (
	"sync/atomic"
	"time"
)

// Kind is what a statement does.
type Kind uint8

// The kinds of statements.
const (
	Read Kind = iota
	Write
	kinds
)

// String returns the kind as its label has it.
func (k Kind) String() string {
	if k == Write {
		return "write"
	}
	return "read"
}

// bounds are the upper bounds of the buckets of durations, +Inf aside.
var bounds = [...]time.Duration{
	100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond,
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// Statements counts statements by kind, with how long they took. It is safe for
// concurrent use.
type Statements struct {
	kinds [kinds]struct {
		errors  atomic.Uint64
		nanos   atomic.Int64
		buckets [len(bounds) + 1]atomic.Uint64 // each without those below it
	}
}

// Observe counts one statement.
func (s *Statements) Observe(kind Kind, took time.Duration, failed bool) {
	k := &s.kinds[kind]
	i := 0
	for i < len(bounds) && took > bounds[i] {
		i++
	}
	k.buckets[i].Add(1)
	k.nanos.Add(int64(took))
	if failed {
		k.errors.Add(1)
	}
}

// Write writes the families of the statements.
func (s *Statements) Write(p *Page) {
	var counts [kinds][len(bounds) + 1]uint64 // with those below
	for k := range kinds {
		total := uint64(0)
		for i := range counts[k] {
			total += s.kinds[k].buckets[i].Load()
			counts[k][i] = total
		}
	}
	p.Family("fenec_statements_total", Counter, "Statements answered.")
	for k := range kinds {
		p.Uint(counts[k][len(bounds)], "kind", k.String())
	}
	p.Family("fenec_statement_errors_total", Counter, "Statements answered with an error.")
	for k := range kinds {
		p.Uint(s.kinds[k].errors.Load(), "kind", k.String())
	}
	p.Family("fenec_statement_duration_seconds", Histogram, "Time from the arrival of a statement to its answer.")
	for k := range kinds {
		for i, n := range counts[k] {
			p.bucket(n, i, k.String())
		}
		p.sum(time.Duration(s.kinds[k].nanos.Load()).Seconds(), k.String())
		p.count(counts[k][len(bounds)], k.String())
	}
}
