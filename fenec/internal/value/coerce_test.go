package value_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

func TestCoerce(t *testing.T) {
	at := ts(t, "2026-01-01")
	list := func(vs ...value.Value) value.Value { return value.List(vs) }
	vec := func(x ...float32) value.Value { return value.Vector(x) }
	i, f, text := value.Int, value.Float, value.Text
	ints, floats, texts := value.ListType(value.TypeInt), value.ListType(value.TypeFloat), value.ListType(value.TypeText)
	tests := []struct {
		v    value.Value
		typ  value.Type
		want value.Value
	}{
		{value.Bool(true), value.TypeBool, value.Bool(true)},

		{i(math.MinInt64), value.TypeInt, i(math.MinInt64)},
		{f(5), value.TypeInt, i(5)},
		{f(math.Copysign(0, -1)), value.TypeInt, i(0)},
		{i(math.MinInt64), value.TypeInt, i(math.MinInt64)},
		{value.Timestamp(7), value.TypeInt, i(7)},

		{f(0.1), value.TypeFloat, f(0.1)},
		{f(math.Inf(1)), value.TypeFloat, f(math.Inf(1))},
		{i(2), value.TypeFloat, f(2)},
		{i(math.MaxInt64), value.TypeFloat, f(1 << 63)},

		{text("x"), value.TypeText, text("x")},
		{at, value.TypeText, text("2026-01-01T00:00:00Z")},

		{value.Bytes([]byte{1}), value.TypeBytes, value.Bytes([]byte{1})},
		{text("é"), value.TypeBytes, value.Bytes([]byte("é"))},
		{text(""), value.TypeBytes, value.Bytes(nil)},
		{list(i(0), f(255)), value.TypeBytes, value.Bytes([]byte{0, 255})},
		{list(), value.TypeBytes, value.Bytes(nil)},

		{at, value.TypeTimestamp, at},
		{i(0), value.TypeTimestamp, value.Timestamp(0)},
		{text("2024-02-29 12:34:56.789123+0200"), value.TypeTimestamp, ts(t, "2024-02-29T10:34:56.789Z")},

		{list(i(1), f(0.1)), value.VectorType(2, false), vec(1, 0.1)},
		{vec(1, 0.1), value.VectorType(2, false), vec(1, 0.1)},
		{list(f(math.MaxFloat32), f(1e-60)), value.VectorType(2, false), vec(math.MaxFloat32, 0)},
		{list(f(0.1), i(65504), f(1e-9)), value.VectorType(3, true), vec(0.099975586, 65504, 0)},
		{vec(0.1, -65504), value.VectorType(2, true), vec(0.099975586, -65504)},
		{list(f(65503.99999999), f(-65504)), value.VectorType(2, true), vec(65504, -65504)},

		{list(i(1), f(2), value.Null), ints, list(i(1), i(2), value.Null)},
		{list(i(9007199254740993)), ints, list(i(9007199254740993))},
		{list(i(1), f(0.1)), floats, list(f(1), f(0.1))},
		{vec(0.1, 2), floats, list(f(0.1), f(2))},
		{vec(1, 2), ints, list(i(1), i(2))},
		{list(), texts, list()},
		{list(text("a"), at), texts, list(text("a"), text("2026-01-01T00:00:00Z"))},
		{list(list(i(1)), list()), value.ListType(ints), list(list(i(1)), list())},
		{list(list(i(1), i(2))), value.ListType(value.VectorType(2, false)), list(vec(1, 2))},

		{i(9007199254740993), value.TypeJSON, i(9007199254740993)},
		{f(19.99), value.TypeJSON, f(19.99)},
		{value.Bool(false), value.TypeJSON, value.Bool(false)},
		{text("bare"), value.TypeJSON, text("bare")},
		{list(i(1), f(2.5)), value.TypeJSON, list(i(1), f(2.5))},
		{list(text("a"), at), value.TypeJSON, list(text("a"), text("2026-01-01T00:00:00Z"))},
		{vec(0.1, 3), value.TypeJSON, list(f(0.1), f(3))},
		{parse(t, `{"z":[1,{"y":null}],"a":19.99}`), value.TypeJSON, parse(t, `{"a":19.99,"z":[1,{"y":null}]}`)},
	}
	for _, test := range tests {
		got, err := value.Coerce(test.v, test.typ)
		require.NoError(t, err, "%s into %s", test.v, test.typ)
		requireSame(t, test.want, got, test.typ.String())
	}
}

