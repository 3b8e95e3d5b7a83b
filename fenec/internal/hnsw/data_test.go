package hnsw

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// Streams of the generator below.
const (
	centreStream = 1
	storedStream = 2
	queryStream  = 3
)

// stream is mulberry32, seeded by a kind and an index, so that each vector can be
// made alone and is the same everywhere.
type stream uint32

func newStream(kind, index uint32) *stream {
	s := stream(murmur(0xf3ecd0c5 ^ murmur(kind*0x9e3779b1+index)))
	return &s
}

func murmur(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

func (s *stream) next() uint32 {
	*s += 0x6d2b79f5
	x := uint32(*s)
	y := (x ^ x>>15) * (x | 1)
	y ^= y + (y^y>>7)*(y|61)
	return y ^ y>>14
}

// bell returns the sum of four 16-bit numbers, less its mean.
func (s *stream) bell() int {
	a, b := s.next(), s.next()
	return int(a&0xffff+a>>16+b&0xffff+b>>16) - 131070
}

// clustered returns unit vectors around 1,000 centres.
func clustered(kind uint32, count, dim int) [][]float32 {
	centres := make([][]int, 1000)
	for c := range centres {
		s := newStream(centreStream, uint32(c))
		for range dim {
			centres[c] = append(centres[c], s.bell())
		}
	}
	vectors := make([][]float32, count)
	for i := range vectors {
		s := newStream(kind, uint32(i))
		vectors[i] = around(s, centres[s.next()%uint32(len(centres))])
	}
	return vectors
}

func around(s *stream, centre []int) []float32 {
	sums, square := make([]int, len(centre)), 0
	for i, c := range centre {
		sums[i] = 2*c + 3*s.bell()
		square += sums[i] * sums[i]
	}
	v := make([]float32, len(sums))
	for i, x := range sums {
		v[i] = float32(float64(x) / math.Sqrt(float64(square)))
	}
	return v
}

// gaussian returns vectors of independent normal components.
func gaussian(seed uint64, count, dim int) [][]float32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	vectors := make([][]float32, count)
	for i := range vectors {
		vectors[i] = make([]float32, dim)
		for j := range vectors[i] {
			vectors[i][j] = float32(rng.NormFloat64())
		}
	}
	return vectors
}

// exact returns the k nearest of the vectors that ok lets through, by a scan.
func exact(m vector.Metric, vectors [][]float32, query []float32, k int, ok func(i int) bool) []Hit {
	var hits []Hit
	for i, v := range vectors {
		if v != nil && (ok == nil || ok(i)) {
			hits = append(hits, Hit{ID: uint64(i), Score: vector.Score(m, query, v)})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		switch {
		case m.Better(a.Score, b.Score):
			return -1
		case m.Better(b.Score, a.Score):
			return 1
		}
		return 0
	})
	return hits[:min(k, len(hits))]
}

// sized returns how large a test is made: short is for short runs, in which each
// test still goes through all that it is about, but with fewer vectors or cases.
func sized[T any](full, short T) T {
	if testing.Short() {
		return short
	}
	return full
}

// build returns a graph of the vectors, by their indices. In short runs it chooses
// neighbours with less care unless told with how much.
func build(t testing.TB, p Params, vectors [][]float32) *Graph {
	t.Helper()
	if p.EFConstruction == 0 {
		p.EFConstruction = sized(DefaultEFConstruction, 30)
	}
	g, err := New(p)
	require.NoError(t, err)
	for i, v := range vectors {
		require.NoError(t, g.Insert(uint64(i), v))
	}
	return g
}
