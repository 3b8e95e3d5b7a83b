package key_test

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

func parse(t testing.TB, json string) value.Value {
	t.Helper()
	v, err := value.ParseJSON([]byte(json))
	require.NoError(t, err, json)
	return v
}

func sparse(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.ParseSparse(text)
	require.NoError(t, err, text)
	return v
}

// TestAppendBytes pins the bytes that files hold.
func TestAppendBytes(t *testing.T) {
	tests := []struct {
		v    value.Value
		want string
	}{
		{value.Null, "\x10"},
		{value.Bool(false), "\x18"},
		{value.Bool(true), "\x19"},
		{value.Int(0), "\x20\x80\x00\x00\x00\x00\x00\x00\x00"},
		{value.Int(1), "\x20\xbf\xf0\x00\x00\x00\x00\x00\x00"},
		{value.Float(-1), "\x20\x40\x0f\xff\xff\xff\xff\xff\xff"},
		{value.Int(1<<53 - 1), "\x20\xc3\x3f\xff\xff\xff\xff\xff\xff"},
		{value.Int(1 << 53), "\x20\xc3\x40\x00\x00\x00\x00\x00\x00\x80\x00"},
		{value.Int(1<<53 + 1), "\x20\xc3\x40\x00\x00\x00\x00\x00\x00\x80\x01"},
		{value.Int(math.MaxInt64), "\x20\xc3\xe0\x00\x00\x00\x00\x00\x00\x7f\xff"},
		{value.Text("a\x00b"), "\x28a\x00\xffb\x00\x01"},
		{value.Bytes(nil), "\x28\x00\x01"},
		{value.Vector([]float32{1, -1}), "\x30\xbf\x80\x00\x00\x40\x7f\xff\xff\x00\x00\x00\x00"},
		{sparse(t, "{1:1,258:-1}/772"), "\x40\x00\x00\x00\x01\xbf\x80\x00\x00\x00\x00\x01\x02\x40\x7f\xff\xff\x00\x00\x00\x00\x00\x00\x03\x04"},
		{sparse(t, "{}/1"), "\x40\x00\x00\x00\x00\x00\x00\x00\x01"},
		{parse(t, `[null,true]`), "\x38\x10\x19\x00"},
		{parse(t, `{"a":true,"b":[]}`), "\x48\x01a\x00\x01\x19\x01b\x00\x01\x38\x00\x00"},
	}
	for _, test := range tests {
		require.Equal(t, test.want, string(key.Append(nil, test.v)), test.v)
		require.Equal(t, "x"+test.want, string(key.Append([]byte("x"), test.v)))
	}
}

func TestOneKey(t *testing.T) {
	for _, same := range [][]value.Value{
		{value.Int(3), value.Float(3), value.Timestamp(3)},
		{value.Float(0), value.Float(math.Copysign(0, -1)), value.Int(0)},
		{value.Int(1 << 60), value.Float(1 << 60), value.Timestamp(1 << 60)},
		{value.Int(math.MinInt64), value.Float(-1 << 63)},
		{value.Text("a\x00"), value.Bytes([]byte("a\x00"))},
		{value.Vector([]float32{0}), value.Vector([]float32{float32(math.Copysign(0, -1))})},
		{parse(t, `[1,{"a":2}]`), parse(t, `[1.0,{"a":2.0}]`)},
		{value.Float(math.NaN()), value.Float(-math.NaN())},
	} {
		for _, v := range same {
			require.Equal(t, key.Append(nil, same[0]), key.Append(nil, v), v)
		}
	}
}

// across reports whether a and b are a pair that value.Compare compares across
// groups, which keys do not follow.
func across(a, b value.Value) bool {
	kinds := [2]value.Kind{min(a.Kind(), b.Kind()), max(a.Kind(), b.Kind())}
	return kinds == [2]value.Kind{value.KindTimestamp, value.KindText} ||
		kinds == [2]value.Kind{value.KindVector, value.KindList}
}

