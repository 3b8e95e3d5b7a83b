package value_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

var operators = map[string]func(a, b value.Value) (value.Value, error){
	"+": value.Add, "-": value.Sub, "*": value.Mul, "/": value.Div,
}

func TestArithmetic(t *testing.T) {
	i, f, at, text := value.Int, value.Float, value.Timestamp, value.Text
	const most, least = math.MaxInt64, math.MinInt64
	tests := []struct {
		a    value.Value
		op   string
		b    value.Value
		want value.Value
		err  fault.Kind
	}{
		{i(2), "+", i(3), i(5), 0},
		{i(2), "-", i(3), i(-1), 0},
		{i(-7), "*", i(3), i(-21), 0},
		{i(7), "/", i(2), i(3), 0},
		{i(-7), "/", i(2), i(-3), 0},
		{i(most), "+", i(0), i(most), 0},
		{i(most), "+", i(1), value.Null, fault.Query},
		{i(least), "+", i(-1), value.Null, fault.Query},
		{i(least), "-", i(1), value.Null, fault.Query},
		{i(0), "-", i(least), value.Null, fault.Query},
		{i(-1), "-", i(least), i(most), 0},
		{i(least), "*", i(1), i(least), 0},
		{i(least), "*", i(-1), value.Null, fault.Query},
		{i(1 << 62), "*", i(2), value.Null, fault.Query},
		{i(1 << 62), "*", i(-2), i(least), 0},
		{i(least), "/", i(-1), value.Null, fault.Query},
		{i(1), "/", i(0), value.Null, fault.Query},

		{i(1), "+", f(0.5), f(1.5), 0},
		{f(1), "/", i(4), f(0.25), 0},
		{f(1.5), "*", f(2), f(3), 0},
		{f(1), "/", f(0), value.Null, fault.Query},
		{f(0), "/", i(0), value.Null, fault.Query},
		{f(1e308), "*", f(10), value.Null, fault.Query},
		{f(-1e308), "-", f(1e308), value.Null, fault.Query},

		{at(5), "+", i(3), at(8), 0},
		{i(3), "+", at(5), at(8), 0},
		{at(5), "-", i(3), at(2), 0},
		{at(5), "-", at(3), i(2), 0},
		{at(most), "+", i(1), value.Null, fault.Query},
		{at(least), "-", i(1), value.Null, fault.Query},
		{at(least), "-", at(1), value.Null, fault.Query},
		{i(3), "-", at(5), value.Null, fault.Type},
		{at(5), "+", at(3), value.Null, fault.Type},
		{at(5), "*", i(2), value.Null, fault.Type},
		{at(5), "+", f(1), value.Null, fault.Type},

		{text("a"), "+", text("b"), text("ab"), 0},
		{text("a"), "-", text("b"), value.Null, fault.Type},
		{text("a"), "+", i(1), value.Null, fault.Type},
		{value.Bool(true), "+", i(1), value.Null, fault.Type},
		{value.List(nil), "+", value.List(nil), value.Null, fault.Type},
		{value.Vector([]float32{1}), "*", i(2), value.Null, fault.Type},
		{value.Bytes([]byte("a")), "+", text("b"), value.Null, fault.Type},
	}
	for _, test := range tests {
		got, err := operators[test.op](test.a, test.b)
		name := test.a.String() + test.op + test.b.String()
		if test.err != 0 {
			requireFault(t, test.err, err, name)
			continue
		}
		require.NoError(t, err, name)
		requireSame(t, test.want, got, name)
	}
}

func TestArithmeticWithNull(t *testing.T) {
	others := []value.Value{value.Null, value.Int(0), value.Text("x"), value.Bool(true), value.List(nil)}
	for op, f := range operators {
		for _, other := range others {
			for _, pair := range [][2]value.Value{{value.Null, other}, {other, value.Null}} {
				got, err := f(pair[0], pair[1])
				require.NoError(t, err, op)
				require.True(t, got.IsNull(), op)
			}
		}
	}
}

func TestNeg(t *testing.T) {
	got, err := value.Neg(value.Int(5))
	require.NoError(t, err)
	requireSame(t, value.Int(-5), got)
	got, err = value.Neg(value.Float(0.5))
	require.NoError(t, err)
	requireSame(t, value.Float(-0.5), got)
	got, err = value.Neg(value.Null)
	require.NoError(t, err)
	require.True(t, got.IsNull())
	_, err = value.Neg(value.Int(math.MinInt64))
	requireFault(t, fault.Query, err)
	_, err = value.Neg(value.Timestamp(1))
	requireFault(t, fault.Type, err)
}

// TestIntArithmeticExactly checks int results and overflow against integers
// without bounds.
func TestIntArithmeticExactly(t *testing.T) {
	r := valuetest.Rand(3)
	for range 50000 {
		a, b := valuetest.Int(r), valuetest.Int(r)
		x, y := big.NewInt(a), big.NewInt(b)
		exact := map[string]*big.Int{
			"+": new(big.Int).Add(x, y), "-": new(big.Int).Sub(x, y), "*": new(big.Int).Mul(x, y),
		}
		if b != 0 {
			exact["/"] = new(big.Int).Quo(x, y)
		}
		for op, want := range exact {
			got, err := operators[op](value.Int(a), value.Int(b))
			if !want.IsInt64() {
				requireFault(t, fault.Query, err, "%d %s %d", a, op, b)
				continue
			}
			require.NoError(t, err, "%d %s %d", a, op, b)
			requireSame(t, value.Int(want.Int64()), got, op)
		}
	}
}
