package hnsw

import (
	"math"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// slack bounds by how much the distance that a kernel measures differs from the one
// that vector.Score is made of. Under L2 these are squares.
type slack struct {
	relative float64 // beside what follows, as a part of the distance
	absolute float64
}

// slackOf returns the slack of distances from a query to the vectors of the graph.
//
// A kernel adds at most a quarter of the components and some more up in one sum of
// float32s. Each addition, and what else is rounded, is off by 2^-24 of the sum of all
// products' sizes (Higham, Accuracy and Stability of Numerical Algorithms, 3.1). Where
// products cancel, that is far more than their sum; it is at most the product of both
// lengths. Squared gaps do not cancel. Where products are less than a float32 holds,
// each loses as much as the least of them. Of codes there is no bound.
func (s *scratch) slackOf(query []float32) slack {
	const single, least = 0x1p-24, 0x1p-149
	dim := float64(s.graph.params.Dim)
	part := single * (dim/4 + 24)
	part /= 1 - part
	switch metric := s.graph.params.Metric; {
	case s.rows.codes != nil:
		return slack{absolute: math.Inf(1)}
	case metric == vector.L2:
		return slack{relative: part, absolute: least * dim}
	case metric == vector.Dot:
		return slack{absolute: part*vector.Norm(query)*s.graph.longest.load() + least*dim}
	}
	return slack{absolute: part + lengthSlack}
}

// reach returns the highest rank that something may have which is as near by its
// score as something of this rank is.
func (s slack) reach(rank uint32) uint32 {
	d := float64(distanceOf(rank)) + 2*s.absolute
	wide := 1 + s.relative
	return rankOf(math.Nextafter32(float32(d*wide*wide), float32(math.Inf(1))))
}

// greatest keeps the greatest of numbers that are not negative.
type greatest struct{ bits atomic.Uint64 }

func (g *greatest) load() float64 { return math.Float64frombits(g.bits.Load()) }

// raise makes x the number kept if it is greater. The bits of such numbers are in
// the order of the numbers.
func (g *greatest) raise(x float64) {
	for b := math.Float64bits(x); ; {
		if old := g.bits.Load(); old >= b || g.bits.CompareAndSwap(old, b) {
			return
		}
	}
}

// lengthen takes the length of v into account before v is stored, where slacks depend
// on that.
func (g *Graph) lengthen(v []float32) {
	if g.params.Metric == vector.Dot {
		g.longest.raise(vector.Norm(v))
	}
}
