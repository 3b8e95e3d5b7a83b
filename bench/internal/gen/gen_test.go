package gen

import (
	"slices"
	"testing"
)

func TestSpreadVisitsEachOnce(t *testing.T) {
	for _, n := range []int64{1, 2, 10, 1000, 4097} {
		s, seen := NewSpread(n), map[int64]bool{}
		for range n {
			seen[s.Take()] = true
		}
		if int64(len(seen)) != n {
			t.Errorf("of %d numbers %d were visited", n, len(seen))
		}
	}
}

func TestBodies(t *testing.T) {
	a, b := MakeBodies(64, 100), MakeBodies(64, 100)
	if !slices.Equal(a, b) {
		t.Error("two runs differ")
	}
	for i := range int64(200) {
		if len(a.At(i)) != 100 {
			t.Errorf("text %d has %d bytes", i, len(a.At(i)))
		}
	}
	if a.At(0) == a.At(1) {
		t.Error("all texts are alike")
	}
}
