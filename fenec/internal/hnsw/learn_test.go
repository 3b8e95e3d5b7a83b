package hnsw

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// rescored returns the recall at 10 of the ef candidates, once measured by
// their vectors.
func rescored(t testing.TB, m *model, queries [][]float32, ef int) float64 {
	found := 0
	for _, q := range queries {
		hits, _ := search(t, m.Graph, Query{Vector: q, K: ef})
		for i, h := range hits {
			hits[i].Score = vector.Score(m.params.Metric, q, m.vectors[h.ID])
		}
		slices.SortFunc(hits, func(a, b Hit) int {
			if m.params.Metric.Better(a.Score, b.Score) {
				return -1
			}
			return 1
		})
		found += common(hits[:10], exact(m.params.Metric, m.vectors, q, 10, nil))
	}
	return float64(found) / float64(10*len(queries))
}

func TestCodes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds large graphs")
	}
	const count, dim = 3500, 64
	vectors, queries := clustered(storedStream, count, dim), clustered(queryStream, 50, dim)
	for _, metric := range metrics {
		for _, storage := range []Storage{Int8, Bits} {
			if storage == Bits && metric != vector.Cosine {
				continue
			}
			p := Params{Dim: dim, Metric: metric, Storage: storage}
			m := newModel(t, p, vectors[:learnFrom-1])
			require.Nil(t, m.view.Load().rows.codes)
			whole := m.Bytes()
			for i, v := range vectors[learnFrom-1:] {
				m.vectors = append(m.vectors, nil)
				m.put(t, learnFrom-1+i, v)
				require.NotNil(t, m.view.Load().rows.codes)
			}
			m.requireSound(t)
			require.Less(t, m.Bytes(), whole*3/2, "vectors are no longer kept")
			ef := 100
			if storage == Bits {
				ef = 400
			}
			require.GreaterOrEqual(t, rescored(t, m, queries, ef), 0.95, "%s %d", metric, storage)
			for id := range count / 2 {
				m.remove(t, id)
			}
			m.repair(t)
			m.requireSound(t)
			require.GreaterOrEqual(t, rescored(t, m, queries, ef), 0.95, "%s %d", metric, storage)
		}
	}
}

// Memory is the vectors, the links and little more.
func TestBytes(t *testing.T) {
	const dim = 128
	count := sized(20_000, 2000)
	g, err := New(Params{Dim: dim, EFConstruction: 8})
	require.NoError(t, err)
	require.Less(t, g.Bytes(), int64(100_000))
	for i, v := range gaussian(1, count, dim) {
		require.NoError(t, g.Insert(uint64(i), v))
	}
	raw := count * (4*dim + 4*2*DefaultM)
	require.Less(t, float64(g.Bytes()), 1.2*float64(raw))
}
