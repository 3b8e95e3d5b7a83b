package value_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

func sparse(t testing.TB, s string) value.Value {
	t.Helper()
	v, err := value.ParseSparse(s)
	require.NoError(t, err, s)
	return v
}

func TestParseSparse(t *testing.T) {
	for text, want := range map[string]string{
		"{1:0.25,3:0.5}/8":          "{1:0.25,3:0.5}/8",
		"{3:0.5, 1:2}/6":            "{1:2,3:0.5}/6",
		"{1:0,2:3}/6":               "{2:3}/6",
		"{1:-0,2:1e-60,3:1}/6":      "{3:1}/6",
		"{}/5":                      "{}/5",
		"{1000000000:1}/1000000000": "{1000000000:1}/1000000000",
		"{1:-1.5e2}/1":              "{1:-150}/1",
		"{1:0.1,\t\n 2:16777217}/3": "{1:0.1,2:16777216}/3",
		"{01:1}/02":                 "{1:1}/2",
	} {
		require.Equal(t, `"`+want+`"`, sparse(t, text).String())
		require.Equal(t, want, sparse(t, text).Go())
	}
}

func TestParseSparseErrors(t *testing.T) {
	for _, text := range []string{
		"", "{", "{}", "{}/", "{}/x", "{}/-1", "{}/+1", "{}/1 ", " {}/1", "{ }/1", "{1:1}", "1:1/1", "{1:1,}/1", "{,1:1}/1",
		"{1}/1", "{1:}/1", "{:1}/1", "{1:a}/1", "{1:nan}/1", "{1:inf}/1", "{1:0x1p1}/1", "{1:1_0}/1", "{1 :1}/1", "{1: 1}/1",
		"{1:1 }/1", "{-1:1}/1", "{1.0:1}/1", "{1:1;2:1}/3", "{1:1}/{2:1}/3", "{1:--1}/1",
		"{}/0", "{}/1000000001", "{}/99999999999999999999", "{0:1}/1", "{2:1}/1", "{99999999999:1}/1", "{4294967297:1}/1",
		"{1:1,1:2}/6", "{1:0,1:0}/6", "{1:1e39}/6", "{1:-1e400}/6",
	} {
		_, err := value.ParseSparse(text)
		requireFault(t, fault.Type, err, text)
	}
}

// What is out of range is named as it was given, also what no number holds.
func TestParseSparseNames(t *testing.T) {
	for text, want := range map[string]string{
		"{}/4294967297":           "a sparse vector of dimension 4294967297, want 1 to 1000000000",
		"{}/99999999999999999999": "a sparse vector of dimension 99999999999999999999, want 1 to 1000000000",
		"{4294967297:1}/7":        "index 4294967297 of a sparse vector, want 1 to 7",
		"{8:1}/7":                 "index 8 of a sparse vector, want 1 to 7",
	} {
		_, err := value.ParseSparse(text)
		require.ErrorContains(t, err, want)
	}
}

func TestSparse(t *testing.T) {
	v, err := value.Sparse(9, []value.Entry{{Index: 9, Weight: 1}, {Index: 2, Weight: 0}, {Index: 1, Weight: -1}})
	require.NoError(t, err)
	require.Equal(t, value.KindSparse, v.Kind())
	require.Equal(t, 2, v.Len())
	dim, entries := v.AsSparse()
	require.Equal(t, 9, dim)
	require.Equal(t, []value.Entry{{Index: 1, Weight: -1}, {Index: 9, Weight: 1}}, entries)
	require.True(t, v.Truthy())
	require.False(t, sparse(t, "{}/3").Truthy())
	clone := value.Clone(v)
	entries[0].Weight = 7
	require.Equal(t, `"{1:-1,9:1}/9"`, clone.String())

	for _, w := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
		_, err := value.Sparse(9, []value.Entry{{Index: 1, Weight: w}})
		requireFault(t, fault.Type, err)
	}
}

