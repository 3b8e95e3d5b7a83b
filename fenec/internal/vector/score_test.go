package vector

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

const huge, tiny = math.MaxFloat32, math.SmallestNonzeroFloat32

func TestScore(t *testing.T) {
	for _, test := range []struct {
		name string
		m    Metric
		a, b []float32
		want float32
	}{
		{"same direction", Cosine, []float32{1, 2}, []float32{2, 4}, 1},
		{"opposite", Cosine, []float32{1, 2}, []float32{-1, -2}, -1},
		{"right angle", Cosine, []float32{1, 0}, []float32{0, 1}, 0},
		{"half a right angle", Cosine, []float32{1, 0}, []float32{1, 1}, math.Sqrt2 / 2},
		{"zero on the left", Cosine, []float32{0, 0}, []float32{1, 1}, 0},
		{"zero on the right", Cosine, []float32{1, 1}, []float32{0, 0}, 0},
		{"zero on both sides", Cosine, []float32{0, 0}, []float32{0, 0}, 0},
		{"huge", Cosine, []float32{huge, huge}, []float32{huge, huge}, 1},
		{"tiny", Cosine, []float32{tiny, 0}, []float32{tiny, 0}, 1},
		{"huge beside tiny", Cosine, []float32{huge, 0}, []float32{tiny, tiny}, math.Sqrt2 / 2},
		{"no components", Cosine, nil, nil, 0},
		{"distance", L2, []float32{0, 0}, []float32{3, 4}, 5},
		{"distance that overflows", L2, []float32{huge, huge}, []float32{-huge, -huge}, huge},
		{"tiny distance", L2, []float32{tiny}, []float32{2 * tiny}, tiny},
		{"product", Dot, []float32{1, 2, 3}, []float32{4, -5, 6}, 12},
		{"product that overflows", Dot, []float32{huge, 1}, []float32{huge, 1}, huge},
		{"product that overflows below", Dot, []float32{huge, 1}, []float32{-huge, 1}, -huge},
		{"overflow that cancels", Dot, []float32{huge, huge}, []float32{huge, -huge}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachLevel(t, func(t *testing.T) {
				require.Equal(t, test.want, Score(test.m, test.a, test.b))
				require.Equal(t, test.want, Score(test.m, test.b, test.a))
			})
		})
	}
}

// laneSum adds terms up as the package comment describes, in the most obvious way.
func laneSum(n int, term func(i int) float64) float64 {
	var s [16]float64
	for i := range n {
		s[i%16] += term(i)
	}
	for half := 8; half > 0; half /= 2 {
		for i := range half {
			s[i] += s[i+half]
		}
	}
	return s[0]
}

// TestSumsBits compares every kind of kernel to the last bit.
func TestSumsBits(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 201 {
			a, b := randomVector(r, n), randomVector(r, n)
			for i := range n / 3 {
				a[i] *= float32(math.Pow(10, float64(r.IntN(60)-30)))
			}
			require.Equal(t, laneSum(n, func(i int) float64 {
				p := float64(a[i]) * float64(b[i])
				return p
			}), Product(a, b), n)
			require.Equal(t, math.Sqrt(laneSum(n, func(i int) float64 {
				d := float64(a[i]) - float64(b[i])
				return float64(d * d)
			})), Distance(a, b), n)
		}
	})
}

// TestScoreAccuracy compares scores with sums that are not rounded.
func TestScoreAccuracy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 7, 128, 1000} {
		a, b := randomVector(r, n), randomVector(r, n)
		dot, squares := new(big.Float).SetPrec(500), new(big.Float).SetPrec(500)
		for i := range a {
			x, y := big.NewFloat(float64(a[i])).SetPrec(500), big.NewFloat(float64(b[i])).SetPrec(500)
			dot.Add(dot, new(big.Float).Mul(x, y))
			d := x.Sub(x, y)
			squares.Add(squares, d.Mul(d, d))
		}
		want, _ := dot.Float64()
		require.InDelta(t, want, Product(a, b), 1e-12)
		want, _ = squares.Sqrt(squares).Float64()
		require.InDelta(t, want, Distance(a, b), 1e-12)
	}
}

func TestNormalize(t *testing.T) {
	v := []float32{3, 0, -4}
	Normalize(v, v)
	require.Equal(t, []float32{0.6, 0, -0.8}, v)
	require.Equal(t, 5.0, Norm([]float32{3, 0, -4}))

	Normalize(v, make([]float32, 3))
	require.Equal(t, make([]float32, 3), v)

	Normalize(v, []float32{huge, 0, huge})
	require.InDelta(t, 1, Norm(v), 1e-7)
}
