package value_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func TestParseJSON(t *testing.T) {
	list := func(vs ...value.Value) value.Value { return value.List(vs) }
	tests := []struct {
		json string
		want value.Value
	}{
		{`null`, value.Null},
		{" \t\r\n true \n", value.Bool(true)},
		{`false`, value.Bool(false)},
		{`0`, value.Int(0)},
		{`-0`, value.Int(0)},
		{`12345678901`, value.Int(12345678901)},
		{`9223372036854775807`, value.Int(math.MaxInt64)},
		{`-9223372036854775808`, value.Int(math.MinInt64)},
		{`9223372036854775808`, value.Float(1 << 63)},
		{`-9223372036854775809`, value.Float(-1 << 63)},
		{`18446744073709551615`, value.Float(1 << 64)},
		{`18446744073709551616`, value.Float(1 << 64)},
		{`100000000000000000000`, value.Float(1e20)},
		{strings.Repeat("1", 300), value.Float(1.1111111111111111e299)},
		{`1.0`, value.Float(1)},
		{`-0.0`, value.Float(math.Copysign(0, -1))},
		{`1e2`, value.Float(100)},
		{`1E+2`, value.Float(100)},
		{`2.5e-1`, value.Float(0.25)},
		{`0.1`, value.Float(0.1)},
		{`1e-400`, value.Float(0)},
		{`1.7976931348623157e308`, value.Float(math.MaxFloat64)},
		{`2.2250738585072011e-308`, value.Float(2.2250738585072011e-308)},
		{`9007199254740993.0`, value.Float(9007199254740992)},
		{`""`, value.Text("")},
		{`"a\"\\\/\b\f\n\r\t\u00e9\u0000"`, value.Text("a\"\\/\b\f\n\r\té\x00")},
		{`"🦀\u2028"`, value.Text("🦀\u2028")},
		{`"\ud83e\udd80"`, value.Text("🦀")},
		{`"\uD83E\uDD80x"`, value.Text("🦀x")},
		{`"\ud83e"`, value.Text("\ufffd")},
		{`"\udd80\ud83e"`, value.Text("\ufffd\ufffd")},
		{`"\ud83ex"`, value.Text("\ufffdx")},
		{`"\ud83e\n"`, value.Text("\ufffd\n")},
		{`"\ud83e\u0041"`, value.Text("\ufffdA")},
		{`"\ud83e\ud83e\udd80"`, value.Text("\ufffd🦀")},
		{`[]`, list()},
		{`[ ]`, list()},
		{`[1, 2.0,"x",[null]]`, list(value.Int(1), value.Float(2), value.Text("x"), list(value.Null))},
	}
	for _, test := range tests {
		v, err := value.ParseJSON([]byte(test.json))
		require.NoError(t, err, test.json)
		requireSame(t, test.want, v, test.json)
	}
}

func TestParseJSONObject(t *testing.T) {
	v := parse(t, `{ "z" : 1 , "a":[{"z":2,"a":{}}], "\u0041b":true,"":null }`)
	require.Equal(t, `{"":null,"Ab":true,"a":[{"a":{},"z":2}],"z":1}`, v.String())
}

