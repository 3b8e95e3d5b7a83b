package value_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

// parse reads a value that a test writes as JSON.
func parse(t testing.TB, json string) value.Value {
	t.Helper()
	v, err := value.ParseJSON([]byte(json))
	require.NoError(t, err, json)
	return v
}

// requireSame fails unless got and want are identical.
func requireSame(t testing.TB, want, got value.Value, args ...any) {
	t.Helper()
	if !valuetest.Identical(want, got) {
		require.Fail(t, "values differ", append([]any{"want %s %s, got %s %s", want.Kind(), want, got.Kind(), got}, args...)...)
	}
}

func requireFault(t testing.TB, kind fault.Kind, err error, args ...any) {
	t.Helper()
	require.Error(t, err, args...)
	require.Equal(t, kind, fault.KindOf(err), err)
}

func TestSize(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(value.Value{}), uintptr(24))
}

func TestAccessors(t *testing.T) {
	object := parse(t, `{"b":1,"a":2}`)
	tests := []struct {
		v    value.Value
		kind value.Kind
		get  func(value.Value) any
		want any
		len  int
	}{
		{value.Null, value.KindNull, func(v value.Value) any { return v.IsNull() }, true, 0},
		{value.Bool(true), value.KindBool, func(v value.Value) any { return v.AsBool() }, true, 0},
		{value.Bool(false), value.KindBool, func(v value.Value) any { return v.AsBool() }, false, 0},
		{value.Int(math.MinInt64), value.KindInt, func(v value.Value) any { return v.AsInt() }, int64(math.MinInt64), 0},
		{value.Float(-0.5), value.KindFloat, func(v value.Value) any { return v.AsFloat() }, -0.5, 0},
		{value.Timestamp(-7), value.KindTimestamp, func(v value.Value) any { return v.AsInt() }, int64(-7), 0},
		{value.Text("é"), value.KindText, func(v value.Value) any { return v.AsText() }, "é", 2},
		{value.Text(""), value.KindText, func(v value.Value) any { return v.AsText() }, "", 0},
		{value.Bytes([]byte{0, 255}), value.KindBytes, func(v value.Value) any { return v.AsBytes() }, []byte{0, 255}, 2},
		{value.Vector([]float32{1, 2, 3}), value.KindVector, func(v value.Value) any { return v.AsVector() }, []float32{1, 2, 3}, 3},
		{value.List([]value.Value{value.Int(4)}), value.KindList, func(v value.Value) any { return v.AsList()[0].AsInt() }, int64(4), 1},
		{object, value.KindObject, func(v value.Value) any { return v.AsObject()[0].Key }, "a", 2},
	}
	for _, test := range tests {
		t.Run(test.v.Kind().String()+" "+test.v.String(), func(t *testing.T) {
			require.Equal(t, test.kind, test.v.Kind())
			require.Equal(t, test.want, test.get(test.v))
			require.Equal(t, test.len, test.v.Len())
		})
	}
}

func TestAccessorsOfAnotherKind(t *testing.T) {
	require.PanicsWithValue(t, "value: a text read as int", func() { value.Text("1").AsInt() })
	require.Panics(t, func() { value.Int(1).AsFloat() })
	require.Panics(t, func() { value.Null.AsBool() })
	require.Panics(t, func() { value.Text("x").AsBytes() })
	require.Panics(t, func() { value.Bytes(nil).AsText() })
	require.Panics(t, func() { value.List(nil).AsVector() })
	require.Panics(t, func() { value.List(nil).AsObject() })
	require.Panics(t, func() { value.Vector(nil).AsList() })
}

func TestNumber(t *testing.T) {
	for _, v := range []value.Value{value.Int(3), value.Float(3), value.Timestamp(3)} {
		f, ok := v.Number()
		require.True(t, ok)
		require.True(t, v.IsNumber())
		require.Equal(t, 3.0, f)
	}
	_, ok := value.Text("3").Number()
	require.False(t, ok)
	require.False(t, value.Bool(true).IsNumber())
}

func TestCloneSharesNothing(t *testing.T) {
	r := valuetest.Rand(1)
	for range 2000 {
		stored := value.Append(nil, valuetest.Any(r, 3))
		want, _, err := value.Decode(stored)
		require.NoError(t, err)
		view, _, err := value.View(stored)
		require.NoError(t, err)
		clone := value.Clone(view)
		for i := range stored {
			stored[i] = 0xee
		}
		requireSame(t, want, clone)
	}
}

func TestObject(t *testing.T) {
	v, err := value.Object([]value.Member{{Key: "b", Value: value.Int(1)}, {Key: "B"}, {Key: "", Value: value.Int(2)}})
	require.NoError(t, err)
	require.Equal(t, `{"":2,"B":null,"b":1}`, v.String())

	_, err = value.Object([]value.Member{{Key: "k"}, {Key: "a"}, {Key: "k"}})
	requireFault(t, fault.Query, err)
	require.ErrorContains(t, err, `"k"`)
}

func TestPath(t *testing.T) {
	v := parse(t, `{"a":{"b":{"c":1},"n":null},"l":[{"x":1}],"s":"t"}`)
	tests := []struct {
		keys []string
		want string
	}{
		{nil, v.String()},
		{[]string{"a", "b", "c"}, `1`},
		{[]string{"a", "b"}, `{"c":1}`},
		{[]string{"a", "n"}, `null`},
		{[]string{"a", "n", "x"}, `null`},
		{[]string{"a", "zz"}, `null`},
		{[]string{"l", "x"}, `null`},
		{[]string{"s", "x"}, `null`},
		{[]string{"A"}, `null`},
	}
	for _, test := range tests {
		require.Equal(t, test.want, v.Path(test.keys...).String(), test.keys)
	}
	_, ok := v.Get("zz")
	require.False(t, ok)
	n, ok := v.Path("a").Get("n")
	require.True(t, ok)
	require.True(t, n.IsNull())
}

func TestSetPath(t *testing.T) {
	tests := []struct {
		name string
		v    string
		keys []string
		want string
	}{
		{"a new member", `{"b":1}`, []string{"a"}, `{"a":7,"b":1}`},
		{"an old member", `{"a":{"b":1},"c":2}`, []string{"a"}, `{"a":7,"c":2}`},
		{"others stay", `{"a":{"b":1,"c":2}}`, []string{"a", "c"}, `{"a":{"b":1,"c":7}}`},
		{"from null", `null`, []string{"a", "b"}, `{"a":{"b":7}}`},
		{"through null", `{"a":null}`, []string{"a", "b"}, `{"a":{"b":7}}`},
		{"no keys", `{"a":1}`, nil, `7`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := parse(t, test.v)
			got, err := value.SetPath(v, test.keys, value.Int(7))
			require.NoError(t, err)
			require.Equal(t, test.want, got.String())
			require.Equal(t, parse(t, test.v).String(), v.String(), "the original has changed")
		})
	}
	for _, v := range []string{`"bare"`, `[1]`, `5`, `{"a":"memo"}`} {
		_, err := value.SetPath(parse(t, v), []string{"a", "x"}, value.Int(1))
		requireFault(t, fault.Type, err, v)
	}
}
