package value_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

type (
	state string
	level int8
	blob  []byte
	embed []float32
)

func TestFromGo(t *testing.T) {
	text, seven := "x", 7
	list := func(vs ...value.Value) value.Value { return value.List(vs) }
	tests := []struct {
		x    any
		want value.Value
	}{
		{nil, value.Null},
		{true, value.Bool(true)},
		{int(-1), value.Int(-1)},
		{int8(-1), value.Int(-1)},
		{int16(-1), value.Int(-1)},
		{int32(-1), value.Int(-1)},
		{int64(math.MinInt64), value.Int(math.MinInt64)},
		{uint(1), value.Int(1)},
		{uint8(255), value.Int(255)},
		{uint16(1), value.Int(1)},
		{uint32(1), value.Int(1)},
		{uint64(math.MaxInt64), value.Int(math.MaxInt64)},
		{float32(0.5), value.Float(0.5)},
		{0.1, value.Float(0.1)},
		{math.Inf(1), value.Float(math.Inf(1))},
		{"é", value.Text("é")},
		{[]byte{1, 2}, value.Bytes([]byte{1, 2})},
		{[]byte(nil), value.Bytes(nil)},
		{time.Date(2026, 3, 1, 10, 0, 0, 1999999, time.FixedZone("", 3600)), ts(t, "2026-03-01T09:00:00.001Z")},
		{time.Unix(0, -1), value.Timestamp(-1)},
		{[]float32{1, 2}, value.Vector([]float32{1, 2})},
		{[]float64{0.1, 2}, list(value.Float(0.1), value.Float(2))},
		{[]int64{1}, list(value.Int(1))},
		{[]int{1}, list(value.Int(1))},
		{[]string{"a", "b"}, list(value.Text("a"), value.Text("b"))},
		{[]bool{true}, list(value.Bool(true))},
		{[2]float64{1, 2}, list(value.Float(1), value.Float(2))},
		{[]any{1, nil, []any{"x"}}, list(value.Int(1), value.Null, list(value.Text("x")))},
		{[]value.Value{value.Int(1)}, list(value.Int(1))},
		{map[string]any{"b": 1, "a": []int{2}}, parse(t, `{"a":[2],"b":1}`)},
		{map[string]int{"b": 1}, parse(t, `{"b":1}`)},
		{map[state]float64{"b": 1.5}, parse(t, `{"b":1.5}`)},
		{[]map[string]any{{"a": 1}, {"a": 2}}, parse(t, `[{"a":1},{"a":2}]`)},
		{json.RawMessage(`{"a":[1, 2.0]}`), parse(t, `{"a":[1,2.0]}`)},
		{json.Number("12345678901"), value.Int(12345678901)},
		{json.Number("1.0"), value.Float(1)},
		{value.Timestamp(3), value.Timestamp(3)},
		{state("open"), value.Text("open")},
		{level(3), value.Int(3)},
		{blob("ab"), value.Bytes([]byte("ab"))},
		{embed{1}, value.Vector([]float32{1})},
		{&text, value.Text("x")},
		{&seven, value.Int(7)},
		{(*int)(nil), value.Null},
		{[]*int{&seven, nil}, list(value.Int(7), value.Null)},
	}
	for _, test := range tests {
		got, err := value.FromGo(test.x)
		require.NoError(t, err, "%T %v", test.x, test.x)
		requireSame(t, test.want, got, "%T", test.x)
	}
}

func TestFromGoRefuses(t *testing.T) {
	type pointer *pointer
	var loop pointer
	loop = &loop
	self := map[string]any{}
	self["self"] = self
	list := make([]any, 1)
	list[0] = list
	tests := []struct {
		x    any
		want fault.Kind
	}{
		{math.NaN(), fault.Type},
		{float32(math.NaN()), fault.Type},
		{"a\xff", fault.Type},
		{state("a\xff"), fault.Type},
		{[]string{"\xff"}, fault.Type},
		{map[string]any{"\xff": 1}, fault.Type},
		{map[string]any{"a": math.NaN()}, fault.Type},
		{uint64(1 << 63), fault.Type},
		{struct{}{}, fault.Type},
		{[]struct{}{{}}, fault.Type},
		{make(chan int), fault.Type},
		{1i, fault.Type},
		{map[int]string{1: "a"}, fault.Type},
		{map[string]func(){"a": nil}, fault.Type},
		{self, fault.Type},
		{list, fault.Type},
		{loop, fault.Type},
		{json.RawMessage(`{"a":1,"a":2}`), fault.Query},
		{json.RawMessage(nil), fault.Query},
		{json.Number("x"), fault.Query},
		{json.Number("true"), fault.Query},
	}
	for _, test := range tests {
		_, err := value.FromGo(test.x)
		requireFault(t, test.want, err, "%T", test.x)
	}
}

func TestGo(t *testing.T) {
	tests := []struct {
		v    value.Value
		want any
	}{
		{value.Null, nil},
		{value.Bool(true), true},
		{value.Int(3), int64(3)},
		{value.Float(3), 3.0},
		{value.Timestamp(-1), time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC)},
		{value.Text("x"), "x"},
		{value.Bytes(nil), []byte{}},
		{value.Bytes([]byte{1}), []byte{1}},
		{value.Vector([]float32{1}), []float32{1}},
		{parse(t, `[1,"a",null]`), []any{int64(1), "a", nil}},
		{parse(t, `{"a":{"b":[]}}`), map[string]any{"a": map[string]any{"b": []any{}}}},
	}
	for _, test := range tests {
		require.Equal(t, test.want, test.v.Go())
	}
}

func TestGoCopies(t *testing.T) {
	b, x := []byte{1, 2}, []float32{1, 2}
	value.Bytes(b).Go().([]byte)[0] = 9
	value.Vector(x).Go().([]float32)[0] = 9
	require.Equal(t, []byte{1, 2}, b)
	require.Equal(t, []float32{1, 2}, x)
}

func TestGoRoundTrip(t *testing.T) {
	r := valuetest.Rand(10)
	for range 5000 {
		v := valuetest.Any(r, 3)
		if v.Kind() == value.KindTimestamp {
			continue // beyond what a time.Time holds; see TestGo
		}
		back, err := value.FromGo(v.Go())
		require.NoError(t, err)
		if v.Kind() == value.KindSparse {
			dim, _ := v.AsSparse()
			back, err = value.Coerce(back, value.SparseType(dim))
			require.NoError(t, err)
		}
		requireSame(t, v, back)
	}
}
