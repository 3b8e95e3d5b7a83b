package hnsw

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

var metrics = []vector.Metric{vector.Cosine, vector.L2, vector.Dot}

// search returns what a graph finds, which is to be without error.
func search(t testing.TB, g *Graph, q Query) ([]Hit, End) {
	t.Helper()
	hits, end, err := g.Search(context.Background(), q, nil)
	require.NoError(t, err)
	return hits, end
}

// recall returns which share of the k nearest searches find.
func recall(t testing.TB, g *Graph, m vector.Metric, vectors, queries [][]float32, k, ef int) float64 {
	t.Helper()
	found := 0
	for _, q := range queries {
		ids := map[uint64]bool{}
		hits, _ := search(t, g, Query{Vector: q, K: k, EF: ef})
		for _, h := range hits[:k] {
			ids[h.ID] = true
		}
		require.Len(t, ids, k)
		for _, h := range exact(m, vectors, q, k, nil) {
			if ids[h.ID] {
				found++
			}
		}
	}
	return float64(found) / float64(k*len(queries))
}

func TestRecall(t *testing.T) {
	count, queries := sized(3000, 150), sized(50, 10)
	kinds := []struct {
		name            string
		stored, queries [][]float32
	}{
		{"clustered", clustered(storedStream, count, 64), clustered(queryStream, queries, 64)},
		{"gaussian", gaussian(1, count, 24), gaussian(2, queries, 24)},
	}
	for _, kind := range kinds {
		for _, m := range metrics {
			for _, storage := range sized([]Storage{Float32, Float16}, []Storage{Float16}) {
				g := build(t, Params{Dim: len(kind.stored[0]), Metric: m, Storage: storage}, kind.stored)
				require.GreaterOrEqual(t, recall(t, g, m, kind.stored, kind.queries, 10, 100), 0.98, "%s %s %d", kind.name, m, storage)
			}
		}
	}
}

// Scores are those of the metric, to the last bit where they are said to be exact:
// where vectors are kept as they were given. Hits come by score.
func TestScores(t *testing.T) {
	count := sized(500, 200)
	for _, c := range []struct {
		name    string
		vectors [][]float32
		unit    bool
	}{
		{"of any length", gaussian(3, count, 10), false},
		{"of length 1", clustered(storedStream, count, 10), true},
	} {
		for _, m := range metrics {
			g := build(t, Params{Dim: 10, Metric: m, EFConstruction: 50}, c.vectors)
			requireScores(t, g, c.vectors, c.unit || m != vector.Cosine)
			disk := disk{}
			disk.write(g.Changes())
			loaded, err := disk.load(g.params, c.vectors)
			require.NoError(t, err)
			requireScores(t, loaded, c.vectors, c.unit || m != vector.Cosine)
		}
	}
}

func requireScores(t *testing.T, g *Graph, vectors [][]float32, exact bool) {
	t.Helper()
	m := g.params.Metric
	s := g.enter()
	off := s.slackOf(vectors[7]).absolute
	g.leave(s)
	for _, accept := range []func(uint64) (bool, error){nil, func(uint64) (bool, error) { return true, nil }} {
		hits, end := search(t, g, Query{Vector: vectors[7], K: 20, EF: 50, Accept: accept})
		require.Len(t, hits, 20)
		require.Equal(t, Complete, end)
		for i, h := range hits {
			want := vector.Score(m, vectors[7], vectors[h.ID])
			require.Equal(t, exact, h.Exact)
			if exact {
				require.Equal(t, want, h.Score)
			} else {
				require.InDelta(t, want, h.Score, off)
			}
			require.False(t, i > 0 && m.Better(h.Score, hits[i-1].Score))
		}
	}
}

func TestSmallGraphs(t *testing.T) {
	vectors := gaussian(1, 40, 8)
	for _, m := range metrics {
		for count := range vectors {
			g := build(t, Params{Dim: 8, Metric: m}, vectors[:count])
			for _, k := range []int{0, 1, 3, 100, 1000} {
				hits, end := search(t, g, Query{Vector: vectors[39], K: k})
				require.Len(t, hits, min(k, count))
				require.Equal(t, count < max(k, 1), end == Exhausted)
			}
		}
	}
}

func TestGreatIDs(t *testing.T) {
	g, err := New(Params{Dim: 2, Metric: vector.L2})
	require.NoError(t, err)
	ids := []uint64{0, 1, math.MaxUint32, math.MaxInt64, math.MaxInt64 - 1, math.MaxUint64}
	for i, id := range ids {
		require.NoError(t, g.Insert(id, []float32{float32(i), 0}))
		require.ErrorIs(t, g.Insert(id, []float32{float32(i), 0}), ErrExists)
	}
	for i, id := range ids {
		hits, _ := search(t, g, Query{Vector: []float32{float32(i), 0}, K: 1})
		require.Equal(t, []Hit{{ID: id, Score: 0, Exact: true}}, hits)
		require.True(t, g.Contains(id))
	}
	for i, id := range ids {
		require.True(t, g.Delete(id))
		require.False(t, g.Delete(id))
		require.False(t, g.Contains(id))
		require.Equal(t, len(ids)-1-i, g.Len())
	}
}

