package value_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
)

func TestAppendJSON(t *testing.T) {
	object, err := value.Object([]value.Member{
		{Key: "z", Value: value.List([]value.Value{value.Int(1), value.Null})},
		{Key: "a\"", Value: value.Bool(true)},
	})
	require.NoError(t, err)
	tests := []struct {
		v    value.Value
		want string
	}{
		{value.Null, `null`},
		{value.Bool(false), `false`},
		{value.Int(9223372036854775807), `9223372036854775807`},
		{value.Float(19.5), `19.5`},
		{ts(t, "2026-03-01T09:05:07Z"), `"2026-03-01T09:05:07Z"`},
		{value.Bytes([]byte{0, 7, 255}), `[0,7,255]`},
		{value.Bytes(nil), `[]`},
		{value.Vector([]float32{2, 0.1}), `[2,0.1]`},
		{value.Vector(nil), `[]`},
		{value.List(nil), `[]`},
		{parse(t, `{}`), `{}`},
		{object, `{"a\"":true,"z":[1,null]}`},
	}
	for _, test := range tests {
		require.Equal(t, test.want, string(value.AppendJSON(nil, test.v)))
		require.Equal(t, "x"+test.want, string(value.AppendJSON([]byte("x"), test.v)))
	}
}

// An infinity is null in an answer and named in a message.
func TestStringOfInfinities(t *testing.T) {
	more, less := value.Float(math.Inf(1)), value.Float(math.Inf(-1))
	list := value.List([]value.Value{value.Int(1), value.List([]value.Value{less})})
	require.Equal(t, "Infinity", more.String())
	require.Equal(t, "-Infinity", less.String())
	require.Equal(t, "[1,[-Infinity]]", list.String())
	require.Equal(t, "[1,[null]]", string(value.AppendJSON(nil, list)))
	_, err := value.Coerce(more, value.TypeInt)
	require.ErrorContains(t, err, "want int, got float Infinity")
}

func TestAppendJSONString(t *testing.T) {
	tests := map[string]string{
		"":                       `""`,
		"plain":                  `"plain"`,
		"\"\\\n\r\t":             `"\"\\\n\r\t"`,
		"\x00\x01\b\f\x0b\x1f":   `"\u0000\u0001\u0008\u000c\u000b\u001f"`,
		"</script>&'/\u2028\x7f": "\"</script>&'/\u2028\x7f\"",
		"🦀é":                     `"🦀é"`,
		"a\x00b":                 `"a\u0000b"`,
	}
	for s, want := range tests {
		require.Equal(t, want, string(value.AppendJSONString(nil, s)))
		require.Equal(t, want, string(value.AppendJSONString(nil, []byte(s))))
		var back string
		require.NoError(t, json.Unmarshal([]byte(want), &back))
		require.Equal(t, s, back)
	}
}

// TestJSONRoundTrip checks that what is printed reads back as the same value,
// by this package and by encoding/json.
func TestJSONRoundTrip(t *testing.T) {
	r := valuetest.Rand(7)
	for range 5000 {
		v := valuetest.JSON(r, 4)
		text := value.AppendJSON(nil, v)
		require.True(t, utf8.Valid(text))
		require.NotContains(t, string(text), "\n")
		back := parse(t, string(text))
		require.Zero(t, value.Compare(v, back), "%s", text)
		require.Equal(t, string(text), back.String())

		var std any
		require.NoError(t, json.Unmarshal(text, &std))
		fromStd, err := value.FromGo(std)
		require.NoError(t, err)
		require.Zero(t, value.Compare(throughFloats(v), fromStd), "%s", text)
	}
}

// throughFloats returns v with its ints as floats, which is what encoding/json
// reads.
func throughFloats(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindInt:
		f, _ := v.Number()
		return value.Float(f)
	case value.KindList:
		elems := make([]value.Value, v.Len())
		for i, e := range v.AsList() {
			elems[i] = throughFloats(e)
		}
		return value.List(elems)
	case value.KindObject:
		members := make([]value.Member, v.Len())
		for i, m := range v.AsObject() {
			members[i] = value.Member{Key: m.Key, Value: throughFloats(m.Value)}
		}
		object, err := value.Object(members)
		if err != nil {
			panic(err)
		}
		return object
	}
	return v
}

func BenchmarkAppendJSONString(b *testing.B) {
	for name, s := range map[string]string{
		"short": "Anvil", "long": strings.Repeat("plain text without escapes ", 40), "escapes": strings.Repeat("a\"b\n", 20),
	} {
		b.Run("text="+name, func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				dst = value.AppendJSONString(dst[:0], s)
			}
		})
	}
}
