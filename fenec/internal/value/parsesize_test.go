package value_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// maxValues is how many values a text may hold.
const maxValues = 8 << 20

// repeated returns the text of n of one thing between a beginning and an end.
func repeated(n int, open, each, end string) string {
	return open + strings.Repeat(each+",", n-1) + each + end
}

func TestParseJSONValues(t *testing.T) {
	for name, test := range map[string]struct {
		most string // with as many values as there may be
		more string // with one more
	}{
		"numbers": {repeated(maxValues-1, "[", "1", "]"), repeated(maxValues, "[", "1", "]")},
		"empty":   {repeated(maxValues-1, "[", "[]", "]"), repeated(maxValues, "[", "{}", "]")},
		"members": {
			repeated(maxValues/2-1, "[", `{"a":0}`, ",0]"), repeated(maxValues/2-1, "[", `{"a":0}`, ",0,0]"),
		},
		"the last of an object": {
			`{"a":` + repeated(maxValues-3, "[", "1", "]") + `,"b":0}`, `{"a":` + repeated(maxValues-2, "[", "1", "]") + `,"b":0}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := value.ParseJSONString(test.most)
			require.NoError(t, err)
			_, err = value.ParseJSONString(test.more)
			requireFault(t, fault.Query, err)
			require.ErrorContains(t, err, "more than 8388608 values")
		})
	}
}

// TestParseJSONMemory bounds what is allocated for a byte of text, also of texts
// that look as if they had many values.
func TestParseJSONMemory(t *testing.T) {
	const n = 1 << 18
	for name, test := range map[string]struct {
		text string
		most float64 // bytes for one of the text
	}{
		"numbers":       {repeated(n, "[", "1", "]"), 12.5},
		"nested":        {repeated(n/256, "[", repeated(256, "[", "1", "]"), "]"), 14},
		"texts":         {repeated(n, "[", `"a"`, "]"), 16},
		"objects":       {repeated(n, "[", `{"a":1}`, "]"), 16},
		"lists":         {repeated(n, "[", `["a"]`, "]"), 16},
		"commas":        {`["` + strings.Repeat(",", n) + `"]`, 0.1},
		"commas beside": {`[1,"` + strings.Repeat(",", n) + `"]`, 0.1},
		"only commas":   {"[" + strings.Repeat(",", n) + "]", 12.5},
		"after many":    {`{"a":` + repeated(2000, "[", `"a"`, "]") + `,"b":"` + strings.Repeat(",", n) + `"}`, 1},
		"deep":          {repeated(n/1024, "[", strings.Repeat("[1,", 100)+"1"+strings.Repeat("]", 100), "]"), 25},
	} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			_, _ = value.ParseJSONString(test.text)
			require.Less(t, float64(allocated()-before)/float64(len(test.text)), test.most)
		})
	}
}

// TestParseJSONLarge reads lists and objects of more than a thousand, beside and
// within each other, as encoding/json does.
func TestParseJSONLarge(t *testing.T) {
	const n = 3000
	numbers, texts := repeated(n, "[", "1.5", "]"), repeated(n, "[", `"a,[]"`, "]")
	var members strings.Builder
	for i := range n {
		fmt.Fprintf(&members, `"k%d":[%d,"x"],`, i, i)
	}
	object := "{" + members.String() + `"":null}`
	for name, text := range map[string]string{
		"numbers":  numbers,
		"texts":    texts,
		"objects":  object,
		"beside":   `{"a":` + numbers + `,"b":` + texts + `,"c":` + object + `,"d":` + numbers + `}`,
		"within":   "[1," + numbers + "," + object + "," + texts + ",[" + numbers + "," + texts + "]]",
		"many":     repeated(20, "[", numbers, "]"),
		"one more": "[" + numbers + repeated(n, ",", "[1,2]", "]"),
	} {
		var std any
		require.NoError(t, json.Unmarshal([]byte(text), &std))
		want, err := value.FromGo(std)
		require.NoError(t, err)
		require.Zero(t, value.Compare(want, throughFloats(parse(t, text))), name)
	}
}

// allocated returns how many bytes were allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// BenchmarkParseJSONMany reads texts of a million values, each of which costs
// bytes/value of memory in all.
func BenchmarkParseJSONMany(b *testing.B) {
	const n = 1 << 20
	for name, text := range map[string]string{
		"numbers": repeated(n, "[", "1", "]"),
		"vectors": repeated(n/1024, "[", repeated(1024, "[", "0.12345678", "]"), "]"),
		"texts":   repeated(n, "[", `"a"`, "]"),
		"objects": repeated(n/2, "[", `{"a":1}`, "]"),
	} {
		b.Run("of="+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			before := allocated()
			for b.Loop() {
				if _, err := value.ParseJSONString(text); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(allocated()-before)/float64(b.N)/n, "bytes/value")
		})
	}
}
