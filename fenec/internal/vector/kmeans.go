package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"unsafe"
)

// rounds is how often k-means moves its centroids. Few move far after the first.
const rounds = 10

// kMeans returns k centroids of the vectors, which are at least as many. The
// first ones are drawn as by k-means++ (Arthur and Vassilvitskii 2007), from the
// same random numbers every time.
func kMeans(vectors [][]float32, k int) [][]float32 {
	c := newCentroids(drawCentroids(vectors, k))
	for range rounds {
		c.move(vectors)
	}
	return c.vectors
}

// drawCentroids draws k of the vectors, each with a chance by the square of its
// distance to the nearest one drawn before.
func drawCentroids(vectors [][]float32, k int) [][]float32 {
	r := rand.New(rand.NewPCG(uint64(len(vectors)), uint64(k)))
	rows := make([]*float32, len(vectors))
	nearest, gaps := make([]float32, len(vectors)), make([]float32, len(vectors))
	for i, v := range vectors {
		rows[i], nearest[i] = unsafe.SliceData(v), math.MaxFloat32
	}
	drawn := [][]float32{slices.Clone(vectors[r.IntN(len(vectors))])}
	for len(drawn) < k {
		SquaredL2Many(drawn[len(drawn)-1], rows, gaps)
		sum := 0.0
		for i, gap := range gaps {
			nearest[i] = min(nearest[i], gap)
			sum += float64(nearest[i])
		}
		drawn = append(drawn, slices.Clone(vectors[drawByWeight(nearest, sum*r.Float64())]))
	}
	return drawn
}

// drawByWeight returns the first index up to which the weights sum up to more
// than mark.
func drawByWeight(weights []float32, mark float64) int {
	for i, w := range weights {
		if mark -= float64(w); mark < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// centroids are vectors of which the nearest to another can be found.
type centroids struct {
	vectors [][]float32
	rows    []*float32
}

func newCentroids(vectors [][]float32) *centroids {
	c := &centroids{vectors: vectors}
	for _, v := range vectors {
		c.rows = append(c.rows, unsafe.SliceData(v))
	}
	return c
}

// nearest returns the index of the centroid nearest to v.
func (c *centroids) nearest(v []float32) int {
	var gaps [maxCentroids]float32
	SquaredL2Many(v, c.rows, gaps[:len(c.rows)])
	best := 0
	for i, gap := range gaps[:len(c.rows)] {
		if gap < gaps[best] {
			best = i
		}
	}
	return best
}

// move sets each centroid to the mean of the vectors it is nearest to, if any.
func (c *centroids) move(vectors [][]float32) {
	dim := len(vectors[0])
	counts, sums := make([]int, len(c.vectors)), make([]float64, len(c.vectors)*dim)
	for _, v := range vectors {
		i := c.nearest(v)
		counts[i]++
		sum := sums[i*dim : (i+1)*dim]
		for j, x := range v {
			sum[j] += float64(x)
		}
	}
	for i, n := range counts {
		if n == 0 {
			continue
		}
		for j := range dim {
			c.vectors[i][j] = float32(sums[i*dim+j] / float64(n))
		}
	}
}
