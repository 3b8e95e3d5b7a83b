package value_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

// slowFloat16 returns the value of a binary16 by its definition.
func slowFloat16(h uint16) float64 {
	sign := 1.0
	if h>>15 != 0 {
		sign = -1
	}
	exp, mant := int(h>>10&31), float64(h&1023)
	switch exp {
	case 0:
		return sign * math.Ldexp(mant, -24)
	case 31:
		if mant != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+mant, exp-25)
}

func TestFloat16RoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		h := uint16(h)
		f := value.FromFloat16(h)
		want := slowFloat16(h)
		if math.IsNaN(want) {
			require.True(t, f != f, h)
			require.True(t, math.IsNaN(slowFloat16(value.ToFloat16(f))), h)
			continue
		}
		require.Equal(t, want, float64(f), h)
		require.Equal(t, h, value.ToFloat16(f), h)
	}
}

// TestFloat16Nearest checks rounding between all neighbours: just below, at and
// just above the middle.
func TestFloat16Nearest(t *testing.T) {
	for h := range uint16(0x7bff) { // up to the last pair of finite numbers
		low, high := float32(slowFloat16(h)), float32(slowFloat16(h+1))
		middle := low + (high-low)/2
		even := h + h&1
		for sign, s := range map[uint16]float32{0: 1, 0x8000: -1} {
			require.Equal(t, even|sign, value.ToFloat16(s*middle), h)
			require.Equal(t, h|sign, value.ToFloat16(s*math.Nextafter32(middle, 0)), h)
			require.Equal(t, h+1|sign, value.ToFloat16(s*math.Nextafter32(middle, math.MaxFloat32)), h)
		}
	}
}

func TestFloat16Borders(t *testing.T) {
	tests := []struct {
		f    float32
		want uint16
	}{
		{0, 0}, {float32(math.Copysign(0, -1)), 0x8000}, {1, 0x3c00}, {-2, 0xc000},
		{65504, 0x7bff}, {65519.996, 0x7bff}, {65520, 0x7c00}, {-70000, 0xfc00},
		{math.MaxFloat32, 0x7c00}, {float32(math.Inf(-1)), 0xfc00},
		{0x1p-24, 1}, {0x1p-25, 0}, {0x1.000002p-25, 1}, {math.SmallestNonzeroFloat32, 0},
	}
	for _, test := range tests {
		require.Equal(t, test.want, value.ToFloat16(test.f), test.f)
	}
	r := valuetest.Rand(4)
	for range 100000 {
		// Rounding never leaves the nearest of all.
		f := math.Float32frombits(r.Uint32())
		got := float64(value.FromFloat16(value.ToFloat16(f)))
		if f != f || math.IsInf(got, 0) {
			continue
		}
		spacing := math.Max(math.Ldexp(1, -24), math.Abs(float64(f))/1024)
		require.LessOrEqual(t, math.Abs(got-float64(f)), spacing/2*1.001, f)
	}
}
