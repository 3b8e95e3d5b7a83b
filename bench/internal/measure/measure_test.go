package measure

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
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
		if got := Percentile(c.v, c.p); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// The first round is thrown away, and turns alternate.
func TestInterleave(t *testing.T) {
	var order []string
	side := func(name string, values ...float64) Contender {
		return Contender{Name: name, Slice: func() (float64, error) {
			order = append(order, name)
			v := values[0]
			values = values[1:]
			return v, nil
		}}
	}
	got, err := Interleave(context.Background(), 3, []Contender{
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
	_, err := Interleave(ctx, 1, []Contender{{Slice: func() (float64, error) {
		t.Error("a slice ran")
		return 0, nil
	}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// A slow operation is not repeated past its slice, a fast one fills it.
func TestPerOp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			takes, slice time.Duration
			most         int
		}{
			{time.Second, time.Millisecond, 1},
			{time.Millisecond, 10 * time.Millisecond, 15},
			{time.Millisecond, time.Second, 1015},
		} {
			n := 0
			got, err := PerOp(c.slice, func() error { n++; time.Sleep(c.takes); return nil })
			if err != nil || got != float64(c.takes) {
				t.Errorf("%v: got %v and %v", c.takes, got, err)
			}
			if n > c.most || time.Duration(n)*c.takes < c.slice {
				t.Errorf("%v in %v: ran %d times", c.takes, c.slice, n)
			}
		}
	})
}

func TestPerOpSettledSharesSettling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, err := PerOpSettled(time.Nanosecond,
			func() error { time.Sleep(time.Second); return nil },
			func() error { time.Sleep(time.Second); return nil })
		if err != nil || got != float64(2*time.Second) {
			t.Errorf("got %v and %v, want 2 s", time.Duration(got), err)
		}
	})
}

func TestPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, err := PerSecond(4, time.Second, func(int) error { time.Sleep(100 * time.Millisecond); return nil })
		if err != nil || got != 40 {
			t.Errorf("got %v and %v, want 40", got, err)
		}
		wrong := errors.New("worker 2 fails")
		_, err = PerSecond(4, time.Second, func(i int) error {
			time.Sleep(time.Millisecond)
			if i == 2 {
				return wrong
			}
			return nil
		})
		if !errors.Is(err, wrong) {
			t.Errorf("got %v, want %v", err, wrong)
		}
	})
}
