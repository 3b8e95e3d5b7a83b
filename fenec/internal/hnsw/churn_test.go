package hnsw

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// model is a graph and what it is to hold. Its ids are the indices of vectors.
type model struct {
	*Graph
	vectors [][]float32 // nil where there is none
}

func newModel(t testing.TB, p Params, vectors [][]float32) *model {
	return &model{build(t, p, vectors), append([][]float32(nil), vectors...)}
}

func (m *model) remove(t testing.TB, id int) {
	require.True(t, m.Delete(uint64(id)))
	m.vectors[id] = nil
}

func (m *model) put(t testing.TB, id int, v []float32) {
	if m.vectors[id] != nil {
		m.remove(t, id)
	}
	require.NoError(t, m.Insert(uint64(id), v))
	m.vectors[id] = v
}

func (m *model) repair(t testing.TB) {
	require.NoError(t, m.Repair(context.Background()))
}

// fresh returns the recall of a graph built anew from what the model holds.
func (m *model) fresh(t testing.TB, queries [][]float32, ef int) float64 {
	g, err := New(m.params)
	require.NoError(t, err)
	for id, v := range m.vectors {
		if v != nil {
			require.NoError(t, g.Insert(uint64(id), v))
		}
	}
	return recall(t, g, m.params.Metric, m.vectors, queries, 10, ef)
}

func (m *model) recall(t testing.TB, queries [][]float32, ef int) float64 {
	return recall(t, m.Graph, m.params.Metric, m.vectors, queries, 10, ef)
}

// requireSound checks what always holds of a graph while nothing goes on.
func (m *model) requireSound(t testing.TB) {
	t.Helper()
	v := m.view.Load()
	free, live := 0, 0
	for n := range m.alloc.count {
		state := *v.state(n)
		if state == 0 {
			free++
			require.Equal(t, uint32(none), v.neighbours(n, 0)[0])
			continue
		}
		if state&dead == 0 {
			live++
			require.Equal(t, n, m.lookup(v.id(n)))
			require.NotNil(t, m.vectors[v.id(n)])
		}
		for level := 0; state&twin == 0 && level <= int(state&levelMask); level++ {
			for _, o := range v.read(v.neighbours(n, level), nil) {
				other := *v.state(o)
				if n == o || other&linked == 0 || int(other&levelMask) < level {
					require.Failf(t, "bad link", "%d on level %d links to %d: %x", n, level, o, other)
				}
			}
		}
	}
	require.Len(t, m.alloc.free, free)
	require.Equal(t, live, m.Len())
	require.Equal(t, int(m.alloc.count)-free-live, m.Dead())
}

func TestChurn(t *testing.T) {
	const dim = 32
	count := sized(1500, 100)
	sets := []struct {
		name             string
		vectors, queries [][]float32
		metrics          []vector.Metric
	}{
		{"clustered", clustered(storedStream, 2*count, dim), clustered(queryStream, sized(60, 20), dim), metrics[:1]},
		{"gaussian", gaussian(1, 2*count, dim), gaussian(2, sized(60, 20), dim), sized(metrics[1:], metrics[1:2])},
	}
	churns := map[string]func(m *model, more [][]float32, rng *rand.Rand){
		"deletes and inserts": func(m *model, more [][]float32, rng *rand.Rand) {
			for i, id := range rng.Perm(count)[:count/2] {
				m.remove(t, id)
				m.vectors = append(m.vectors, nil)
				m.put(t, count+i, more[i])
			}
		},
		"updates": func(m *model, more [][]float32, rng *rand.Rand) {
			for i, id := range rng.Perm(count)[:count/2] {
				m.put(t, id, more[i])
			}
		},
		"in five turns": func(m *model, more [][]float32, rng *rand.Rand) {
			for range 5 {
				for _, id := range rng.Perm(count)[:count/5] {
					m.put(t, id, more[rng.IntN(count)])
				}
				m.repair(t)
			}
		},
		"half is deleted": func(m *model, more [][]float32, rng *rand.Rand) {
			for _, id := range rng.Perm(count)[:count/2] {
				m.remove(t, id)
			}
		},
		"one side is deleted": func(m *model, more [][]float32, rng *rand.Rand) {
			for id := range count {
				if m.vectors[id][0] > 0 {
					m.remove(t, id)
				}
			}
		},
	}
	for _, set := range sets {
		for name, churn := range churns {
			for _, metric := range set.metrics {
				t.Run(fmt.Sprint(set.name, "/", name, "/", metric), func(t *testing.T) {
					m := newModel(t, Params{Dim: dim, Metric: metric}, set.vectors[:count])
					churn(m, set.vectors[count:], rand.New(rand.NewPCG(1, 2)))
					m.requireSound(t)
					m.repair(t)
					m.requireSound(t)
					got, want := m.recall(t, set.queries, 50), m.fresh(t, set.queries, 50)
					t.Logf("recall %.4f, built anew %.4f", got, want)
					require.GreaterOrEqual(t, got, 0.97*want)
				})
			}
		}
	}
}

