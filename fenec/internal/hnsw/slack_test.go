package hnsw

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// hard are vectors whose scores with queries are nearer to each other than kernels
// can tell.
var hard = []struct {
	name string
	make func(rng *rand.Rand, count, dim int) (vectors, queries [][]float32)
}{
	{"alike", func(rng *rand.Rand, count, dim int) (vectors, queries [][]float32) {
		base := normal(rng, dim)
		return closeTo(rng, base, count, 1e-3), closeTo(rng, base, 4, 1e-3)
	}},
	{"at right angles", func(rng *rand.Rand, count, dim int) (vectors, queries [][]float32) {
		base := normal(rng, dim)
		for range 4 {
			q := normal(rng, dim)
			part := vector.Product(q, base) / vector.Product(base, base)
			for i := range q {
				q[i] -= float32(part * float64(base[i]))
			}
			queries = append(queries, q)
		}
		return closeTo(rng, base, count, 1e-5), queries
	}},
	{"cancelling", func(rng *rand.Rand, count, dim int) (vectors, queries [][]float32) {
		for range count {
			v := normal(rng, dim)
			v[0] = float32(rng.NormFloat64() * 3e4)
			v[dim-1] = v[0]
			vectors = append(vectors, v)
		}
		for range 4 {
			q := normal(rng, dim)
			q[0], q[dim-1] = 3e4, -3e4
			queries = append(queries, q)
		}
		return vectors, queries
	}},
	{"of great and little lengths", func(rng *rand.Rand, count, dim int) (vectors, queries [][]float32) {
		for range count {
			v, scale := normal(rng, dim), math.Pow(10, float64(rng.IntN(60)-30))
			for i := range v {
				v[i] = float32(float64(v[i]) * scale)
			}
			vectors = append(vectors, v)
		}
		return vectors, vectors[:4]
	}},
}

func normal(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func closeTo(rng *rand.Rand, base []float32, count int, noise float64) (vectors [][]float32) {
	for range count {
		v := make([]float32, len(base))
		for i, x := range base {
			v[i] = float32(float64(x) + rng.NormFloat64()*noise)
		}
		vectors = append(vectors, v)
	}
	return vectors
}

// rounded returns vectors as halves hold them, those in range.
func rounded(vectors [][]float32) (halves [][]float32) {
	for _, v := range vectors {
		h, finite := make([]float32, len(v)), true
		for i, x := range v {
			h[i] = vector.FromFloat16(vector.ToFloat16(x))
			finite = finite && !math.IsInf(float64(h[i]), 0)
		}
		if finite {
			halves = append(halves, h)
		}
	}
	return halves
}

// Whatever kernels make of vectors, the best by their scores are among what Exhaust
// and Among return.
func TestExhaustHard(t *testing.T) {
	ctx := context.Background()
	for _, kind := range hard {
		for _, dim := range []int{3, 24, 64} {
			whole, queries := kind.make(rand.New(rand.NewPCG(9, uint64(dim))), sized(500, 150), dim)
			for _, storage := range []Storage{Float32, Float16} {
				vectors := whole
				if storage == Float16 {
					vectors = rounded(whole)
				}
				var ids []uint64
				for i := range vectors {
					ids = append(ids, uint64(i))
				}
				for _, m := range metrics {
					g := build(t, Params{Dim: dim, Metric: m, Storage: storage, M: 4, EFConstruction: 8}, vectors)
					for _, query := range queries {
						q := Query{Vector: query, K: 7}
						hits, err := g.Exhaust(ctx, q, nil)
						require.NoError(t, err)
						requireBest(t, m, vectors, query, q.K, nil, hits)
						hits, err = g.Among(ctx, q, ids, hits)
						require.NoError(t, err)
						requireBest(t, m, vectors, query, q.K, nil, hits)
					}
				}
			}
		}
	}
}

// Halves under Cosine are not rounded again: they have their own scores, and are found
// as floats are, also when the graph has been stored and loaded.
func TestHalvesUnderCosine(t *testing.T) {
	const dim = 32
	rng := rand.New(rand.NewPCG(3, 9))
	base := normal(rng, dim)
	vectors := rounded(closeTo(rng, base, sized(3000, 400), 1e-2))
	vectors = append(vectors, make([]float32, dim), vectors[0])
	queries := closeTo(rng, base, 20, 1e-2)
	g := build(t, Params{Dim: dim, Storage: Float16, EFConstruction: 60}, vectors)
	var d disk
	d.write(g.Changes())
	loaded, err := d.load(g.params, vectors)
	require.NoError(t, err)
	for _, g := range []*Graph{g, loaded} {
		require.GreaterOrEqual(t, recall(t, g, vector.Cosine, vectors, queries, 10, 100), 0.97)
		hits, err := g.Exhaust(context.Background(), Query{Vector: queries[0], K: len(vectors)}, nil)
		require.NoError(t, err)
		require.Len(t, hits, len(vectors))
		for _, h := range hits {
			require.Equal(t, Hit{h.ID, vector.Score(vector.Cosine, queries[0], vectors[h.ID]), true}, h)
		}
	}
}

// Nothing is wanted by a search for none.
func TestExhaustNone(t *testing.T) {
	g := build(t, Params{Dim: 2}, gaussian(1, 9, 2))
	hits, err := g.Exhaust(context.Background(), Query{Vector: []float32{1, 0}}, nil)
	require.NoError(t, err)
	require.Empty(t, hits)
}
