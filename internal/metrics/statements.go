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

// Statements counts statements by kind, with how long they took. It is safe for
// concurrent use.
type Statements struct {
	kinds [kinds]struct {
		errors atomic.Uint64
		took   Histogram
	}
}

// Observe counts one statement.
func (s *Statements) Observe(kind Kind, took time.Duration, failed bool) {
	k := &s.kinds[kind]
	k.took.Observe(&Quick, took)
	if failed {
		k.errors.Add(1)
	}
}

// Write writes the families of the statements.
func (s *Statements) Write(p *Page) {
	var took [kinds]Distribution
	for k := range kinds {
		took[k].AddHistogram(&s.kinds[k].took)
	}
	p.Family("fenec_statements_total", Counter, "Statements answered.")
	for k := range kinds {
		p.Uint(took[k].Count(), "kind", k.String())
	}
	p.Family("fenec_statement_errors_total", Counter, "Statements answered with an error.")
	for k := range kinds {
		p.Uint(s.kinds[k].errors.Load(), "kind", k.String())
	}
	p.Family("fenec_statement_duration_seconds", TypeHistogram, "Time from the arrival of a statement to its answer.")
	for k := range kinds {
		p.Durations(&Quick, &took[k], "kind", k.String())
	}
}
