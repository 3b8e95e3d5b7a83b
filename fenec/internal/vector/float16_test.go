package vector

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// float16Value returns the value of a finite binary16 by its definition.
func float16Value(h uint16) float64 {
	exp, mant := int(h>>10&0x1f), float64(h&0x3ff)
	f := math.Ldexp(1024+mant, exp-25)
	if exp == 0 {
		f = math.Ldexp(mant, -24)
	}
	if h>>15 == 1 {
		f = -f
	}
	return f
}

func TestFloat16RoundTrip(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		f := FromFloat16(h)
		switch {
		case h&0x7c00 != 0x7c00:
			require.Equal(t, math.Float64bits(float16Value(h)), math.Float64bits(float64(f)), h)
			require.Equal(t, h, ToFloat16(f))
		case h&0x3ff == 0:
			require.Equal(t, float32(math.Inf(1-2*int(h>>15))), f)
			require.Equal(t, h, ToFloat16(f))
		default:
			require.True(t, f != f, h)
			require.True(t, ToFloat16(f)&0x7c00 == 0x7c00 && ToFloat16(f)&0x3ff != 0)
		}
	}
}

// TestFloat16Nearest checks rounding between all neighbours: just below, at and
// just above the middle.
func TestFloat16Nearest(t *testing.T) {
	for h := uint16(0); h < 0x7bff; h++ {
		middle := float32((float16Value(h) + float16Value(h+1)) / 2)
		for _, sign := range []float32{1, -1} {
			bit := uint16(math.Float32bits(sign) >> 16 & 0x8000)
			require.Equal(t, bit|(h+h&1), ToFloat16(sign*middle), h)
			require.Equal(t, bit|h, ToFloat16(sign*math.Nextafter32(middle, 0)), h)
			require.Equal(t, bit|(h+1), ToFloat16(sign*math.Nextafter32(middle, huge)), h)
		}
	}
}

// TestFloat16Batch compares the batches with single conversions.
func TestFloat16Batch(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for n := range 201 {
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(14)-8)))
			}
			b := AppendFloat16s([]byte("abc"), x)
			require.Equal(t, "abc", string(b[:3]))
			require.Len(t, b, 3+2*n)
			got := make([]float32, n)
			ReadFloat16s(got, b[3:])
			for i, f := range x {
				h := binary.LittleEndian.Uint16(b[3+2*i:])
				require.Equal(t, ToFloat16(f), h, f)
				require.Equal(t, FromFloat16(h), got[i])
			}
		}
	})
}

// TestFloat16Many compares every kind of kernel with the portable sums over the
// widened rows, with few and many others to fetch.
func TestFloat16Many(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for n := range 201 {
			q := randomVector(r, n)
			narrowed, rows := make([][]uint16, n%5+n%11), make([][]float32, n%5+n%11)
			for i := range rows {
				narrowed[i], rows[i] = make([]uint16, n), make([]float32, n)
				for j, f := range randomVector(r, n) {
					narrowed[i][j] = ToFloat16(f)
					rows[i][j] = FromFloat16(narrowed[i][j])
				}
			}
			out := make([]float32, n%5)
			DotFloat16Many(q, pointers(narrowed), out)
			for i, x := range out {
				require.InDelta(t, Product(q, rows[i]), x, 1e-4, "%d components", n)
			}
			SquaredL2Float16Many(q, pointers(narrowed), out)
			for i, x := range out {
				require.InDelta(t, squared(q, rows[i]), x, 1e-3, "%d components", n)
			}
		}
	})
}

func TestFloat16ManyOverflow(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := 2; n <= 70; n++ {
			q, a, b := make([]float32, n), make([]uint16, n), make([]uint16, n)
			q[0], q[n-1] = huge, huge
			a[0], a[n-1] = ToFloat16(65504), ToFloat16(-65504)
			b[0] = ToFloat16(-2)
			out := make([]float32, 2)
			DotFloat16Many(q, pointers([][]uint16{a, b}), out)
			require.Equal(t, []float32{0, -huge}, out, n)
			SquaredL2Float16Many(q, pointers([][]uint16{a, b}), out)
			require.Equal(t, []float32{huge, huge}, out, n)
		}
	})
}
