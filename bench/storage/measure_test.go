package main

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestPercentile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		name string
		v    []float64
		p    float64
		want float64
	}{
		{"none", nil, 0.5, 0},
		{"one", []float64{7}, 0.99, 7},
		{"median of three", []float64{3, 1, 2}, 0.5, 2},
		{"p99 of a hundred", hundred, 0.99, 100},
		{"p0", hundred, 0, 1},
		{"p100", hundred, 1, 100},
	} {
		if got := percentile(c.v, c.p); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// The first round is thrown away, and turns alternate.
func TestInterleave(t *testing.T) {
	var order []string
	side := func(name string, values ...float64) contender {
		return contender{name: name, slice: func() (float64, error) {
			order = append(order, name)
			v := values[0]
			values = values[1:]
			return v, nil
		}}
	}
	got, err := interleave(context.Background(), 3, []contender{
		side("a", 1000, 1, 2, 3),
		side("b", 2000, 30, 10, 20),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []float64{2, 20}) {
		t.Errorf("got medians %v, want 2 and 20", got)
	}
	if want := []string{"a", "b", "b", "a", "a", "b", "b", "a"}; !slices.Equal(order, want) {
		t.Errorf("turns were %v, want %v", order, want)
	}
}

func TestInterleaveEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := interleave(ctx, 1, []contender{{slice: func() (float64, error) {
		t.Error("a slice ran")
		return 0, nil
	}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestSpreadVisitsEachOnce(t *testing.T) {
	for _, n := range []int64{1, 2, 10, 1000, 4097} {
		s, seen := newSpread(n), map[int64]bool{}
		for range n {
			seen[s.take()] = true
		}
		if int64(len(seen)) != n {
			t.Errorf("of %d numbers %d were visited", n, len(seen))
		}
	}
}

func TestChoose(t *testing.T) {
	for only, want := range map[string]string{"": "abcdefg", "a": "a", "c, a": "ac"} {
		got, err := choose(only)
		if err != nil {
			t.Fatal(err)
		}
		letters := ""
		for _, p := range got {
			letters += p.letter
		}
		if letters != want {
			t.Errorf("%q: got %s, want %s", only, letters, want)
		}
	}
	if _, err := choose("a,x"); err == nil {
		t.Error("part x was found")
	}
}

func TestGoal(t *testing.T) {
	for _, c := range []struct {
		g     goal
		ratio float64
		want  bool
	}{
		{atLeast(4), 4, true},
		{atLeast(4), 3.9, false},
		{atMost(1.5), 1.5, true},
		{atMost(1.5), 1.6, false},
		{goal{}, 0.001, true},
	} {
		if got := c.g.met(c.ratio); got != c.want {
			t.Errorf("%v at %v: got %v, want %v", c.g, c.ratio, got, c.want)
		}
	}
}