func TestCoerceSparse(t *testing.T) {
	for _, v := range []value.Value{value.Text("{3:1, 1:2}/4"), sparse(t, "{1:2,3:1}/4")} {
		got, err := value.Coerce(v, value.SparseType(4))
		require.NoError(t, err)
		requireSame(t, sparse(t, "{1:2,3:1}/4"), got)
	}
	got, err := value.Coerce(value.List([]value.Value{value.Text("{}/4"), value.Null}), value.ListType(value.SparseType(4)))
	require.NoError(t, err)
	require.Equal(t, `["{}/4",null]`, got.String())

	for _, v := range []value.Value{
		value.Text("{1:1}/5"), value.Text("x"), sparse(t, "{1:1}/5"), value.Vector(make([]float32, 4)), value.Int(4),
		parse(t, `[1,2,3,4]`), parse(t, `{"1":1}`),
	} {
		_, err := value.Coerce(v, value.SparseType(4))
		requireFault(t, fault.Type, err, v)
	}
	for _, typ := range []value.Type{
		value.TypeJSON, value.TypeText, value.TypeBytes, value.VectorType(4, false), value.ListType(value.TypeFloat), value.TypeGeo,
	} {
		_, err := value.Coerce(sparse(t, "{1:1}/4"), typ)
		requireFault(t, fault.Type, err, typ)
	}
	_, err = value.Coerce(value.List([]value.Value{sparse(t, "{1:1}/4")}), value.TypeJSON)
	requireFault(t, fault.Type, err)
}

func TestStoredSparse(t *testing.T) {
	r := valuetest.Rand(20)
	for range 1000 {
		want := valuetest.Sparse(r, 1+r.IntN(400))
		dim, _ := want.AsSparse()
		b := value.AppendSparse([]byte("x"), want)
		got, err := value.ReadSparse(b[1:], dim)
		require.NoError(t, err)
		requireSame(t, want, got)
		json, err := value.AppendJSONSparse([]byte("x"), b[1:], dim)
		require.NoError(t, err)
		require.Equal(t, "x"+want.String(), string(json))
	}
}

func TestReadSparseDamaged(t *testing.T) {
	for name, b := range map[string]string{
		"nothing":                "",
		"fewer than said":        "\x02\x01\x00\x00\x80\x3f",
		"more than said":         "\x00\x01\x00\x00\x80\x3f",
		"an index twice":         "\x02\x01\x00\x00\x00\x80\x3f\x00\x00\x80\x3f",
		"an index too high":      "\x01\x0a\x00\x00\x80\x3f",
		"indices that wrap":      "\x02\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x80\x3f\x00\x00\x80\x3f",
		"a weight of zero":       "\x01\x01\x00\x00\x00\x80",
		"a weight of infinity":   "\x01\x01\x00\x00\x80\x7f",
		"a number beyond memory": "\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
	} {
		_, err := value.ReadSparse([]byte(b), 9)
		require.ErrorIs(t, err, value.ErrCorrupt, name)
		_, err = value.AppendJSONSparse(nil, []byte(b), 9)
		require.ErrorIs(t, err, value.ErrCorrupt, name)
	}
	for _, dim := range []string{"\x00", "\x81\x94\xeb\xdc\x03", "\x80"} {
		b := append([]byte{11, byte(len(dim) + 1)}, dim+"\x00"...)
		_, _, err := value.Decode(b)
		require.ErrorIs(t, err, value.ErrCorrupt)
		_, err = value.AppendJSONStored(nil, b)
		require.ErrorIs(t, err, value.ErrCorrupt)
	}
}

func FuzzParseSparse(f *testing.F) {
	f.Add("{1:0.25, 3:0.5}/8")
	f.Add("{}/1")
	f.Fuzz(func(t *testing.T, s string) {
		v, err := value.ParseSparse(s)
		if err != nil {
			return
		}
		again, err := value.ParseSparse(v.Go().(string))
		require.NoError(t, err)
		requireSame(t, v, again)
		dim, entries := v.AsSparse()
		for i, e := range entries {
			require.NotZero(t, e.Weight)
			require.LessOrEqual(t, int(e.Index), dim)
			require.True(t, i == 0 || entries[i-1].Index < e.Index)
		}
	})
}

func FuzzReadSparse(f *testing.F) {
	f.Add([]byte("\x02\x01\x02\x00\x00\x80\x3f\x00\x00\x80\x3f"), 9)
	f.Fuzz(func(t *testing.T, b []byte, dim int) {
		if dim < 1 || dim > value.MaxSparseDim {
			return
		}
		v, err := value.ReadSparse(b, dim)
		if err != nil {
			require.ErrorIs(t, err, value.ErrCorrupt)
			return
		}
		again, err := value.ReadSparse(value.AppendSparse(nil, v), dim)
		require.NoError(t, err)
		requireSame(t, v, again)
	})
}
