package value_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

func TestAppendJSONFloat(t *testing.T) {
	tests := []struct {
		f    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {5, "5"}, {-13, "-13"}, {0.5, "0.5"},
		{19.99, "19.99"}, {-0.001, "-0.001"}, {math.Nextafter(0.3, 1), "0.30000000000000004"},
		{1.0 / 3, "0.3333333333333333"}, {123456.789, "123456.789"}, {0.0625, "0.0625"},
		{1e14, "100000000000000"}, {999999999999999, "999999999999999"},
		{1e15, "1000000000000000"}, {-1e15, "-1000000000000000"}, {1e15 + 2, "1000000000000002"},
		{1e21, "1" + strings.Repeat("0", 21)}, {1e300, "1" + strings.Repeat("0", 300)},
		{1 << 53, "9007199254740992"}, {math.MinInt64, "-9223372036854776000"},
		{1e-7, "0.0000001"}, {5e-324, "0." + strings.Repeat("0", 323) + "5"},
		{999999999999.999, "999999999999.999"}, {1e12 + 0.5, "1000000000000.5"}, {999999999999999.9, "999999999999999.9"},
		{math.Inf(1), "null"}, {math.Inf(-1), "null"}, {math.NaN(), "null"},
	}
	for _, test := range tests {
		require.Equal(t, test.want, string(value.AppendJSONFloat(nil, test.f)))
	}
}

func TestAppendJSONFloat32(t *testing.T) {
	zero := float32(math.Copysign(0, -1))
	tests := []struct {
		f    float32
		want string
	}{
		{0, "0"}, {zero, "-0"}, {2, "2"}, {-3, "-3"}, {0.1, "0.1"}, {0.25, "0.25"}, {16777216, "16777216"},
		{0.09997559, "0.09997559"}, {vector.FromFloat16(vector.ToFloat16(0.1)), "0.099975586"},
		{1e20, "1" + strings.Repeat("0", 20)}, {math.MaxFloat32, "34028235" + strings.Repeat("0", 31)},
		{math.SmallestNonzeroFloat32, "0." + strings.Repeat("0", 44) + "1"},
		{float32(math.NaN()), "null"}, {float32(math.Inf(-1)), "null"},
		{math.Float32frombits(0x15AE43FD), "0.00000000000000000000000007038530691851209"},
		{math.Float32frombits(0x95AE43FD), "-0.00000000000000000000000007038530691851209"},
		{math.Float32frombits(0x15AE43FE), "0." + strings.Repeat("0", 25) + "70385313"},
	}
	for _, test := range tests {
		require.Equal(t, test.want, string(value.AppendJSONFloat32(nil, test.f)))
	}
}

// slowShortest returns the shortest decimal that reads back as f; the nearest of
// several, and of two equally near the one further from zero.
func slowShortest(f float64, bitSize int) string {
	exact := new(big.Rat).SetFloat64(math.Abs(f))
	exp, _ := strconv.Atoi(strings.Split(strconv.FormatFloat(math.Abs(f), 'e', 17, 64), "e")[1])
	for digits := 1; ; digits++ {
		scale := exp - digits + 1
		unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(scale, -scale))), nil))
		if scale < 0 {
			unit.Inv(unit)
		}
		quotient := new(big.Rat).Quo(exact, unit)
		low := new(big.Int).Quo(quotient.Num(), quotient.Denom())
		best, bestText := (*big.Rat)(nil), ""
		for _, n := range []*big.Int{low, new(big.Int).Add(low, big.NewInt(1))} {
			text := fmt.Sprintf("%se%d", n, scale)
			if back, _ := strconv.ParseFloat(text, bitSize); back != math.Abs(f) {
				continue
			}
			r, _ := new(big.Rat).SetString(text)
			off := r.Sub(r, exact).Abs(r)
			if best == nil || off.Cmp(best) <= 0 {
				best, bestText = off, text
			}
		}
		if best != nil {
			return plain(f < 0, bestText)
		}
	}
}