func TestParseJSONErrors(t *testing.T) {
	tests := []struct {
		json string
		want string
	}{
		{``, "unexpected end at byte 0"},
		{`  `, "unexpected end at byte 2"},
		{`{oops`, "unexpected 'o' at byte 1"},
		{`[1,]`, "unexpected ']' at byte 3"},
		{`[,1]`, "unexpected ',' at byte 1"},
		{`[1 2]`, "unexpected '2' at byte 3"},
		{`[1`, "unexpected end at byte 2"},
		{`{"a":1,}`, "unexpected '}' at byte 7"},
		{`{"a"}`, "unexpected '}' at byte 4"},
		{`{"a":}`, "unexpected '}' at byte 5"},
		{`{a:1}`, "unexpected 'a' at byte 1"},
		{`{"a":1`, "unexpected end at byte 6"},
		{`{"a":1,"b":2,"a":3}`, `member "a" given twice in the object at byte 0`},
		{`[{"a":1,"\u0061":3}]`, `member "a" given twice in the object at byte 1`},
		{`1 2`, "more after the value at byte 2"},
		{`{}x`, "more after the value at byte 2"},
		{`nul`, "unexpected end at byte 3"},
		{`nulL`, "unexpected 'L' at byte 3"},
		{`truely`, "more after the value at byte 4"},
		{`NaN`, "unexpected 'N' at byte 0"},
		{`Infinity`, "unexpected 'I' at byte 0"},
		{`-Infinity`, "unexpected 'I' at byte 1"},
		{`-`, "unexpected end at byte 1"},
		{`+1`, "unexpected '+' at byte 0"},
		{`01`, "number with a zero before it at byte 0"},
		{`-01.5`, "number with a zero before it at byte 1"},
		{`1.`, "unexpected end at byte 2"},
		{`.5`, "unexpected '.' at byte 0"},
		{`1.e1`, "unexpected 'e' at byte 2"},
		{`1e`, "unexpected end at byte 2"},
		{`1e+`, "unexpected end at byte 3"},
		{`1_000`, "more after the value at byte 1"},
		{`0x10`, "more after the value at byte 1"},
		{`1e400`, "beyond the range of a float at byte 0"},
		{`[-1e400]`, "beyond the range of a float at byte 1"},
		{strings.Repeat("9", 400), "beyond the range of a float at byte 0"},
		{`"open`, "text without an end at byte 5"},
		{`"open\"`, "text without an end at byte 7"},
		{`"open\`, "text without an end at byte 6"},
		{"\"a\nb\"", "control character in a text at byte 2"},
		{`"ab\q"`, "unknown escape at byte 3"},
		{`"\u12"`, `\u without four hexadecimal digits at byte 1`},
		{`"\u12g4"`, `\u without four hexadecimal digits at byte 1`},
		{`"\ud83e\u12"`, `\u without four hexadecimal digits at byte 7`},
		{"\"a\xff\"", "invalid UTF-8 at byte 2"},
		{"\"\xed\xa0\x80\"", "invalid UTF-8 at byte 1"},
		{"\"\ufffd\xff\"", "invalid UTF-8 at byte 4"},
		{"\ufeff1", "unexpected '\\ufeff' at byte 0"},
		{"1\x00", "more after the value at byte 1"},
		{"[\x00", "unexpected '\\x00' at byte 1"},
		{`'a'`, "unexpected '\\'' at byte 0"},
		{`// x`, "unexpected '/' at byte 0"},
	}
	for _, test := range tests {
		_, err := value.ParseJSON([]byte(test.json))
		requireFault(t, fault.Query, err, test.json)
		require.ErrorContains(t, err, test.want, test.json)
	}
}

func TestParseJSONDepth(t *testing.T) {
	nested := func(n int, open, inner, end string) []byte {
		return []byte(strings.Repeat(open, n) + inner + strings.Repeat(end, n))
	}
	for _, form := range [][3]string{{"[", "", "]"}, {`{"a":`, "1", "}"}, {`[{"a":`, "1", "}]"}} {
		levels := len(form[2])
		_, err := value.ParseJSON(nested(128/levels, form[0], form[1], form[2]))
		require.NoError(t, err)
		_, err = value.ParseJSON(nested(128/levels+1, form[0], form[1], form[2]))
		requireFault(t, fault.Query, err)
		_, err = value.ParseJSON(bytes.Repeat([]byte(form[0]), 1e6))
		requireFault(t, fault.Query, err)
	}
	// Depth is of lists within each other, not after each other.
	_, err := value.ParseJSON([]byte("[" + strings.Repeat("[],", 1000) + "{}]"))
	require.NoError(t, err)
}

func TestParseJSONKeepsNothing(t *testing.T) {
	data := []byte(`{"key":["text","é\n",{"key":"other"}]}`)
	v, err := value.ParseJSON(data)
	require.NoError(t, err)
	want := v.String()
	for i := range data {
		data[i] = 'x'
	}
	require.Equal(t, want, v.String())
}

func TestParseJSONString(t *testing.T) {
	v, err := value.ParseJSONString(`{"b":"x","a":[1]}`)
	require.NoError(t, err)
	require.Equal(t, `{"a":[1],"b":"x"}`, v.String())
}

func TestParseJSONManyMembers(t *testing.T) {
	for _, n := range []int{23, 24, 25, 26, 200} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `,"k%d":%d`, i*7%n, i*7%n)
		}
		v := parse(t, "{"+text.String()[1:]+"}")
		require.Equal(t, n, v.Len())
		for i := range n {
			requireSame(t, value.Int(int64(i)), v.Path("k"+strconv.Itoa(i)))
		}
		_, err := value.ParseJSONString("{" + text.String()[1:] + `,"k0":1}`)
		requireFault(t, fault.Query, err)
	}
}

// FuzzParseJSON compares with encoding/json: what is read must be valid there
// and mean the same, and what is not must be invalid there or be refused on
// purpose.
func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5,-0,"x\u00e9\ud83e\udd80",null,true],"b":{"c":{}}}`, `[1e400]`, `{"a":1,"a":2}`, `"\ud800"`,
		`123456789012345678901234567890`, `[[[[]]]]`, "\"\xff\"", `-`, `0.1e-7`, ` [ ] `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := value.ParseJSON(data)
		if err != nil {
			require.Equal(t, fault.Query, fault.KindOf(err))
			refused := strings.Contains(err.Error(), "given twice") || strings.Contains(err.Error(), "UTF-8") ||
				strings.Contains(err.Error(), "beyond the range") || strings.Contains(err.Error(), "more than ")
			require.True(t, refused || !json.Valid(data), err)
			return
		}
		var std any
		require.NoError(t, json.Unmarshal(data, &std))
		want, err := value.FromGo(std)
		require.NoError(t, err)
		require.Zero(t, value.Compare(want, throughFloats(v)), "%s", data)
		requireSame(t, parse(t, v.String()), parse(t, parse(t, v.String()).String()))
	})
}

func BenchmarkParseJSON(b *testing.B) {
	doc := `{"sku":"A1","name":"Anvil","kind":"tool","price":50,"qty":3,"ratio":1.5,"tags":["iron","heavy"],` +
		`"at":"2026-01-01T00:00:00Z","live":true,"meta":{"lang":"en","n":12}}`
	batch := "[" + strings.Repeat(doc+",", 99) + doc + "]"
	for name, text := range map[string]string{"1": doc, "100": batch} {
		data := []byte(text)
		b.Run("docs="+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := value.ParseJSON(data); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("docs="+name+"/by=encoding-json", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal(data, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
