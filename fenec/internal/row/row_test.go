package row_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

var allTypes = []value.Type{
	value.TypeBool, value.TypeInt, value.TypeFloat, value.TypeText, value.TypeBytes, value.TypeTimestamp, value.TypeJSON,
	value.VectorType(3, false), value.VectorType(3, true), value.ListType(value.TypeText),
	value.ListType(value.TypeInt), value.ListType(value.VectorType(2, false)),
	value.SparseType(3), value.TypeGeo,
}

func parse(t testing.TB, json string) value.Value {
	t.Helper()
	v, err := value.ParseJSON([]byte(json))
	require.NoError(t, err, json)
	return v
}

// isNull reports whether field i of the row in b is null.
func isNull(b []byte, i int) (bool, error) {
	r, err := row.Parse(b)
	if err != nil {
		return false, err
	}
	return r.IsNull(i), nil
}

// appendJSON appends the JSON of field i of the row in b.
func appendJSON(dst, b []byte, i int, t value.Type) ([]byte, error) {
	r, err := row.Parse(b)
	if err != nil {
		return dst, err
	}
	return r.AppendJSON(dst, i, t)
}

func requireSame(t testing.TB, want, got value.Value, args ...any) {
	t.Helper()
	if !valuetest.Identical(want, got) {
		require.Fail(t, "values differ", append([]any{"want %s %s, got %s %s", want.Kind(), want, got.Kind(), got}, args...)...)
	}
}

// random returns a value that a field of type t may hold.
func random(r *rand.Rand, t value.Type) value.Value {
	for {
		v := valuetest.Any(r, 3)
		switch {
		case r.IntN(6) == 0:
			v = value.Null
		case t.Is(value.BaseTimestamp):
			v = value.Timestamp(valuetest.Int(r))
		case t.Is(value.BaseVector):
			v = value.Vector(valuetest.Vector(r, t.Dim()))
		case t.Is(value.BaseSparse):
			v = valuetest.Sparse(r, t.Dim())
		case t.Is(value.BaseGeo):
			v = value.Point(r.Float64()*360-180, r.Float64()*180-90)
		case t == value.ListType(value.VectorType(2, false)):
			v = value.List([]value.Value{value.Vector(valuetest.Vector(r, 2)), value.Null})
		}
		if v, err := value.Coerce(v, t); err == nil {
			return v
		}
	}
}

func randomRow(r *rand.Rand) (types []value.Type, vals []value.Value) {
	n := r.IntN(12)
	if r.IntN(20) == 0 {
		n = r.IntN(300)
	}
	for range n {
		t := allTypes[r.IntN(len(allTypes))]
		types = append(types, t)
		vals = append(vals, random(r, t))
	}
	return types, vals
}

func TestRoundTrip(t *testing.T) {
	r := valuetest.Rand(1)
	for range 5000 {
		types, vals := randomRow(r)
		b := row.Encode([]byte("before"), types, vals)[len("before"):]
		view, err := row.Parse(b)
		require.NoError(t, err)
		require.LessOrEqual(t, view.Len(), len(vals))
		for i, typ := range types {
			for name, read := range map[string]func() (value.Value, error){
				"Row.Field": func() (value.Value, error) { return view.Field(i, typ) },
				"Row.View":  func() (value.Value, error) { return view.View(i, typ) },
				"Field":     func() (value.Value, error) { return row.Field(b, i, typ) },
				"View":      func() (value.Value, error) { return row.View(b, i, typ) },
			} {
				got, err := read()
				require.NoError(t, err, name)
				requireSame(t, vals[i], got, "%s %s", name, typ)
			}
			require.Equal(t, vals[i].IsNull(), view.IsNull(i))
			json, err := appendJSON([]byte("x"), b, i, typ)
			require.NoError(t, err)
			require.Equal(t, "x"+vals[i].String(), string(json), typ)
		}
	}
}

// TestLayout pins the bytes that files hold.
func TestLayout(t *testing.T) {
	types := []value.Type{value.TypeInt, value.TypeText, value.TypeText, value.TypeBool, value.VectorType(2, true), value.TypeFloat}
	vals := []value.Value{value.Int(-2), value.Text("ab"), value.Null, value.Bool(true), value.Vector([]float32{1, -2}), value.Null}
	b := row.Encode(nil, types, vals)
	require.Equal(t, "\x01\x01\x05\x04"+"\x01\x03\x03\x04\x08"+"\xfe"+"ab"+"\x01"+"\x00\x3c\x00\xc0", string(b))

	require.Equal(t, "\x01\x01\x00", string(row.Encode(nil, types, nil)))
	require.Equal(t, "\x01\x01\x00", string(row.Encode(nil, types, make([]value.Value, 6))))
	require.Equal(t, "\x01\x01\x01\x00\x00", string(row.Encode(nil, types[1:], []value.Value{value.Text("")})))

	sparse, err := value.ParseSparse("{1:1,301:-2}/400")
	require.NoError(t, err)
	b = row.Encode(nil, []value.Type{value.SparseType(400), value.TypeGeo}, []value.Value{sparse, value.Point(1, -2)})
	require.Equal(t, "\x01\x01\x02\x00\x0c\x1c"+
		"\x02\x01\xac\x02"+"\x00\x00\x80\x3f"+"\x00\x00\x00\xc0"+
		"\x00\x00\x00\x00\x00\x00\xf0\x3f"+"\x00\x00\x00\x00\x00\x00\x00\xc0", string(b))
}

