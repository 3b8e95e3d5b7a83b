package value_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

// TestStoredForm pins the bytes that files hold.
func TestStoredForm(t *testing.T) {
	tests := []struct {
		v    value.Value
		want string
	}{
		{value.Null, "\x00"},
		{value.Bool(false), "\x01"},
		{value.Bool(true), "\x02"},
		{value.Int(-1), "\x03\x01"},
		{value.Int(300), "\x03\xd8\x04"},
		{value.Float(1), "\x04\x00\x00\x00\x00\x00\x00\xf0\x3f"},
		{value.Timestamp(1), "\x05\x02"},
		{value.Text("ab"), "\x06\x02ab"},
		{value.Bytes([]byte{0xff}), "\x07\x01\xff"},
		{value.Vector([]float32{1}), "\x08\x01\x00\x00\x80\x3f"},
		{sparse(t, "{1:1,301:-2}/400"), "\x0b\x0e\x90\x03\x02\x01\xac\x02\x00\x00\x80\x3f\x00\x00\x00\xc0"},
		{parse(t, `[1,"a"]`), "\x09\x06\x02\x03\x02\x06\x01a"},
		{parse(t, `{"b":null,"a":[]}`), "\x0a\x09\x02\x01a\x09\x01\x00\x01b\x00"},
	}
	for _, test := range tests {
		require.Equal(t, test.want, string(value.Append(nil, test.v)), test.v)
	}
}

func TestCodecRoundTrip(t *testing.T) {
	r := valuetest.Rand(11)
	values := []value.Value{
		value.Float(math.NaN()), value.Text(strings.Repeat("x", 127)), value.Text(strings.Repeat("x", 128)),
		value.List([]value.Value{value.Text(strings.Repeat("x", 20000)), value.Int(1)}),
		value.List(make([]value.Value, 1000)), value.Vector(make([]float32, 300)),
		parse(t, strings.Repeat(`{"a":[`, 64)+strings.Repeat(`]}`, 64)),
	}
	for range 5000 {
		values = append(values, valuetest.Any(r, 4))
	}
	for _, v := range values {
		b := value.Append([]byte("before"), v)
		b = append(b, "after"...)
		for _, decode := range []func([]byte) (value.Value, []byte, error){value.Decode, value.View} {
			got, rest, err := decode(b[len("before"):])
			require.NoError(t, err)
			require.Equal(t, "after", string(rest))
			requireSame(t, v, got)
		}
		stored := value.Append(nil, v)
		json, err := value.AppendJSONStored([]byte("x"), stored)
		require.NoError(t, err)
		require.Equal(t, "x"+v.String(), string(json))
		_, err = value.AppendJSONStored(nil, append(stored, 0))
		require.ErrorIs(t, err, value.ErrCorrupt)
	}
}

func TestDecodeShortened(t *testing.T) {
	r := valuetest.Rand(12)
	for range 1000 {
		b := value.Append(nil, valuetest.Any(r, 3))
		for n := range b {
			_, _, err := value.Decode(b[:n])
			require.ErrorIs(t, err, value.ErrCorrupt)
			_, err = value.AppendJSONStored(nil, b[:n])
			require.ErrorIs(t, err, value.ErrCorrupt)
		}
	}
}

func TestDecodeDamaged(t *testing.T) {
	huge := "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
	for name, b := range map[string]string{
		"an unknown tag":            "\x0b",
		"a varint without an end":   "\x03" + strings.Repeat("\xff", 10),
		"a text past the end":       "\x06\x05abcd",
		"a text of a huge length":   "\x06" + huge,
		"a vector of a huge length": "\x08" + huge,
		"a list of a huge size":     "\x09" + huge,
		"a list of a huge count":    "\x09\x0a" + huge + "\x00",
		"a list of too few":         "\x09\x02\x02\x00",
		"a list of too many":        "\x09\x03\x01\x00\x00",
		"an object of a huge count": "\x0a\x0a" + huge + "\x00",
		"a member without a value":  "\x0a\x03\x01\x01a",
		"a key past the end":        "\x0a\x03\x01\x05a",
		"keys out of order":         "\x0a\x07\x02\x01b\x00\x01a\x00",
		"a key twice":               "\x0a\x07\x02\x01a\x00\x01a\x00",
		"lists too deep":            nestedLists(200),
	} {
		_, _, err := value.Decode([]byte(b))
		require.ErrorIs(t, err, value.ErrCorrupt, name)
	}
	_, err := value.AppendJSONStored(nil, []byte(nestedLists(200)))
	require.ErrorIs(t, err, value.ErrCorrupt)
	_, _, err = value.Decode([]byte(nestedLists(150)))
	require.NoError(t, err)
}

// nestedLists returns the stored form of n lists within each other.
func nestedLists(n int) string {
	v := value.List(nil)
	for range n - 1 {
		v = value.List([]value.Value{v})
	}
	return string(value.Append(nil, v))
}