func TestErrors(t *testing.T) {
	for _, p := range []Params{
		{}, {Dim: -1}, {Dim: 3, M: 1}, {Dim: 3, EFConstruction: -1}, {Dim: 3, Metric: 3},
		{Dim: 3, Storage: Bits, Metric: vector.L2}, {Dim: 3, Storage: Bits + 1},
	} {
		_, err := New(p)
		require.Error(t, err, "%+v", p)
	}
	g := build(t, Params{Dim: 3}, gaussian(1, 1000, 3))
	require.ErrorIs(t, g.Insert(5000, []float32{1}), ErrDimension)
	_, _, err := g.Search(context.Background(), Query{Vector: []float32{1, 2}}, nil)
	require.ErrorIs(t, err, ErrDimension)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = g.Search(ctx, Query{Vector: []float32{1, 2, 3}, K: 500}, nil)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = g.Search(ctx, Query{Vector: []float32{1, 2, 3}, K: 900}, nil)
	require.ErrorIs(t, err, context.Canceled)

	broken := errors.New("broken")
	_, _, err = g.Search(context.Background(), Query{Vector: []float32{1, 2, 3}, K: 5, Accept: func(id uint64) (bool, error) {
		return false, broken
	}}, nil)
	require.ErrorIs(t, err, broken)
}

// A filter lets rows through that have to do with where they are, or not. What is
// found is right however few they are, if it need not stop before.
func TestFilter(t *testing.T) {
	count := sized(5000, 400)
	vectors, queries := clustered(storedStream, count, 32), clustered(queryStream, sized(20, 5), 32)
	g := build(t, Params{Dim: 32}, vectors)
	far := exact(vector.Cosine, vectors, vectors[0], count, nil)
	rank := make([]int, count)
	for i, h := range far {
		rank[h.ID] = i
	}
	for _, part := range []float64{0.0002, 0.001, 0.01, 0.1, 0.5, 1} {
		wanted := int(part * float64(count))
		filters := map[string]func(i int) bool{
			"by chance":      func(i int) bool { return mix(uint64(i))%uint64(count) < uint64(wanted) },
			"around a row":   func(i int) bool { return rank[i] < wanted },
			"far from a row": func(i int) bool { return rank[i] >= count-wanted },
		}
		for name, ok := range filters {
			found, all := 0, 0
			for _, q := range append(queries, vectors[0]) {
				ids := map[uint64]bool{}
				hits, end := search(t, g, Query{Vector: q, K: 10, EF: 64, Accept: func(id uint64) (bool, error) { return ok(int(id)), nil }})
				for _, h := range hits {
					require.True(t, ok(int(h.ID)))
					ids[h.ID] = true
				}
				truth := exact(vector.Cosine, vectors, q, 10, ok)
				require.Len(t, ids, len(truth), "%s %v: %d", name, part, end)
				for _, h := range truth {
					all++
					if ids[h.ID] {
						found++
					}
				}
			}
			require.GreaterOrEqual(t, float64(found), 0.95*float64(all), "%s %v", name, part)
		}
	}
}

func TestVisitsAreBounded(t *testing.T) {
	vectors := gaussian(1, sized(3000, 1200), 16)
	g := build(t, Params{Dim: 16, EFConstruction: 20}, vectors)
	for _, bound := range []int{1, 100, 1000} {
		calls := 0
		hits, end := search(t, g, Query{Vector: vectors[0], K: 10, EF: 100, Visits: bound, Accept: func(uint64) (bool, error) {
			calls++
			return false, nil
		}})
		require.Empty(t, hits)
		require.Equal(t, Stopped, end)
		require.LessOrEqual(t, calls, bound+2*DefaultM)
	}
	_, end := search(t, g, Query{Vector: vectors[0], K: 10, EF: 100, Accept: func(uint64) (bool, error) { return false, nil }})
	require.Equal(t, Exhausted, end)
}

func TestSearchDoesNotAllocate(t *testing.T) {
	vectors := gaussian(1, sized(2100, 300), 16)
	for _, storage := range sized([]Storage{Float32, Float16, Int8, Bits}, []Storage{Float16}) {
		g := build(t, Params{Dim: 16, Storage: storage, M: 4, EFConstruction: 20}, vectors)
		accept := func(id uint64) (bool, error) { return id%2 == 0, nil }
		for _, q := range []Query{{K: 10, EF: 100}, {K: 10, EF: 100, Accept: accept}, {K: 1000}} {
			hits := make([]Hit, 0, 1000)
			q.Vector = vectors[0]
			allocs := testing.AllocsPerRun(sized(50, 5), func() { hits, _, _ = g.Search(context.Background(), q, hits) })
			require.Zero(t, allocs, "storage %d, %d", storage, q.K)
		}
	}
}