func TestCoerceJSONObjectWithTimestamp(t *testing.T) {
	object, err := value.Object([]value.Member{
		{Key: "a", Value: value.Int(1)}, {Key: "b", Value: value.Timestamp(0)}, {Key: "c", Value: value.Int(3)},
	})
	require.NoError(t, err)
	got, err := value.Coerce(object, value.TypeJSON)
	require.NoError(t, err)
	require.Equal(t, `{"a":1,"b":"1970-01-01T00:00:00Z","c":3}`, got.String())
	require.Equal(t, value.KindText, got.Path("b").Kind())
	require.Equal(t, value.KindTimestamp, object.Path("b").Kind(), "the original has changed")
}

func TestCoerceRefuses(t *testing.T) {
	list := func(vs ...value.Value) value.Value { return value.List(vs) }
	vec := func(x ...float32) value.Value { return value.Vector(x) }
	i, f, text := value.Int, value.Float, value.Text
	object := parse(t, `{}`)
	tests := []struct {
		v    value.Value
		typ  value.Type
		want string
	}{
		{i(1), value.TypeBool, "want bool, got int 1"},
		{text("true"), value.TypeBool, "want bool, got text"},

		{text("7"), value.TypeInt, "want int, got text"},
		{f(5.5), value.TypeInt, "want int, got float 5.5"},
		{f(1 << 63), value.TypeInt, "want int, got float"},
		{f(-1 << 63), value.TypeInt, "want int, got float"},
		{parse(t, "-9223372036854775809"), value.TypeInt, "want int"},
		{f(math.Inf(1)), value.TypeInt, "want int, got float"},
		{f(math.NaN()), value.TypeInt, "want int, got float"},
		{value.Bool(true), value.TypeInt, "want int, got bool true"},
		{parse(t, "9223372036854775808"), value.TypeInt, "want int"},

		{text("2"), value.TypeFloat, "want float, got text"},
		{value.Timestamp(1), value.TypeFloat, "want float, got timestamp"},
		{f(math.NaN()), value.TypeFloat, "got NaN"},

		{i(5), value.TypeText, "want text, got int 5"},
		{value.Bytes([]byte("a")), value.TypeText, "want text, got bytes"},

		{i(5), value.TypeBytes, "want bytes, got int 5"},
		{list(i(256)), value.TypeBytes, "int 256 at 0"},
		{list(i(1), i(-1)), value.TypeBytes, "int -1 at 1"},
		{list(f(1.5)), value.TypeBytes, "float 1.5 at 0"},
		{list(text("a")), value.TypeBytes, "text at 0"},
		{list(value.Null), value.TypeBytes, "null at 0"},
		{list(value.Timestamp(1)), value.TypeBytes, "timestamp at 0"},

		{f(1), value.TypeTimestamp, "want timestamp, got float 1"},
		{text("2026-02-30"), value.TypeTimestamp, "2026-02-30"},
		{value.Bool(true), value.TypeTimestamp, "want timestamp, got bool"},

		{list(i(1)), value.VectorType(2, false), "want vector<2>, got a list of 1"},
		{vec(1, 2, 3), value.VectorType(2, true), "want vector<2, f16>, got a vector of 3"},
		{list(i(1), text("2")), value.VectorType(2, false), "text at 1"},
		{list(i(1), value.Null), value.VectorType(2, false), "null at 1"},
		{text("[1,2]"), value.VectorType(2, false), "want vector<2>, got text"},
		{list(f(1e39)), value.VectorType(1, false), "number at 0"},
		{vec(1, float32(math.NaN())), value.VectorType(2, false), "number at 1"},
		{vec(float32(math.Inf(-1))), value.VectorType(1, false), "number at 0"},
		{list(i(70000)), value.VectorType(1, true), "number at 0"},
		{vec(65504.004), value.VectorType(1, true), "number at 0"},
		{list(i(0), f(65504.00000001)), value.VectorType(2, true), "number at 1"},
		{list(i(-65505)), value.VectorType(1, true), "number at 0"},

		{text("iron"), value.ListType(value.TypeText), "want [text], got text"},
		{list(i(1)), value.ListType(value.TypeText), "want [text], got a list with int 1"},
		{list(f(1.5)), value.ListType(value.TypeInt), "want [int], got a list with float 1.5"},
		{list(i(1)), value.ListType(value.ListType(value.TypeInt)), "want [int], got int 1"},
		{object, value.ListType(value.TypeInt), "want [int], got object"},

		{value.Bytes([]byte("a")), value.TypeJSON, "want json, got bytes"},
		{list(value.Bytes(nil)), value.TypeJSON, "want json, got bytes"},
		{f(math.Inf(1)), value.TypeJSON, "not finite"},
		{f(math.NaN()), value.TypeJSON, "not finite"},
		{list(f(math.NaN())), value.TypeJSON, "not finite"},
		{vec(float32(math.Inf(1))), value.TypeJSON, "not finite"},

		{i(1), value.Type{}, "want no type"},
	}
	for _, test := range tests {
		_, err := value.Coerce(test.v, test.typ)
		requireFault(t, fault.Type, err, "%s into %s", test.v, test.typ)
		require.ErrorContains(t, err, test.want)
	}
}

