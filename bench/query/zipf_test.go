package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Ranks come as often as their probabilities say.
func TestZipfRanks(t *testing.T) {
	const n, draws = 1_000, 400_000
	z, rng, seen := newZipf(n), rand.New(rand.NewPCG(1, 2)), make([]float64, n)
	for range draws {
		seen[z.rank(rng.Float64())]++
	}
	for _, k := range []int{0, 1, 9, 99} {
		want := draws * math.Pow(float64(k+1), -zipfTheta) / z.zetan
		// The method is exact for the first two and within a third beyond.
		if math.Abs(seen[k]-want) > want/3 {
			t.Errorf("rank %d came %v times, want about %.0f", k, seen[k], want)
		}
	}
}

// The frequent keys lie apart, and all keys are within the range.
func TestZipfDraws(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1_000} {
		z, rng, seen := newZipf(n), rand.New(rand.NewPCG(1, 2)), map[int]int{}
		for range 10_000 {
			k := z.draw(rng)
			if k < 0 || k >= n {
				t.Fatalf("of %d: drew %d", n, k)
			}
			seen[k]++
		}
		if n == 1_000 && len(seen) < n/3 {
			t.Errorf("of %d only %d were drawn", n, len(seen))
		}
	}
	if a, b := scatter(0)%1_000, scatter(1)%1_000; a+1 == b || a == b {
		t.Errorf("the two most frequent keys are %d and %d", a, b)
	}
}
