package value_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

const limit53 = 1 << 53

func ts(t testing.TB, s string) value.Value {
	t.Helper()
	v, err := value.ParseTimestamp(s)
	require.NoError(t, err)
	return v
}

func TestCompare(t *testing.T) {
	list := func(json string) value.Value { return parse(t, json) }
	tests := []struct {
		name string
		a, b value.Value
		want int
	}{
		{"null and null", value.Null, value.Null, 0},
		{"null below bool", value.Null, value.Bool(false), -1},
		{"bool", value.Bool(false), value.Bool(true), -1},
		{"bool below number", value.Bool(true), value.Int(math.MinInt64), -1},
		{"number below text", value.Float(math.Inf(1)), value.Text(""), -1},
		{"number below bytes", value.Int(1), value.Bytes(nil), -1},
		{"text below vector", value.Text("z"), value.Vector(nil), -1},
		{"vector below list", value.Vector([]float32{9}), list(`[]`), -1},
		{"list below object", list(`[{}]`), list(`{}`), -1},
		{"list below sparse", list(`[{}]`), sparse(t, "{}/1"), -1},
		{"sparse below object", sparse(t, "{1:1}/1"), list(`{}`), -1},

		{"ints exactly", value.Int(limit53), value.Int(limit53 + 1), -1},
		{"timestamps exactly", value.Timestamp(limit53), value.Timestamp(limit53 + 1), -1},
		{"int and float", value.Int(3), value.Float(3), 0},
		{"int and a larger float", value.Int(3), value.Float(3.5), -1},
		{"int and timestamp", value.Int(3), value.Timestamp(3), 0},
		{"float and timestamp", value.Float(2.5), value.Timestamp(3), -1},
		{"a large int through float64", value.Int(limit53 + 1), value.Float(limit53), 0},
		{"a large int and timestamp through float64", value.Int(limit53 + 1), value.Timestamp(limit53), 0},
		{"greatest int and 2^63", value.Int(math.MaxInt64), value.Float(1 << 63), 0},
		{"zeros", value.Float(math.Copysign(0, -1)), value.Float(0), 0},
		{"NaN and a number", value.Float(math.NaN()), value.Float(1), 0},
		{"an int and NaN", value.Int(-1), value.Float(math.NaN()), 0},
		{"infinity", value.Float(math.Inf(1)), value.Float(math.MaxFloat64), 1},

		{"text by bytes", value.Text("Z"), value.Text("a"), -1},
		{"text by code point", value.Text("\uffff"), value.Text("\U00010000"), -1},
		{"shorter text first", value.Text("a"), value.Text("a\x00"), -1},
		{"text and bytes", value.Text("ab"), value.Bytes([]byte("ab")), 0},
		{"bytes and text", value.Bytes([]byte{0xff}), value.Text("zz"), 1},

		{"timestamp and its text", ts(t, "2026-01-02"), value.Text("2026-01-02"), 0},
		{"timestamp and text with an offset", ts(t, "2026-01-02"), value.Text("2026-01-02T03:00:00+03:00"), 0},
		{"timestamp and later text", ts(t, "2026-01-02"), value.Text("2026-01-03"), -1},
		{"timestamp and what is none", ts(t, "2026-01-02"), value.Text("not a time"), -1},
		{"text and timestamp", value.Text("2026-01-03"), ts(t, "2026-01-02"), 1},
		{"timestamp and bytes", ts(t, "2026-01-02"), value.Bytes([]byte("2026-01-01")), -1},

		{"vectors", value.Vector([]float32{1, 2}), value.Vector([]float32{1, 3}), -1},
		{"shorter vector first", value.Vector([]float32{1}), value.Vector([]float32{1, -1}), -1},
		{"zeros in vectors", value.Vector([]float32{0}), value.Vector([]float32{float32(math.Copysign(0, -1))}), 0},
		{"vector and numbers as float32", value.Vector([]float32{0.1, 2}), list(`[0.1, 2]`), 0},
		{"numbers and vector", list(`[0.1, 2]`), value.Vector([]float32{0.1, 1}), 1},
		{"vector and fewer numbers", value.Vector([]float32{1, 2}), list(`[1]`), 1},
		{"vector and an empty list", value.Vector([]float32{1}), list(`[]`), -1},
		{"vector and a list of other things", value.Vector([]float32{9}), list(`[1,"a"]`), -1},

		{"sparse by index", sparse(t, "{1:9,2:1}/9"), sparse(t, "{1:9,3:-1}/9"), -1},
		{"sparse by weight before a later index", sparse(t, "{1:1,9:1}/9"), sparse(t, "{1:2}/9"), -1},
		{"fewer entries first", sparse(t, "{1:1}/9"), sparse(t, "{1:1,2:-1}/3"), -1},
		{"sparse by dimension last", sparse(t, "{1:1}/8"), sparse(t, "{1:1}/9"), -1},
		{"the same sparse", sparse(t, "{1:1}/8"), sparse(t, "{1:1.0}/8"), 0},
		{"lists by element", list(`[1,"a"]`), list(`[1.0,"b"]`), -1},
		{"shorter list first", list(`[1]`), list(`[1,null]`), -1},
		{"lists exactly", list(`[9007199254740993]`), list(`[9007199254740992]`), 1},
		{"objects by key first", list(`{"a":9}`), list(`{"b":1}`), -1},
		{"objects by value", list(`{"a":1,"b":0}`), list(`{"a":2}`), -1},
		{"fewer members first", list(`{"a":1}`), list(`{"a":1,"b":null}`), -1},
		{"an earlier key decides", list(`{"a":1,"c":1}`), list(`{"a":1,"b":2,"c":1}`), 1},
		{"equal objects", list(`{"b":[1],"a":2}`), list(`{"a":2.0,"b":[1]}`), 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, value.Compare(test.a, test.b))
			require.Equal(t, -test.want, value.Compare(test.b, test.a))
			require.Equal(t, test.want == 0, value.Equal(test.a, test.b))
		})
	}
}

