package hnsw

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// Thousands of equal vectors are all found and keep nothing else from being.
func TestEqualVectors(t *testing.T) {
	const dim = 16
	others, equal := sized(2000, 800), sized(10_000, 800)
	for _, metric := range sized(metrics, metrics[1:2]) {
		vectors := gaussian(1, others, dim)
		alone := build(t, Params{Dim: dim, Metric: metric}, vectors)
		for range equal {
			vectors = append(vectors, vectors[5])
		}
		m := newModel(t, Params{Dim: dim, Metric: metric, EFConstruction: DefaultEFConstruction}, vectors)
		for _, q := range gaussian(2, sized(50, 10), dim) {
			ids := map[uint64]bool{}
			hits, _ := search(t, m.Graph, Query{Vector: q, K: 400})
			for _, h := range hits {
				ids[h.ID] = true
			}
			worst := hits[len(hits)-1].Score
			want, _ := search(t, alone, Query{Vector: q, K: 10, EF: 400})
			for _, h := range want {
				require.True(t, ids[h.ID] || !metric.Better(h.Score, worst), "%s", metric)
			}
		}
		part := uint64(others+equal) / 12
		odd := func(id uint64) (bool, error) { return id%part == part-1, nil }
		hits, _ := search(t, m.Graph, Query{Vector: vectors[5], K: 12, Accept: odd})
		require.Len(t, hits, 12)
		if metric != vector.Dot {
			hits, end := search(t, m.Graph, Query{Vector: vectors[5], K: equal + 1})
			require.Equal(t, Complete, end)
			for _, h := range hits {
				require.True(t, h.ID == 5 || h.ID >= uint64(others))
			}
		}
		m.requireSound(t)
	}
}

// The first of some equal vectors goes before the others, which stay findable.
func TestTwinsGo(t *testing.T) {
	vectors := gaussian(1, 300, 4)
	for i := range 50 {
		vectors[i] = vectors[0]
	}
	m := newModel(t, Params{Dim: 4, Metric: vector.L2}, vectors)
	for i := range 50 {
		hits, _ := search(t, m.Graph, Query{Vector: vectors[0], K: 50 - i})
		for _, h := range hits {
			require.Zero(t, h.Score)
			require.True(t, h.ID >= uint64(i) && h.ID < 50)
		}
		m.remove(t, i)
		m.vectors[i] = nil
		m.repair(t)
		m.requireSound(t)
		if i < 49 {
			require.Equal(t, 1, m.Dead(), "the first keeps the place")
		}
	}
	require.Zero(t, m.Dead())
	hits, _ := search(t, m.Graph, Query{Vector: vectors[60], K: 300})
	require.Len(t, hits, 250)
}

// Zero vectors score 0 under Cosine: after those that are nearer than a right
// angle, before others.
func TestZeroVectors(t *testing.T) {
	for _, storage := range sized([]Storage{Float32, Float16, Int8}, []Storage{Int8}) {
		vectors := [][]float32{{0, 0}, {1, 0}, {-1, 0}, {0, 0}, {2, 0.1}, {-1, 0.2}}
		for i := range 2100 { // more than it takes to learn codes
			vectors = append(vectors, []float32{-1, float32(i*977%2100-1050) / 100})
		}
		m := newModel(t, Params{Dim: 2, Storage: storage, EFConstruction: sized(DefaultEFConstruction, 100)}, vectors)
		for _, accept := range []func(uint64) (bool, error){nil, func(uint64) (bool, error) { return true, nil }} {
			hits, _ := search(t, m.Graph, Query{Vector: []float32{1, 0}, K: 4, EF: 50, Accept: accept})
			require.ElementsMatch(t, []uint64{1, 4}, []uint64{hits[0].ID, hits[1].ID})
			require.ElementsMatch(t, []uint64{0, 3}, []uint64{hits[2].ID, hits[3].ID})
			require.Equal(t, []float32{0, 0}, []float32{hits[2].Score, hits[3].Score})
		}
		hits, _ := search(t, m.Graph, Query{Vector: []float32{0, 0}, K: 5})
		require.Len(t, hits, 5)
		m.remove(t, 0)
		m.repair(t)
		m.requireSound(t)
		hits, _ = search(t, m.Graph, Query{Vector: []float32{1, 0}, K: 3, EF: 50})
		require.Equal(t, uint64(3), hits[2].ID)
		m.remove(t, 3)
		m.repair(t)
		hits, _ = search(t, m.Graph, Query{Vector: []float32{1, 0}, K: 3, EF: 50})
		require.Less(t, hits[2].Score, float32(-0.05))
	}
}

func TestNothingButZeros(t *testing.T) {
	g, err := New(Params{Dim: 3})
	require.NoError(t, err)
	for id := range uint64(3000) {
		require.NoError(t, g.Insert(id, make([]float32, 3)))
	}
	hits, end := search(t, g, Query{Vector: []float32{1, 2, 3}, K: 5000})
	require.Len(t, hits, 3000)
	require.Equal(t, Exhausted, end)
	for id := range uint64(3000) {
		g.Delete(id)
	}
	require.NoError(t, g.Repair(context.Background()))
	require.Zero(t, g.Dead())
	hits, _ = search(t, g, Query{Vector: []float32{1, 2, 3}, K: 5})
	require.Empty(t, hits)
}
