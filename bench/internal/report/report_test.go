package report

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestGoal(t *testing.T) {
	for _, c := range []struct {
		g     Goal
		ratio float64
		want  string
	}{
		{AtLeast(4), 4, "ok"},
		{AtLeast(4), 3.9, "MISS"},
		{AtLeast(4), 0.99, "MISS, SLOWER"},
		{AtLeast(0.8), 0.7, "MISS"},
		{AtMost(1.5), 1.5, "ok"},
		{AtMost(1.5), 1.6, "MISS"},
		{Goal{}, 0.001, ""},
	} {
		if got := c.g.verdict(c.ratio); got != c.want {
			t.Errorf("%v at %v: got %q, want %q", c.g, c.ratio, got, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	parts := []Part[int]{{Letter: "a"}, {Letter: "b"}, {Letter: "c"}}
	for only, want := range map[string]string{"": "abc", "a": "a", "c, a": "ac"} {
		got, err := Choose(parts, only)
		if err != nil {
			t.Fatal(err)
		}
		letters := ""
		for _, p := range got {
			letters += p.Letter
		}
		if letters != want {
			t.Errorf("%q: got %s, want %s", only, letters, want)
		}
	}
	if _, err := Choose(parts, "a,x"); err == nil {
		t.Error("part x was found")
	}
}

// A failed part is told of and does not stop the others; missed goals are listed
// and are no failure.
func TestRunParts(t *testing.T) {
	var (
		w     strings.Builder
		r     = New(&w)
		wrong = errors.New("no disk")
	)
	failed := RunParts(context.Background(), r, []Part[int]{
		{"a", "first", func(context.Context, int) error { return wrong }},
		{"b", "second", func(_ context.Context, n int) error {
			r.Line("met", Duration, 1, 3, float64(n), AtLeast(3))
			r.Line("not met", Rate, 1, 2, 2, AtLeast(3))
			r.Line("asks nothing", Count, 1, 2, 2, Goal{})
			r.Miss("not made", "too slow", AtLeast(3))
			return nil
		}},
	}, 3)
	r.Summary()
	if len(failed) != 1 || !errors.Is(failed[0], wrong) {
		t.Errorf("got errors %v, want one that is %v", failed, wrong)
	}
	for _, want := range []string{"could not be measured: no disk", "1 of 3 goals met", "missed: b: not met", "too slow", "missed: b: not made"} {
		if !strings.Contains(w.String(), want) {
			t.Errorf("the report does not say %q:\n%s", want, w.String())
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Duration(999), "999 ns"},
		{Duration(1500), "1.50 µs"},
		{Duration(2.5e6), "2.50 ms"},
		{Rate(12.4), "12/s"},
		{Percent(0.1), "10.0 %"},
		{SizeName(12e6), "12 MB"},
		{SizeName(1.2e9), "1.2 GB"},
		{Count(6), "6"},
		{Size(3 << 19), "1.50 MiB"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