func TestCoerceNull(t *testing.T) {
	for _, typ := range []value.Type{value.TypeBool, value.TypeJSON, value.VectorType(3, false), value.ListType(value.TypeInt)} {
		got, err := value.Coerce(value.Null, typ)
		require.NoError(t, err)
		require.True(t, got.IsNull())
	}
}

func TestCoerceJSONDepth(t *testing.T) {
	for _, form := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
		inner := ""
		if form[0] != "[" {
			inner = "1"
		}
		nested := func(n int) value.Value {
			return parse(t, strings.Repeat(form[0], n)+inner+strings.Repeat(form[1], n))
		}
		got, err := value.Coerce(nested(64), value.TypeJSON)
		require.NoError(t, err)
		requireSame(t, nested(64), got)
		_, err = value.Coerce(nested(65), value.TypeJSON)
		requireFault(t, fault.Type, err)
	}
}

func TestCoerceLeavesTheArgument(t *testing.T) {
	x := []float32{0.1, 0.2}
	_, err := value.Coerce(value.Vector(x), value.VectorType(2, true))
	require.NoError(t, err)
	require.Equal(t, []float32{0.1, 0.2}, x)
}

// TestCoerceRoundsToHalves compares vectors of many lengths with what each component
// is by itself.
func TestCoerceRoundsToHalves(t *testing.T) {
	r := valuetest.Rand(6)
	for _, n := range []int{1, 15, 16, 127, 128, 129, 300} {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(9)-5)))
		}
		got, err := value.Coerce(value.Vector(x), value.VectorType(n, true))
		require.NoError(t, err)
		for i, f := range got.AsVector() {
			require.Equal(t, vector.FromFloat16(vector.ToFloat16(x[i])), f)
		}
		x[n-1] = 65520
		_, err = value.Coerce(value.Vector(x), value.VectorType(n, true))
		require.ErrorContains(t, err, fmt.Sprintf("a number at %d that is beyond", n-1))
	}
}

// TestCoerceIsStable checks that what a field stores fits the field unchanged.
func TestCoerceIsStable(t *testing.T) {
	types := []value.Type{value.TypeBool, value.TypeInt, value.TypeFloat, value.TypeText, value.TypeBytes, value.TypeTimestamp,
		value.TypeJSON, value.VectorType(2, false), value.VectorType(2, true), value.ListType(value.TypeInt),
		value.ListType(value.TypeFloat), value.ListType(value.TypeText)}
	r := valuetest.Rand(9)
	fits := map[value.Type]int{}
	for range 20000 {
		v, typ := valuetest.Any(r, 2), types[r.IntN(len(types))]
		once, err := value.Coerce(v, typ)
		if err != nil {
			requireFault(t, fault.Type, err)
			continue
		}
		fits[typ]++
		twice, err := value.Coerce(once, typ)
		require.NoError(t, err)
		requireSame(t, once, twice, typ.String())
	}
	for _, typ := range types {
		require.NotZero(t, fits[typ], typ)
	}
}
