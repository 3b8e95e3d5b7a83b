package target_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		raw      string
		segments []string
		query    []target.Pair
	}{
		"root":                {"/", nil, nil},
		"nothing":             {"", nil, nil},
		"star":                {"*", nil, nil},
		"empty segments":      {"//books///all/", []string{"books", "all"}, nil},
		"absolute form":       {"http://host:80/books?a=1", []string{"books"}, []target.Pair{{"a", "1"}}},
		"absolute, no path":   {"http://host?a=1", nil, []target.Pair{{"a", "1"}}},
		"first question mark": {"/a?b=c?d", []string{"a"}, []target.Pair{{"b", "c?d"}}},
		"order and repeats":   {"/a?x=1&y=2&x=0", []string{"a"}, []target.Pair{{"x", "1"}, {"y", "2"}, {"x", "0"}}},
		"key alone":           {"/a?count&x=", []string{"a"}, []target.Pair{{"count", ""}, {"x", ""}}},
		"value alone":         {"/a?=x", []string{"a"}, []target.Pair{{"", "x"}}},
		"empty pairs":         {"/a?&&x=1&", []string{"a"}, []target.Pair{{"x", "1"}}},
		"empty query":         {"/a?", []string{"a"}, nil},
		"semicolon":           {"/a?x=1;y=2", []string{"a"}, []target.Pair{{"x", "1;y=2"}}},
		"equals in the value": {"/a?where=b=c", []string{"a"}, []target.Pair{{"where", "b=c"}}},
		"plus is a blank":     {"/a+b?c+d=e+f", []string{"a b"}, []target.Pair{{"c d", "e f"}}},
		"escapes": {
			"/%62ooks/a%2Fb?%78=%3d%26&y=%C3%A9%20",
			[]string{"books", "a/b"}, []target.Pair{{"x", "=&"}, {"y", "é "}},
		},
		"escaped plus":    {"/a%2Bb?x=1%2B1", []string{"a+b"}, []target.Pair{{"x", "1+1"}}},
		"invalid escapes": {"/%zz%4?a=%&b=%g1&c=100%", []string{"%zz%4"}, []target.Pair{{"a", "%"}, {"b", "%g1"}, {"c", "100%"}}},
		"invalid UTF-8":   {"/%ffa?x=%C3&y=a\xfeb", []string{"\uFFFDa"}, []target.Pair{{"x", "\uFFFD"}, {"y", "a\uFFFDb"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := target.Parse(tt.raw)
			require.Equal(t, tt.segments, got.Segments)
			if len(tt.query) == 0 {
				require.Empty(t, got.Query)
				return
			}
			require.Equal(t, tt.query, got.Query)
		})
	}
}

// Where net/url takes a query, both read the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"/", "//books/?select=title&pages=205", "/a?b=%zz&c+d=%C3%A9;x", "http://h/a?b", "*", "?", "/%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := target.Parse(raw)
		for _, s := range got.Segments {
			require.NotEmpty(t, s)
			require.True(t, utf8.ValidString(s), "%q", s)
		}
		for _, p := range got.Query {
			require.True(t, utf8.ValidString(p.Key) && utf8.ValidString(p.Value), "%q", p)
		}
		_, query, _ := strings.Cut(raw, "?")
		if want, err := url.ParseQuery(query); err == nil {
			requireSame(t, want, got.Query)
		}
	})
}

func requireSame(t *testing.T, want url.Values, got []target.Pair) {
	t.Helper()
	n := 0
	for key, values := range want {
		var of []string
		for _, p := range got {
			if p.Key == strings.ToValidUTF8(key, "\uFFFD") {
				of = append(of, p.Value)
			}
		}
		if !utf8.ValidString(key) {
			return // keys that differ may have become one
		}
		for i := range values {
			values[i] = strings.ToValidUTF8(values[i], "\uFFFD")
		}
		require.Subset(t, of, values)
		n += len(values)
	}
	require.Len(t, got, n)
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		target.Parse("/books?id=1")
	}
}