// checkPair checks the promises of the package for two values.
func checkPair(t *testing.T, a, b value.Value) {
	t.Helper()
	if across(a, b) {
		return
	}
	ka, cutA := key.AppendCut(nil, a)
	kb, cutB := key.AppendCut(nil, b)
	order, keyOrder := value.Compare(a, b), bytes.Compare(ka, kb)
	switch {
	case keyOrder == 0 && order != 0 && !(cutA && cutB):
		t.Fatalf("%s and %s differ and have one key", a, b)
	case keyOrder != 0 && order == -keyOrder:
		t.Fatalf("%s and %s: order %d, of keys %d", a, b, order, keyOrder)
	case order == 0 && !bytes.Equal(key.AppendPrefix(nil, a), key.AppendPrefix(nil, b)):
		t.Fatalf("%s and %s are equal and their prefixes differ", a, b)
	case order == 0 && keyOrder != 0 && a.Kind() == b.Kind() && a.Kind() <= value.KindVector:
		t.Fatalf("%s and %s are equal, of one kind, and their keys differ", a, b)
	case keyOrder != 0 && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)):
		t.Fatalf("the key of %s or %s is the beginning of the other", a, b)
	}
	for k, v := range map[*[]byte]value.Value{&ka: a, &kb: b} {
		prefix := key.AppendPrefix(nil, v)
		require.True(t, bytes.HasPrefix(*k, prefix))
		require.Negative(t, bytes.Compare(*k, key.Next(prefix)))
	}
}

func TestOrder(t *testing.T) {
	r := valuetest.Rand(1)
	var values []value.Value
	for range 300 {
		values = append(values, valuetest.Any(r, 2))
	}
	for _, a := range values {
		for _, b := range values {
			checkPair(t, a, b)
		}
	}
}

func TestOrderOfNumbers(t *testing.T) {
	r := valuetest.Rand(2)
	number := func() value.Value {
		switch r.IntN(3) {
		case 0:
			return value.Float(valuetest.Float(r))
		case 1:
			return value.Timestamp(valuetest.Int(r))
		}
		return value.Int(valuetest.Int(r))
	}
	for range 15000 {
		a, b := number(), number()
		checkPair(t, a, b)
		// Neighbours of the same float64.
		i := value.Int(valuetest.Int(r))
		checkPair(t, i, value.Int(i.AsInt()+1))
		f, _ := i.Number()
		checkPair(t, i, value.Float(f))
		checkPair(t, i, value.Float(math.Nextafter(f, math.Inf(1))))
		checkPair(t, i, value.Float(math.Nextafter(f, math.Inf(-1))))
	}
}

func TestOrderOfTexts(t *testing.T) {
	r := valuetest.Rand(3)
	for range 15000 {
		a, b := valuetest.Text(r), valuetest.Text(r)
		checkPair(t, value.Text(a), value.Text(b))
		checkPair(t, value.Text(a), value.Text(a+b))
	}
}

// TestOrderOfInts checks that ints sort by key as they sort by value, all of
// them.
func TestOrderOfInts(t *testing.T) {
	r := valuetest.Rand(4)
	ints := []int64{math.MinInt64, math.MaxInt64}
	for i := range int64(2000) {
		ints = append(ints, valuetest.Int(r), math.MaxInt64-i, math.MinInt64+i, 1<<53-1000+i, -1<<60-1000+i)
	}
	byKey := slices.Clone(ints)
	slices.SortFunc(byKey, func(a, b int64) int {
		return bytes.Compare(key.Append(nil, value.Int(a)), key.Append(nil, value.Int(b)))
	})
	slices.Sort(ints)
	require.Equal(t, ints, byKey)
}

func TestPrefix(t *testing.T) {
	beyond := value.Int(1<<53 + 1)
	equal := value.Float(1 << 53)
	require.True(t, value.Equal(beyond, equal))
	require.NotEqual(t, key.Append(nil, beyond), key.Append(nil, equal))
	require.Equal(t, key.AppendPrefix(nil, beyond), key.AppendPrefix(nil, equal))
	require.Len(t, key.AppendPrefix(nil, beyond), 9)

	for _, v := range []value.Value{value.Int(7), value.Text("x"), value.Null, parse(t, `{"a":[1,"b"]}`)} {
		require.Equal(t, key.Append(nil, v), key.AppendPrefix(nil, v))
	}
	list := key.AppendPrefix(nil, parse(t, `[1,9007199254740993,"x"]`))
	require.True(t, bytes.HasPrefix(key.Append(nil, parse(t, `[1.0,9007199254740992.0,"x"]`)), list))
	require.Len(t, list, 1+9+9)
}

func TestNext(t *testing.T) {
	require.Equal(t, []byte{1, 3}, key.Next([]byte{1, 2}))
	require.Equal(t, []byte{2}, key.Next([]byte{1, 0xff, 0xff}))
	require.Nil(t, key.Next([]byte{0xff, 0xff}))
	require.Nil(t, key.Next(nil))
	prefix := []byte{1, 2}
	key.Next(prefix)
	require.Equal(t, []byte{1, 2}, prefix)
}

