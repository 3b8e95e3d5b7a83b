package main

import (
	"context"
	"fmt"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
)

// graph is an index of the vectors of a set.
type graph interface {
	name() string
	// answers returns what each question of the set is answered with, by ids
	// from 0, when ef candidates are kept.
	answers(ctx context.Context, ef int) ([][]int32, error)
	// pace asks for about d and returns the nanoseconds a question takes.
	pace(ctx context.Context, ef int, d time.Duration) (float64, error)
}

// ask answers a question with ids from 0.
type ask func(ctx context.Context, q []float32) ([]int32, error)

// local is a graph in this process.
type local struct {
	title string
	set   *vectorSet
	// with returns what asks when ef candidates are kept. What it returned before
	// is not used any more.
	with func(ef int) (ask, error)
	next int // the question that pace asks next
}

func (g *local) name() string { return g.title }

func (g *local) answers(ctx context.Context, ef int) ([][]int32, error) {
	ask, err := g.with(ef)
	if err != nil {
		return nil, err
	}
	out := make([][]int32, len(g.set.asked))
	for i, q := range g.set.asked {
		if out[i], err = ask(ctx, q); err != nil {
			return nil, fmt.Errorf("%s: %w", g.title, err)
		}
	}
	return out, nil
}

func (g *local) pace(ctx context.Context, ef int, d time.Duration) (float64, error) {
	ask, err := g.with(ef)
	if err != nil {
		return 0, err
	}
	ns, err := measure.PerOp(d, func() error {
		g.next = (g.next + 1) % len(g.set.asked)
		_, err := ask(ctx, g.set.asked[g.next])
		return err
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", g.title, err)
	}
	return ns, err
}

// measured is a graph with what is known about its recall.
type measured struct {
	graph
	set     *vectorSet
	recalls map[int]float64 // by ef
}

func newMeasured(g graph, s *vectorSet) *measured {
	return &measured{graph: g, set: s, recalls: map[int]float64{}}
}

func (m *measured) recall(ctx context.Context, ef int) (float64, error) {
	if r, ok := m.recalls[ef]; ok {
		return r, nil
	}
	answers, err := m.answers(ctx, ef)
	if err != nil {
		return 0, err
	}
	r, err := m.set.recall(answers)
	if err != nil {
		return 0, fmt.Errorf("%s, ef %d: %w", m.name(), ef, err)
	}
	m.recalls[ef] = r
	return r, nil
}

// mostEF is the largest ef that is tried.
const mostEF = 1000

// least returns the smallest ef that reaches a recall, or 0 if none does.
func (m *measured) least(ctx context.Context, want float64) (int, error) {
	r, err := m.recall(ctx, mostEF)
	if err != nil || r < want {
		return 0, err
	}
	low, high := page, mostEF // high reaches it
	for low < high {
		middle := (low + high) / 2
		r, err := m.recall(ctx, middle)
		if err != nil {
			return 0, err
		}
		if r >= want {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return high, nil
}

// rate is a contender whose figure is questions a second.
func (m *measured) rate(ctx context.Context, ef int, d time.Duration) measure.Contender {
	return measure.Contender{Name: m.name(), Slice: func() (float64, error) {
		ns, err := m.pace(ctx, ef, d)
		return 1e9 / ns, err
	}}
}
