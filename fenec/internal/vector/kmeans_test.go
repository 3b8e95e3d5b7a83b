package vector

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKMeans finds clusters that lie well apart.
func TestKMeans(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	centres := randomVectors(r, 8, 30)
	vectors := make([][]float32, 400)
	for i := range vectors {
		vectors[i] = slices.Clone(centres[i%8])
		for j := range vectors[i] {
			vectors[i][j] += float32(r.NormFloat64()) / 50
		}
	}
	found := kMeans(vectors, 8)
	require.Len(t, found, 8)
	for _, c := range centres {
		nearest := slices.MinFunc(found, func(a, b []float32) int {
			if Distance(a, c) < Distance(b, c) {
				return -1
			}
			return 1
		})
		require.Less(t, Distance(nearest, c), 0.1)
	}
	require.Equal(t, found, kMeans(vectors, 8), "k-means is not the same every time")
}

// TestKMeansOfEqualVectors leaves centroids without vectors where they are.
func TestKMeansOfEqualVectors(t *testing.T) {
	v := []float32{1, 2}
	require.Equal(t, [][]float32{v, v, v}, kMeans([][]float32{v, v, v, v}, 3))
}