func TestCut(t *testing.T) {
	long := func(n int, end string) value.Value { return value.Text(strings.Repeat("x", n) + end) }
	tests := []struct {
		name string
		v    value.Value
		cut  bool
	}{
		{"text that just fits", long(key.MaxLen-3, ""), false},
		{"text one too long", long(key.MaxLen-2, ""), true},
		{"long text", long(1<<20, ""), true},
		{"zeros", value.Bytes(make([]byte, key.MaxLen/2)), true},
		{"vector", value.Vector(make([]float32, key.MaxLen/4)), true},
		{"list", value.List(make([]value.Value, key.MaxLen)), true},
		{"list that just fits", value.List(make([]value.Value, key.MaxLen-2)), false},
		{"list of lists", value.List([]value.Value{long(1<<15, ""), value.Int(1)}), true},
		{"numbers", value.List(slices.Repeat([]value.Value{value.Int(1)}, key.MaxLen/8)), true},
		{"object", parse(t, `{"`+strings.Repeat("k", 1<<15)+`":1}`), true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k, cut := key.AppendCut([]byte("before"), test.v)
			k = k[len("before"):]
			require.Equal(t, test.cut, cut)
			require.Equal(t, test.cut, key.Cut(k))
			require.LessOrEqual(t, len(k), key.MaxLen+1)
			n, err := key.Skip(key.AppendID(slices.Clone(k), math.MaxUint64))
			require.NoError(t, err)
			require.Len(t, k, n)
		})
	}
	a, b := long(key.MaxLen, "a"), long(key.MaxLen, "b")
	require.Equal(t, key.Append(nil, a), key.Append(nil, b))
}

// TestOrderUnderCutting compares long values that begin alike.
func TestOrderUnderCutting(t *testing.T) {
	r := valuetest.Rand(5)
	long := func() value.Value {
		n := key.MaxLen - 24 + r.IntN(28)
		text := strings.Repeat("x", n) + valuetest.Text(r)
		switch r.IntN(5) {
		case 0:
			return value.Text(text)
		case 1:
			return value.Bytes([]byte(strings.Repeat("\x00", n/2) + valuetest.Text(r)))
		case 2:
			return value.Vector(append(make([]float32, n/4), valuetest.Vector(r, 2)...))
		case 3:
			return value.List([]value.Value{value.Text(text), value.Int(r.Int64N(3))})
		}
		return parse(t, `{"k":[`+strings.Repeat("null,", n-14)+`1,2]}`)
	}
	var values []value.Value
	for range 40 {
		values = append(values, long())
	}
	cuts := 0
	for _, a := range values {
		if key.Cut(key.Append(nil, a)) {
			cuts++
		}
		for _, b := range values {
			checkPair(t, a, b)
		}
	}
	require.Greater(t, cuts, 10)
	require.Less(t, cuts, 36)
}

// TestEntries checks that entries, a key and an id, sort by value and then id.
func TestEntries(t *testing.T) {
	r := valuetest.Rand(6)
	type entry struct {
		v  string
		id uint64
	}
	var entries []entry
	for range 2000 {
		entries = append(entries, entry{valuetest.Text(r), r.Uint64N(3) * r.Uint64()})
	}
	encode := func(e entry) []byte { return key.AppendID(key.Append(nil, value.Text(e.v)), e.id) }
	byKey := slices.Clone(entries)
	slices.SortFunc(byKey, func(a, b entry) int { return bytes.Compare(encode(a), encode(b)) })
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(cmp.Compare(a.v, b.v), cmp.Compare(a.id, b.id)) })
	require.Equal(t, entries, byKey)
}

func BenchmarkAppend(b *testing.B) {
	for _, bench := range []struct {
		name string
		v    value.Value
	}{
		{"int", value.Int(12345)}, {"float", value.Float(19.99)}, {"text", value.Text("a key of a usual length")},
		{"object", parse(b, `{"col":"b","row":4}`)}, {"long-text", value.Text(strings.Repeat("x", 1<<20))},
	} {
		b.Run("kind="+bench.name, func(b *testing.B) {
			dst := make([]byte, 0, key.MaxLen+64)
			b.ReportAllocs()
			for b.Loop() {
				dst = key.AppendID(key.Append(dst[:0], bench.v), 7)
			}
		})
	}
}
