package vector

import (
	"math"
	"math/bits"
)

// rotation turns vectors, all in the same way, so that what is special about
// single components spreads over all of them. Distances and products stay.
//
// A Hadamard transform spreads a power of 2 of components, so it is applied to
// the first and the last of them in turn, after signs were changed at random. Both
// twice is near enough to a rotation that is random altogether (Gao et al.,
// arXiv:2409.09913, do the same).
type rotation struct {
	// factors of each turn's components: a sign, and the scale of the transform
	// where it applies.
	factors [4][]float32
	block   int // how many components are transformed
}

// newRotation returns the rotation of vectors of dim components. It never
// changes, as codes and encoded centroids rest on it.
func newRotation(dim int) *rotation {
	r := &rotation{block: 1 << (bits.Len(uint(dim)) - 1)}
	scale := float32(1 / math.Sqrt(float64(r.block)))
	for turn := range r.factors {
		factors := make([]float32, dim)
		for i := range factors {
			factors[i] = randomSign(turn*dim + i)
		}
		transformed := r.part(turn, factors)
		for i := range transformed {
			transformed[i] *= scale
		}
		r.factors[turn] = factors
	}
	return r
}

// randomSign returns a bit of the nth number of SplitMix64 (Steele et al. 2014)
// as 1 or -1.
func randomSign(n int) float32 {
	z := (uint64(n) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float32(int64(z>>63)*2 - 1)
}

// part returns the components of x that a turn transforms.
func (r *rotation) part(turn int, x []float32) []float32 {
	if turn%2 == 0 {
		return x[:r.block]
	}
	return x[len(x)-r.block:]
}

// apply turns x.
func (r *rotation) apply(x []float32) {
	for turn, factors := range r.factors {
		for i, f := range factors {
			x[i] *= f
		}
		hadamard(r.part(turn, x))
	}
}

// hadamard is the Walsh-Hadamard transform of x, a power of 2 of components,
// without its scale. Four components are combined in one pass as two passes
// over pairs would.
func hadamard(x []float32) {
	quarter := 1
	for ; 4*quarter <= len(x); quarter *= 4 {
		for start := 0; start < len(x); start += 4 * quarter {
			hadamard4(x[start:start+4*quarter], quarter)
		}
	}
	if quarter < len(x) {
		low, high := x[:quarter], x[quarter:]
		for i, a := range low {
			b := high[i]
			low[i], high[i] = a+b, a-b
		}
	}
}

// hadamard4 combines the quarters of x.
func hadamard4(x []float32, quarter int) {
	x0, x1, x2, x3 := x[:quarter], x[quarter:][:quarter], x[2*quarter:][:quarter], x[3*quarter:][:quarter]
	for i, a := range x0 {
		b, c, d := x1[i], x2[i], x3[i]
		sum, gap, sum2, gap2 := a+b, a-b, c+d, c-d
		x0[i], x1[i], x2[i], x3[i] = sum+sum2, gap+gap2, sum-sum2, gap-gap2
	}
}
