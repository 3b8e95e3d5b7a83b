package vector

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTop compares with sorting everything, among many equal scores.
func TestTop(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	var top Top
	for range 2000 {
		m, k, n := Metric(r.IntN(3)), r.IntN(12), r.IntN(40)
		top.Reset(m, k)
		hits := make([]Hit, n)
		for i, id := range r.Perm(n) {
			hits[i] = Hit{uint64(id), float32(r.IntN(8) - 4)}
			top.Add(hits[i].ID, hits[i].Score)
		}
		slices.SortFunc(hits, func(a, b Hit) int {
			byScore := cmp.Compare(b.Score, a.Score)
			if m == L2 {
				byScore = -byScore
			}
			return cmp.Or(byScore, cmp.Compare(a.ID, b.ID))
		})
		bound, full := top.Bound()
		require.Equal(t, n >= k && k > 0, full)
		if full {
			require.Equal(t, hits[k-1].Score, bound)
		}
		require.Equal(t, hits[:min(k, n)], append([]Hit{}, top.Hits()...))
	}
}

func TestTopAllocations(t *testing.T) {
	var top Top
	collect := func() {
		top.Reset(L2, 10)
		for i := range uint64(100) {
			top.Add(i, float32(i%17))
		}
		top.Hits()
	}
	collect()
	require.Zero(t, testing.AllocsPerRun(10, collect))
}