// transitive reports whether v is in the part of the order that is transitive
// with all others of it: no number that float64s cannot tell from its
// neighbours, and nothing compared across groups.
func transitive(v value.Value) bool {
	f, isNumber := v.Number()
	switch {
	case isNumber:
		return math.Abs(f) < limit53 && v.Kind() != value.KindTimestamp
	case v.Kind() == value.KindList:
		return !slices.ContainsFunc(v.AsList(), func(e value.Value) bool { return !transitive(e) })
	case v.Kind() == value.KindObject:
		return !slices.ContainsFunc(v.AsObject(), func(m value.Member) bool { return !transitive(m.Value) })
	}
	return v.Kind() != value.KindVector
}

func TestOrderAxioms(t *testing.T) {
	r := valuetest.Rand(2)
	var values []value.Value
	for len(values) < 300 {
		values = append(values, valuetest.Any(r, 2))
	}
	for _, a := range values {
		require.Zero(t, value.Compare(a, a), a)
		for _, b := range values {
			c := value.Compare(a, b)
			require.Contains(t, []int{-1, 0, 1}, c)
			if c != -value.Compare(b, a) {
				t.Fatalf("%s and %s: not antisymmetric", a, b)
			}
		}
	}
	values = slices.DeleteFunc(values, func(v value.Value) bool { return !transitive(v) })
	require.Greater(t, len(values), 100)
	for _, a := range values {
		for _, b := range values {
			ab := value.Compare(a, b)
			for _, c := range values {
				if bc := value.Compare(b, c); ab <= 0 && bc <= 0 && value.Compare(a, c) != min(ab, bc) {
					t.Fatalf("%s, %s, %s: not transitive", a, b, c)
				}
			}
		}
	}
}

