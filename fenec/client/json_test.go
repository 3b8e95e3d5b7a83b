package client

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

var answers = []string{
	`[]`, `[{}]`, `[{"id":1,"s":"x"},{"id":2,"s":null}]`, " [ {\"a\" : [1, {\"b\":\"]}\\\\\\\"\"}] } ]\n", `[{"a":"\u00e9\ud83e\udd8a"}]`,
	`[{"a":1},]`, `[{"a":1}`, `[,]`, `[{"a":1} {"a":2}]`, `{"a":1}`, `[1]`, `[{"a":}]`, `[{"a":1,}]`, `[{"a"}]`, `[{a:1}]`, `]`, `"`, `[{"a":"\`, `[{]}]`, `[{"a":{]}]`,
	`[{"a":1},{"b":1}]`, `[{"a":1e999}]`, `[{"a":1,"a":1}]`, "[{\"a\":\"\xff\"}]",
}

// wholly reads an answer that has come whole.
func wholly(text string) (string, error) {
	var rows table
	rest, err := eachElement(text, rows.add)
	if err == nil && rest != "" {
		err = errForm
	}
	if err != nil {
		return "", err
	}
	out, err := rows.result().AppendJSON(nil)
	return string(out), err
}

// inParts reads it as it comes.
func inParts(from io.Reader) (string, error) {
	r := rowReader{from: from}
	all := &table{}
	for rows := all; !r.ended(); rows = rows.next() {
		if err := r.more(rows); err != nil {
			return "", err
		}
		if rows != all {
			all.given.Rows = append(all.given.Rows, rows.given.Rows...)
			all.given.Columns = rows.given.Columns
		}
	}
	if rest, err := io.ReadAll(from); err != nil || skipSpace(string(rest)) != "" {
		return "", errors.Join(err, errForm)
	}
	out, err := all.result().AppendJSON(nil)
	return string(out), err
}

// check reads an answer in every way, and as package json does.
func check(t *testing.T, text string) {
	want, err := wholly(text)
	for _, from := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
		got, gotErr := inParts(from)
		require.Equal(t, err == nil, gotErr == nil, "%q: %v, %v", text, err, gotErr)
		require.Equal(t, want, got, "%q", text)
	}
	if err != nil {
		return
	}
	var rows []map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &rows), "%q", text)
	var again []map[string]any
	require.NoError(t, json.Unmarshal([]byte(want), &again), "%q", want)
	require.Equal(t, rows, again)
}

func TestReadingAnswers(t *testing.T) {
	for _, text := range answers {
		check(t, text)
	}
	check(t, `[`+strings.TrimSuffix(strings.Repeat(`{"id":1,"text":"`+strings.Repeat("x", 1000)+`"},`, 100), ",")+`]`)
}

func FuzzReadingAnswers(f *testing.F) {
	for _, text := range answers {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, "e") { // the numbers of package json are floats
			check(t, text)
		}
	})
}

// Arguments read back as what they were.
func TestAppendArgument(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 5, 7, 3e6, time.UTC)
	type doc struct {
		ID int
		At time.Time `fenec:"when"`
		X  float64   `fenec:"-"`
	}
	tests := []struct {
		arg  any
		want string
	}{
		{nil, `null`},
		{true, `true`},
		{int64(math.MinInt64), `-9223372036854775808`},
		{uint8(7), `7`},
		{5.0, `5.0`},
		{math.Copysign(0, -1), `-0.0`},
		{0.1, `0.1`},
		{1e300, `1e+300`},
		{math.SmallestNonzeroFloat64, `5e-324`},
		{"a\"\n", `"a\"\n"`},
		{[]byte{0, 255}, `[0,255]`},
		{at, `"2026-03-01T09:05:07.003Z"`},
		{[]float32{1, -0.1, math.Float32frombits(0x15AE43FD)}, `[1.0,-0.1,` + string(value.AppendJSONFloat32(nil, math.Float32frombits(0x15AE43FD))) + `]`},
		{[]any{1, 2.0, nil}, `[1,2.0,null]`},
		{map[string]any{"b": 1.0, "a": []string{}}, `{"a":[],"b":1.0}`},
		{&doc{At: at}, `{"when":"2026-03-01T09:05:07.003Z"}`},
		{json.RawMessage(`{"a": 1.0}`), `{"a":1.0}`},
	}
	for _, test := range tests {
		body, err := appendStatement(nil, fenec.Statement{Text: "x", Args: []any{test.arg}})
		require.NoError(t, err)
		require.Equal(t, `{"query":"x","params":[`+test.want+`]}`, string(body))
		_, err = value.ParseJSON(body)
		require.NoError(t, err)
	}
	for _, arg := range []any{math.NaN(), math.Inf(1), []any{math.Inf(-1)}, map[string]any{"a": math.Inf(1)}, []float32{float32(math.Inf(1))}, make(chan int)} {
		_, err := appendStatement(nil, fenec.Statement{Args: []any{nil, arg}})
		require.ErrorIs(t, err, fenec.ErrType)
		require.ErrorContains(t, err, "parameter $2: ")
	}
}

// Every float and every component of a vector arrives with all its bits.
func FuzzFloats(f *testing.F) {
	f.Add(uint64(0x15AE43FD))
	f.Add(math.Float64bits(-0.1))
	f.Fuzz(func(t *testing.T, bits uint64) {
		x, y := math.Float64frombits(bits), math.Float32frombits(uint32(bits))
		if x-x != 0 || y-y != 0 {
			return
		}
		body, err := appendArgument(nil, value.List([]value.Value{value.Float(x), value.Vector([]float32{y})}))
		require.NoError(t, err)
		v, err := value.ParseJSON(body)
		require.NoError(t, err)
		require.Equal(t, value.KindFloat, v.AsList()[0].Kind())
		require.Equal(t, bits, math.Float64bits(v.AsList()[0].AsFloat()))
		require.Equal(t, math.Float32bits(y), math.Float32bits(float32(v.AsList()[1].AsList()[0].AsFloat())))
	})
}
