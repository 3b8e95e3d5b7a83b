package vector

import "math"

// Score returns how near a is to b, which must be as long. Equal arguments give
// the same bits on every platform, in either order. What lies beyond the range of
// a float32 is delivered as the greatest finite one, with its sign, so scores
// of vectors with finite components are finite and never NaN.
func Score(m Metric, a, b []float32) float32 {
	s := NewScorer(m, a)
	return s.Score(b)
}

// Scorer measures vectors against one query. It may be used concurrently.
type Scorer struct {
	metric  Metric
	query   []float32
	squared float64 // the query's squared length, under Cosine
}

// NewScorer returns a Scorer, which keeps the query.
func NewScorer(m Metric, query []float32) Scorer {
	s := Scorer{metric: m, query: query}
	if m == Cosine {
		s.squared = Product(query, query)
	}
	return s
}

// Score returns what the function Score returns for the query and v.
func (s *Scorer) Score(v []float32) float32 {
	switch s.metric {
	case L2:
		return narrow(Distance(s.query, v))
	case Dot:
		return narrow(Product(s.query, v))
	}
	return narrow(similarity(Product(s.query, v), s.squared, Product(v, v)))
}

// narrow rounds x to a finite float32.
func narrow(x float64) float32 {
	f := float32(x)
	if f-f == 0 {
		return f
	}
	return float32(math.Copysign(math.MaxFloat32, x))
}

// Similarity returns the cosine of the angle between a and b, from -1 to 1, and
// 0 when either is a zero vector. As with Product, the bits do not depend on the
// platform.
func Similarity(a, b []float32) float64 {
	return similarity(Product(a, b), Product(a, a), Product(b, b))
}

// similarity divides a dot product by the root of the squared lengths. Squares
// of float32s, 10^-90 to 10^77, are far from what a float64 cannot hold, even
// when two sums of them are multiplied.
func similarity(dot, a, b float64) float64 {
	length := math.Sqrt(a * b)
	if length == 0 {
		return 0
	}
	return max(-1, min(dot/length, 1))
}

// Product returns the dot product of a and b, which must be as long. It is a sum
// in float64 of a fixed order; see the package comment.
func Product(a, b []float32) float64 { return product(a, b[:len(a)]) }

// Distance returns the Euclidean distance between a and b, which must be as
// long, with the same bits on every platform.
func Distance(a, b []float32) float64 { return math.Sqrt(squared(a, b[:len(a)])) }

// Norm returns the Euclidean length of a.
func Norm(a []float32) float64 { return math.Sqrt(Product(a, a)) }

// Normalize sets dst to the vector of length 1 in the direction of v, or to zero
// where v is zero. The two are as long, and may be the same.
func Normalize(dst, v []float32) {
	length := Norm(v)
	if length == 0 {
		clear(dst)
		return
	}
	for i, x := range v {
		dst[i] = float32(float64(x) / length)
	}
}