func TestMissingTail(t *testing.T) {
	b := row.Encode(nil, []value.Type{value.TypeInt}, []value.Value{value.Int(1)})
	for _, i := range []int{1, 2, 1000} {
		v, err := row.Field(b, i, value.TypeText)
		require.NoError(t, err)
		require.True(t, v.IsNull())
		null, err := isNull(b, i)
		require.NoError(t, err)
		require.True(t, null)
		json, err := appendJSON(nil, b, i, value.TypeJSON)
		require.NoError(t, err)
		require.Equal(t, "null", string(json))
	}
}

func TestOffsetWidths(t *testing.T) {
	types := []value.Type{value.TypeText, value.TypeInt, value.TypeText}
	for _, n := range []int{0, 1, 250, 251, 252, 253, 254, 255, 256, 65530, 65533, 65534, 65535, 65536, 1 << 20} {
		vals := []value.Value{value.Text(strings.Repeat("x", n)), value.Int(7), value.Text("end")}
		b := row.Encode(nil, types, vals)
		require.LessOrEqual(t, len(b), n+3+1+1+3+3*4)
		for i := range types {
			v, err := row.Field(b, i, types[i])
			require.NoError(t, err)
			requireSame(t, vals[i], v)
		}
	}
}

func TestNumberWidths(t *testing.T) {
	ints := map[int64]int{0: 1, -128: 1, 127: 1, 128: 2, -129: 2, 32767: 2, 32768: 4, math.MinInt32: 4, math.MaxInt32: 4,
		math.MaxInt32 + 1: 6, 1<<47 - 1: 6, -1 << 47: 6, 1 << 47: 8, -1<<47 - 1: 8, math.MaxInt64: 8, math.MinInt64: 8}
	for n, size := range ints {
		for _, typ := range []value.Type{value.TypeInt, value.TypeTimestamp} {
			v, err := value.Coerce(value.Int(n), typ)
			require.NoError(t, err)
			checkSize(t, typ, v, size)
		}
	}
	for f, size := range map[float64]int{0: 4, 19.5: 4, -1e30: 8, 0.1: 8, math.MaxFloat32: 4, math.Inf(-1): 4, 5e-324: 8} {
		checkSize(t, value.TypeFloat, value.Float(f), size)
	}
	checkSize(t, value.TypeFloat, value.Float(math.Copysign(0, -1)), 4)
}

func checkSize(t *testing.T, typ value.Type, v value.Value, size int) {
	t.Helper()
	b := row.Encode(nil, []value.Type{typ}, []value.Value{v})
	r, err := row.Parse(b)
	require.NoError(t, err)
	raw, err := r.Raw(0)
	require.NoError(t, err)
	require.Len(t, raw, size, v)
	got, err := r.Field(0, typ)
	require.NoError(t, err)
	requireSame(t, v, got)
}

func TestEncodeOfAnotherType(t *testing.T) {
	for _, test := range []struct {
		typ value.Type
		v   value.Value
	}{
		{value.TypeInt, value.Text("x")},
		{value.TypeBool, value.Int(1)},
		{value.TypeFloat, value.Int(1)},
		{value.VectorType(2, false), value.Vector([]float32{1})},
		{value.ListType(value.TypeInt), value.Int(1)},
		{value.SparseType(2), value.Text("{}/2")},
		{value.TypeGeo, value.Vector([]float32{1, 2})},
		{value.TypeGeo, value.List([]value.Value{value.Float(1), value.Float(1), value.Float(1)})},
		{value.Type{}, value.Int(1)},
	} {
		require.Panics(t, func() { row.Encode(nil, []value.Type{test.typ}, []value.Value{test.v}) }, test.typ)
	}
}

