package hnsw

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// requireBest requires that hits hold the best k of the vectors for which ok is
// true, and none else far behind them.
func requireBest(t *testing.T, m vector.Metric, vectors [][]float32, query []float32, k int, ok func(i int) bool, hits []Hit) {
	t.Helper()
	want := exact(m, vectors, query, k, ok)
	found := map[uint64]bool{}
	for _, h := range hits {
		require.False(t, found[h.ID], "id %d twice", h.ID)
		require.True(t, ok == nil || ok(int(h.ID)), "id %d", h.ID)
		found[h.ID] = true
	}
	for _, h := range want {
		require.True(t, found[h.ID], "id %d is missing", h.ID)
	}
}

func TestExhaust(t *testing.T) {
	others := sized(700, 200)
	vectors := gaussian(4, others, 12)
	vectors = append(vectors, make([]float32, 12), make([]float32, 12))
	for range 40 {
		vectors = append(vectors, vectors[3]) // twins
	}
	ctx := context.Background()
	for _, m := range metrics {
		g := build(t, Params{Dim: 12, Metric: m}, vectors)
		for i, query := range append(gaussian(5, sized(10, 2), 12), vectors[3], make([]float32, 12)) {
			for _, k := range sized([]int{1, 10, 64, 1000}, []int{1, 64, 1000}) {
				ok := func(n int) bool { return n%(i+1) == 0 }
				accept := func(id uint64) (bool, error) { return ok(int(id)), nil }
				hits, err := g.Exhaust(ctx, Query{Vector: query, K: k}, nil)
				require.NoError(t, err)
				requireBest(t, m, vectors, query, k, nil, hits)
				hits, err = g.Exhaust(ctx, Query{Vector: query, K: k, Accept: accept}, hits)
				require.NoError(t, err)
				requireBest(t, m, vectors, query, k, ok, hits)

				var ids []uint64
				for n := range vectors {
					if n%3 == 0 {
						ids = append(ids, uint64(n), 1<<40+uint64(n))
					}
				}
				hits, err = g.Among(ctx, Query{Vector: query, K: k, Accept: accept}, ids, hits)
				require.NoError(t, err)
				requireBest(t, m, vectors, query, k, func(n int) bool { return n%3 == 0 && ok(n) }, hits)
			}
		}
		for n := range uint64(others) {
			require.True(t, g.Delete(n))
		}
		hits, err := g.Exhaust(ctx, Query{Vector: vectors[3], K: 1000}, nil)
		require.NoError(t, err)
		require.Len(t, hits, len(vectors)-others)
	}
}

// Ties are all returned, so that the caller may choose by id.
func TestExhaustTies(t *testing.T) {
	one := gaussian(6, 1, 8)[0]
	var vectors [][]float32
	for range 300 {
		vectors = append(vectors, one)
	}
	g := build(t, Params{Dim: 8, Metric: vector.L2}, vectors)
	hits, err := g.Exhaust(context.Background(), Query{Vector: one, K: 5}, nil)
	require.NoError(t, err)
	require.Len(t, hits, 300)
}

func TestExhaustErrors(t *testing.T) {
	g := build(t, Params{Dim: 8, M: 4, EFConstruction: 8}, gaussian(6, 5000, 8))
	_, err := g.Exhaust(context.Background(), Query{Vector: make([]float32, 7), K: 1}, nil)
	require.ErrorIs(t, err, ErrDimension)
	failed := errors.New("failed")
	q := Query{Vector: make([]float32, 8), K: 1, Accept: func(uint64) (bool, error) { return false, failed }}
	_, err = g.Among(context.Background(), q, []uint64{9}, nil)
	require.ErrorIs(t, err, failed)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q.Accept = nil
	_, err = g.Exhaust(ctx, q, nil)
	require.ErrorIs(t, err, context.Canceled)
}