// Whole clusters go, one after another, down to the last.
func TestClustersGo(t *testing.T) {
	const dim = 16
	clusters, each := sized(10, 4), sized(120, 60)
	centres := gaussian(7, clusters, dim)
	noise := gaussian(8, clusters*each, dim)
	var vectors [][]float32
	for i, v := range noise {
		for j := range v {
			v[j] = 0.1*v[j] + 3*centres[i/each][j]
		}
		vectors = append(vectors, v)
	}
	for _, metric := range sized(metrics, metrics[1:2]) {
		m := newModel(t, Params{Dim: dim, Metric: metric}, vectors)
		for c := range clusters {
			for id := c * each; id < (c+1)*each; id++ {
				m.remove(t, id)
			}
			m.repair(t)
			m.requireSound(t)
			if c < clusters-1 {
				queries := vectors[(c+1)*each : (c+1)*each+30]
				require.GreaterOrEqual(t, m.recall(t, queries, 50), 0.97*m.fresh(t, queries, 50), "%s %d", metric, c)
			}
		}
		hits, end := search(t, m.Graph, Query{Vector: vectors[0], K: 10})
		require.Empty(t, hits)
		require.Equal(t, Exhausted, end)
		m.put(t, 3, vectors[3])
		hits, _ = search(t, m.Graph, Query{Vector: vectors[0], K: 10})
		require.Len(t, hits, 1)
	}
}

// Without Repair, deleted nodes lead on and are no results.
func TestDeadNodesLeadOn(t *testing.T) {
	count := sized(3000, 600)
	vectors := gaussian(1, count, 16)
	m := newModel(t, Params{Dim: 16, Metric: vector.L2}, vectors)
	for id := range count * 9 / 10 {
		m.remove(t, id)
	}
	require.Equal(t, count*9/10, m.Dead())
	require.GreaterOrEqual(t, m.recall(t, gaussian(2, 50, 16), 50), 0.97)
	m.requireSound(t)
}

// What is inserted when all else is dead becomes known.
func TestInsertAmongTheDead(t *testing.T) {
	vectors := gaussian(1, 600, 4)
	m := newModel(t, Params{Dim: 4, Metric: vector.L2}, vectors[:300])
	for id := range 300 {
		m.remove(t, id)
	}
	for i, v := range vectors[300:] {
		m.vectors = append(m.vectors, nil)
		m.put(t, 300+i, v)
		if i%100 == 50 {
			m.repair(t)
		}
	}
	m.requireSound(t)
	require.GreaterOrEqual(t, m.recall(t, gaussian(2, 50, 4), 50), 0.97)
}

func TestRepairGivenUp(t *testing.T) {
	m := newModel(t, Params{Dim: 4}, gaussian(1, 1000, 4))
	for id := range 500 {
		m.remove(t, id)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, m.Repair(ctx), context.Canceled)
	require.Equal(t, 500, m.Dead())
	m.requireSound(t)
	m.repair(t)
	m.requireSound(t)
}