func TestPaths(t *testing.T) {
	json := parse(t, `{"pos":{"col":"b","row":4.5},"tags":["x"],"type":null}`)
	types := []value.Type{value.TypeInt, value.TypeJSON, value.TypeJSON}
	r, err := row.Parse(row.Encode(nil, types, []value.Value{value.Int(1), json, value.Text("bare")}))
	require.NoError(t, err)
	for _, keys := range [][]string{{}, {"pos"}, {"pos", "col"}, {"pos", "row"}, {"tags"}, {"tags", "x"}, {"type"}, {"nope"}, {"pos", "nope"}} {
		want := json.Path(keys...)
		got, err := r.FieldPath(1, keys...)
		require.NoError(t, err)
		requireSame(t, want, got, "%v", keys)
		got, err = r.ViewPath(1, keys...)
		require.NoError(t, err)
		requireSame(t, want, got, "%v", keys)
		text, err := r.AppendJSONPath(nil, 1, keys...)
		require.NoError(t, err)
		require.Equal(t, want.String(), string(text))
	}
	for _, i := range []int{2, 3} {
		got, err := r.FieldPath(i, "pos")
		require.NoError(t, err)
		require.True(t, got.IsNull())
	}
}

func TestAppendVector(t *testing.T) {
	for _, f16 := range []bool{false, true} {
		typ := value.VectorType(3, f16)
		r, err := row.Parse(row.Encode(nil, []value.Type{typ, typ, typ},
			[]value.Value{value.Null, value.Vector([]float32{1, -0.5, 2}), value.Null}))
		require.NoError(t, err)
		got, ok, err := r.AppendVector([]float32{9}, 1, typ)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, []float32{9, 1, -0.5, 2}, got)

		got, ok, err = r.AppendVector([]float32{9}, 0, typ)
		require.NoError(t, err)
		require.False(t, ok)
		require.Equal(t, []float32{9}, got)

		_, _, err = r.AppendVector(nil, 1, value.VectorType(4, f16))
		require.ErrorIs(t, err, row.ErrCorrupt)

		buf := make([]float32, 0, 3)
		require.Zero(t, testing.AllocsPerRun(10, func() { buf, _, _ = r.AppendVector(buf[:0], 1, typ) }))
	}
}

func TestViewLiesInTheRow(t *testing.T) {
	types := []value.Type{value.TypeText, value.TypeBytes, value.TypeJSON}
	b := row.Encode(nil, types, []value.Value{value.Text("text"), value.Bytes([]byte("text")), parse(t, `["text"]`)})
	var views, copies []value.Value
	for i, typ := range types {
		v, err := row.View(b, i, typ)
		require.NoError(t, err)
		views = append(views, v)
		v, err = row.Field(b, i, typ)
		require.NoError(t, err)
		copies = append(copies, v)
	}
	copy(b, bytes.ReplaceAll(b, []byte("text"), []byte("TEXT")))
	require.Equal(t, `["TEXT",[84,69,88,84],["TEXT"]]`, value.List(views).String())
	require.Equal(t, `["text",[116,101,120,116],["text"]]`, value.List(copies).String())

	r, err := row.Parse(b)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for i, typ := range types[:2] {
			if _, err := r.View(i, typ); err != nil {
				panic(err)
			}
		}
	}))
}

func TestDamaged(t *testing.T) {
	for name, b := range map[string]string{
		"empty":                      "",
		"too short":                  "\x01\x01",
		"another version":            "\x02\x01\x00",
		"an unknown width":           "\x01\x03\x00",
		"no offsets":                 "\x01\x01\x05\x00",
		"a count without an end":     "\x01\x01\xff",
		"a huge count":               "\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
		"a count that fills the row": "\x01\x04\xff\x7f" + strings.Repeat("\x00", 1000),
	} {
		_, err := row.Parse([]byte(b))
		require.ErrorIs(t, err, row.ErrCorrupt, name)
		_, err = row.Field([]byte(b), 0, value.TypeInt)
		require.ErrorIs(t, err, row.ErrCorrupt, name)
		_, err = row.View([]byte(b), 0, value.TypeInt)
		require.ErrorIs(t, err, row.ErrCorrupt, name)
		_, err = isNull([]byte(b), 0)
		require.ErrorIs(t, err, row.ErrCorrupt, name)
		_, err = appendJSON(nil, []byte(b), 0, value.TypeInt)
		require.ErrorIs(t, err, row.ErrCorrupt, name)
	}
}