// plain writes a decimal with an exponent without one.
func plain(negative bool, text string) string {
	mant, e, _ := strings.Cut(text, "e")
	exp, _ := strconv.Atoi(e)
	mant, exp = strings.TrimRight(mant, "0"), exp+len(mant)-len(strings.TrimRight(mant, "0"))
	switch {
	case exp >= 0:
		mant += strings.Repeat("0", exp)
	case -exp < len(mant):
		mant = mant[:len(mant)+exp] + "." + mant[len(mant)+exp:]
	default:
		mant = "0." + strings.Repeat("0", -exp-len(mant)) + mant
	}
	if negative {
		return "-" + mant
	}
	return mant
}

// checkFloat compares the printed form of f with the slow one's.
func checkFloat(t *testing.T, f float64) {
	t.Helper()
	got := string(value.AppendJSONFloat([]byte("x"), f))[1:]
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		require.Equal(t, strconv.FormatInt(int64(f), 10), got)
		return
	}
	require.Equal(t, slowShortest(f, 64), got)
}

func checkFloat32(t *testing.T, f float32) {
	t.Helper()
	if f == 0 || math.Float32bits(f)&^(1<<31) == 0x15AE43FD {
		return
	}
	got := string(value.AppendJSONFloat32([]byte("x"), f))[1:]
	require.Equal(t, slowShortest(float64(f), 32), got)
	back, err := strconv.ParseFloat(got, 64)
	require.NoError(t, err)
	require.Equal(t, f, float32(back), "lost by a reader that goes through float64")
}

func TestShortestDecimals(t *testing.T) {
	r := valuetest.Rand(5)
	for range 2500 {
		checkFloat(t, valuetest.Float(r))
		if f := math.Float32frombits(r.Uint32()); f-f == 0 {
			checkFloat32(t, f)
		}
		checkFloat32(t, float32(r.IntN(2e6)-1e6)/float32(math.Pow10(r.IntN(9))))
	}
}

// TestShortestDecimalTies looks where two shortest decimals can be equally
// near: powers of two, and few-bit fractions of about as many decimals as are
// needed to tell floats apart.
func TestShortestDecimalTies(t *testing.T) {
	for exp := -1074; exp <= 1023; exp++ {
		checkFloat(t, math.Ldexp(1, exp))
		checkFloat(t, -math.Ldexp(3, exp-1))
	}
	for exp := -149; exp <= 127; exp++ {
		checkFloat32(t, float32(math.Ldexp(1, exp)))
	}
	r := valuetest.Rand(6)
	ties := 0
	for range 6000 {
		f := randomTie(r)
		checkFloat(t, f)
		if got := string(value.AppendJSONFloat(nil, f)); got != strconv.FormatFloat(f, 'f', -1, 64) && f != math.Trunc(f) {
			ties++
		}
	}
	require.NotZero(t, ties, "no tie met")
	require.Equal(t, "0.00000005960464477539063", string(value.AppendJSONFloat(nil, 0x1p-24)))
}

// randomTie returns a float whose exact value has about 17 or 18 digits, the
// last a 5.
func randomTie(r *rand.Rand) float64 {
	places := 1 + r.IntN(40)
	return math.Ldexp(float64(r.Uint64N(1<<53)|1), -places)
}

func BenchmarkAppendJSONFloat(b *testing.B) {
	for _, f := range []float64{7, 19.99, 0.1234567890123} {
		b.Run(fmt.Sprintf("value=%v", f), func(b *testing.B) {
			var dst []byte
			for b.Loop() {
				dst = value.AppendJSONFloat(dst[:0], f)
			}
		})
	}
	b.Run("float32", func(b *testing.B) {
		var dst []byte
		for b.Loop() {
			dst = value.AppendJSONFloat32(dst[:0], 0.12345679)
		}
		if !bytes.Equal(dst, []byte("0.12345679")) {
			b.Fatal(string(dst))
		}
	})
}