func TestCompareCollated(t *testing.T) {
	text, list := value.Text, func(json string) value.Value { return parse(t, json) }
	tests := []struct {
		name string
		a, b value.Value
		c    collation.Collation
		want int
	}{
		{"texts", text("b"), text("B"), collation.Und, -1},
		{"texts by bytes", text("b"), text("B"), collation.None, 1},
		{"texts of another language", text("ız"), text("i"), collation.TR, -1},
		{"the same texts", text("i"), text("i"), collation.TR, 0},
		{"texts in lists", list(`["a","b"]`), list(`["a","B"]`), collation.Und, -1},
		{"texts in lists in lists", list(`[["b"]]`), list(`[["B"]]`), collation.Und, -1},
		{"the shorter list first", list(`["a"]`), list(`["a","B"]`), collation.Und, -1},
		{"texts in objects by bytes", list(`{"k":"b"}`), list(`{"k":"B"}`), collation.Und, 1},
		{"a text and bytes", text("b"), value.Bytes([]byte("B")), collation.Und, 1},
		{"null below text", value.Null, text(""), collation.Und, -1},
		{"numbers", value.Int(2), value.Float(1), collation.TR, 1},
		{"a time and its text", ts(t, "2026-01-02"), text("2026-01-02"), collation.Und, 0},
	}
	for _, test := range tests {
		require.Equal(t, test.want, value.CompareCollated(test.a, test.b, test.c), test.name)
		require.Equal(t, -test.want, value.CompareCollated(test.b, test.a, test.c), test.name)
	}
}

func TestIdentical(t *testing.T) {
	zero := math.Copysign(0, -1)
	different := [][2]value.Value{
		{value.Int(3), value.Float(3)},
		{value.Int(3), value.Timestamp(3)},
		{value.Float(0), value.Float(zero)},
		{value.Text("a"), value.Bytes([]byte("a"))},
		{value.Text("a"), value.Text("b")},
		{value.Text("a"), value.Text("ab")},
		{value.Vector([]float32{0}), value.Vector([]float32{float32(zero)})},
		{parse(t, `[1]`), parse(t, `[1.0]`)},
		{parse(t, `{"a":1}`), parse(t, `{"a":1.0}`)},
		{parse(t, `{"a":1}`), parse(t, `{"b":1}`)},
		{value.Null, value.Bool(false)},
	}
	for _, pair := range different {
		require.False(t, valuetest.Identical(pair[0], pair[1]), pair[0].String()+" "+pair[1].String())
		for _, v := range pair {
			require.True(t, valuetest.Identical(v, value.Clone(v)), v)
		}
	}
	require.True(t, valuetest.Identical(value.Float(math.NaN()), value.Float(math.NaN())))
}

func TestTruthy(t *testing.T) {
	yes := []value.Value{value.Bool(true), value.Int(-1), value.Float(0.1), value.Float(math.NaN()),
		value.Timestamp(1), value.Text(" "), value.Bytes([]byte{0}), value.Vector([]float32{0}),
		parse(t, `[null]`), parse(t, `{"a":null}`)}
	no := []value.Value{value.Null, value.Bool(false), value.Int(0), value.Float(0), value.Float(math.Copysign(0, -1)),
		value.Timestamp(0), value.Text(""), value.Bytes(nil), value.Vector(nil), parse(t, `[]`), parse(t, `{}`)}
	for _, v := range yes {
		require.True(t, v.Truthy(), v)
	}
	for _, v := range no {
		require.False(t, v.Truthy(), v)
	}
}

func TestHas(t *testing.T) {
	list := parse(t, `["iron", 2, null]`)
	require.True(t, list.Has(value.Text("iron")))
	require.True(t, list.Has(value.Float(2)))
	require.True(t, list.Has(value.Null))
	require.False(t, list.Has(value.Text("Iron")))
	require.False(t, parse(t, `["a"]`).Has(value.Null))
	require.False(t, value.Text("iron").Has(value.Text("iron")))
	require.False(t, value.Null.Has(value.Null))
	require.False(t, value.Vector([]float32{1}).Has(value.Int(1)))
}

func BenchmarkCompare(b *testing.B) {
	long := strings.Repeat("x", 40)
	pairs := []struct {
		name string
		a, b value.Value
	}{
		{"ints", value.Int(7), value.Int(8)},
		{"int-float", value.Int(7), value.Float(7.5)},
		{"texts", value.Text(long + "a"), value.Text(long + "b")},
	}
	for _, p := range pairs {
		b.Run("kinds="+p.name, func(b *testing.B) {
			for b.Loop() {
				value.Compare(p.a, p.b)
			}
		})
	}
}