func TestDamagedField(t *testing.T) {
	for name, test := range map[string]struct {
		b   string
		i   int
		typ value.Type
	}{
		"an end past the row":           {"\x01\x01\x01\x00\x05ab", 0, value.TypeText},
		"an end before the start":       {"\x01\x01\x02\x00\x02\x01ab", 1, value.TypeText},
		"a bool of two":                 {"\x01\x01\x01\x00\x01\x02", 0, value.TypeBool},
		"a bool of no bytes":            {"\x01\x01\x01\x00\x00", 0, value.TypeBool},
		"an int of three bytes":         {"\x01\x01\x01\x00\x03abc", 0, value.TypeInt},
		"a timestamp of no bytes":       {"\x01\x01\x01\x00\x00", 0, value.TypeTimestamp},
		"a float of five bytes":         {"\x01\x01\x01\x00\x05abcde", 0, value.TypeFloat},
		"a vector of other length":      {"\x01\x01\x01\x00\x04abcd", 0, value.VectorType(2, false)},
		"an f16 vector of odd length":   {"\x01\x01\x01\x00\x03abc", 0, value.VectorType(2, true)},
		"json with more after it":       {"\x01\x01\x01\x00\x02\x00\x00", 0, value.TypeJSON},
		"a sparse of no bytes":          {"\x01\x01\x01\x00\x00", 0, value.SparseType(3)},
		"a sparse beyond its dimension": {"\x01\x01\x01\x00\x06\x01\x04\x00\x00\x80\x3f", 0, value.SparseType(3)},
		"a point of eight bytes":        {"\x01\x01\x01\x00\x0812345678", 0, value.TypeGeo},
		"json of no bytes":              {"\x01\x01\x01\x00\x00", 0, value.TypeJSON},
		"a list with an unknown tag":    {"\x01\x01\x01\x00\x01\x0f", 0, value.ListType(value.TypeInt)},
		"a field without a known type":  {"\x01\x01\x01\x00\x01a", 0, value.Type{}},
	} {
		_, err := row.Field([]byte(test.b), test.i, test.typ)
		require.ErrorIs(t, err, row.ErrCorrupt, name)
		_, err = row.View([]byte(test.b), test.i, test.typ)
		require.ErrorIs(t, err, row.ErrCorrupt, name)
		_, err = appendJSON(nil, []byte(test.b), test.i, test.typ)
		require.ErrorIs(t, err, row.ErrCorrupt, name)
	}
}

func TestPoint(t *testing.T) {
	types := []value.Type{value.TypeGeo, value.TypeGeo, value.TypeInt}
	r, err := row.Parse(row.Encode(nil, types, []value.Value{value.Null, value.Point(28.9784, 41.0082), value.Int(1)}))
	require.NoError(t, err)
	lon, lat, ok, err := r.Point(1)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, [2]float64{28.9784, 41.0082}, [2]float64{lon, lat})
	_, _, ok, err = r.Point(0)
	require.NoError(t, err)
	require.False(t, ok)
	_, _, ok, err = r.Point(2)
	require.ErrorIs(t, err, row.ErrCorrupt)
	require.False(t, ok)
}

func TestSeal(t *testing.T) {
	r := valuetest.Rand(2)
	for range 200 {
		types, vals := randomRow(r)
		want := row.Encode(nil, types, vals)
		sealed := row.Seal(bytes.Clone(want))
		got, err := row.Open(sealed)
		require.NoError(t, err)
		require.Equal(t, want, got)

		behind := row.SealFrom(row.Encode([]byte("before"), types, vals), len("before"))
		require.Equal(t, sealed, behind[len("before"):])

		i := r.IntN(len(sealed))
		sealed[i] ^= 1 << r.IntN(8)
		_, err = row.Open(sealed)
		require.ErrorIs(t, err, row.ErrCorrupt)
	}
	for n := range 4 {
		_, err := row.Open(make([]byte, n))
		require.ErrorIs(t, err, row.ErrCorrupt)
	}
	// The check value of CRC-32C in the literature.
	require.Equal(t, "123456789\x83\x92\x06\xe3", string(row.Seal([]byte("123456789"))))
}

// FuzzRow checks that damaged rows never panic, and that the readers of a field
// agree.
func FuzzRow(f *testing.F) {
	r := valuetest.Rand(3)
	for range 30 {
		types, vals := randomRow(r)
		f.Add(row.Encode(nil, types, vals), uint8(r.IntN(12)), uint8(r.IntN(len(allTypes))))
	}
	f.Fuzz(func(t *testing.T, b []byte, field, kind uint8) {
		i, typ := int(field), allTypes[int(kind)%len(allTypes)]
		v, err := row.Field(b, i, typ)
		view, viewErr := row.View(b, i, typ)
		json, jsonErr := appendJSON(nil, b, i, typ)
		require.Equal(t, err, viewErr)
		if err != nil {
			require.ErrorIs(t, err, row.ErrCorrupt)
			return
		}
		require.NoError(t, jsonErr)
		require.Equal(t, v.String(), string(json))
		requireSame(t, v, view)
		parsed, err := row.Parse(b)
		require.NoError(t, err)
		if _, err := parsed.FieldPath(i, "a", "b"); err != nil {
			require.ErrorIs(t, err, row.ErrCorrupt)
		}
	})
}