// TestDecodeAllocation checks that counts that promise much take little memory.
func TestDecodeAllocation(t *testing.T) {
	// Lists within each other, each promising as many elements as fit its size.
	b := bytes.Repeat([]byte{0}, 1<<16)
	for range 100 {
		body := append(binary.AppendUvarint(nil, uint64(len(b))), b...)
		b = append(binary.AppendUvarint([]byte{9}, uint64(len(body))), body...)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := value.Decode(b)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, value.ErrCorrupt)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(50*len(b)))
}

func TestViewLiesInItsBytes(t *testing.T) {
	b := value.Append(nil, parse(t, `{"key":["text"]}`))
	v, _, err := value.View(b)
	require.NoError(t, err)
	copy(b[bytes.Index(b, []byte("text")):], "TEXT")
	copy(b[bytes.Index(b, []byte("key")):], "KEY")
	require.Equal(t, `{"KEY":["TEXT"]}`, v.String())
}

// lookup decodes what lies under keys in the stored object b; null where Find finds
// nothing.
func lookup(b []byte, keys ...string) (value.Value, error) {
	found, ok, err := value.Find(b, keys...)
	if err != nil || !ok {
		return value.Null, err
	}
	v, _, err := value.Decode(found)
	return v, err
}

func TestLookup(t *testing.T) {
	v := parse(t, `{"a":{"b":{"c":1},"n":null,"t":"x"},"l":[{"x":1}],"s":"t","z":2.5}`)
	b := append(value.Append(nil, v), "rest"...)
	for _, keys := range [][]string{
		nil, {"a"}, {"a", "b"}, {"a", "b", "c"}, {"a", "n"}, {"a", "n", "x"}, {"a", "t"}, {"a", "b", "c", "d"},
		{""}, {"a", "zz"}, {"aa"}, {"zz"}, {"l", "x"}, {"s", "x"}, {"z"},
	} {
		got, err := lookup(b, keys...)
		require.NoError(t, err, keys)
		requireSame(t, v.Path(keys...), got)

		found, ok, err := value.Find(b, keys...)
		require.NoError(t, err)
		require.Equal(t, ok, found != nil)
		if ok {
			require.Equal(t, value.Append(nil, got), found)
		}
	}
}

func TestLookupRandom(t *testing.T) {
	r := valuetest.Rand(13)
	for range 5000 {
		v := valuetest.Object(r, 3)
		b := value.Append(nil, v)
		keys := []string{valuetest.Text(r)}
		if members := v.AsObject(); len(members) > 0 && r.IntN(4) > 0 {
			m := members[r.IntN(len(members))]
			keys[0] = m.Key
			if m.Value.Kind() == value.KindObject && m.Value.Len() > 0 {
				keys = append(keys, m.Value.AsObject()[0].Key)
			}
		}
		got, err := lookup(b, keys...)
		require.NoError(t, err)
		requireSame(t, v.Path(keys...), got)
	}
}

func TestLookupDamaged(t *testing.T) {
	for _, b := range []string{"", "\x0b", "\x0a\x05", "\x0a\x03\x02\x01a", "\x0a\x03\x01\x05a", "\x0a\x04\x01\x01a\x0b", "\x0a\x00"} {
		_, err := lookup([]byte(b), "a")
		require.ErrorIs(t, err, value.ErrCorrupt, "%q", b)
	}
	_, err := lookup(nil)
	require.ErrorIs(t, err, value.ErrCorrupt)
}

// FuzzDecode checks that damaged bytes never panic, and that what can be read
// has one meaning for every reader.
func FuzzDecode(f *testing.F) {
	r := valuetest.Rand(14)
	for range 20 {
		f.Add(value.Append(nil, valuetest.Any(r, 3)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		json, jsonErr := value.AppendJSONStored(nil, b)
		_, lookupErr := lookup(b, "a", "b")
		v, rest, err := value.Decode(b)
		if err != nil {
			require.ErrorIs(t, err, value.ErrCorrupt)
			return
		}
		require.NoError(t, lookupErr)
		if len(rest) == 0 {
			require.NoError(t, jsonErr)
			require.Equal(t, v.String(), string(json))
		}
		view, _, err := value.View(b)
		require.NoError(t, err)
		requireSame(t, v, view)
		again, rest, err := value.Decode(value.Append(nil, v))
		require.NoError(t, err)
		require.Empty(t, rest)
		requireSame(t, v, again)
	})
}

func BenchmarkLookup(b *testing.B) {
	stored := value.Append(nil, parse(b, `{"author":"ann","lang":"en","pos":{"col":"b","row":4},"tags":["x","y","z"],"type":"memo"}`))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lookup(stored, "pos", "row"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	stored := value.Append(nil, parse(b, `{"author":"ann","lang":"en","pos":{"col":"b","row":4},"tags":["x","y","z"],"type":"memo"}`))
	for name, decode := range map[string]func([]byte) (value.Value, []byte, error){"copy": value.Decode, "view": value.View} {
		b.Run("text="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := decode(stored); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
