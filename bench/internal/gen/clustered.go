package gen

import "math"

// Clustered makes vectors of length 1 that lie in a thousand clusters, with noise
// half as wide again as the distances of their centres. It may be used by many
// goroutines.
type Clustered struct {
	dim     int
	centres [clusters][]int
}

const clusters = 1000

// NewClustered makes vectors of dim components.
func NewClustered(dim int) *Clustered {
	c := &Clustered{dim: dim}
	for i := range c.centres {
		s := newStream(centreStream, i)
		c.centres[i] = make([]int, dim)
		for j := range c.centres[i] {
			c.centres[i][j] = s.gauss()
		}
	}
	return c
}

// Fill writes vector i of a kind, StoredVector or QueryVector, to out, which has
// as many components.
func (c *Clustered) Fill(out []float32, k Kind, i int) {
	s := newStream(k, i)
	centre := c.centres[s.below(clusters)]
	raw, sum := make([]int, c.dim), 0
	for j := range raw {
		raw[j] = 2*centre[j] + 3*s.gauss()
		sum += raw[j] * raw[j]
	}
	length := math.Sqrt(float64(sum))
	for j, x := range raw {
		out[j] = float32(float64(x) / length)
	}
}
