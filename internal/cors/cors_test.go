package cors

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

func TestNobody(t *testing.T) {
	p := New("")
	require.False(t, p.On())
	require.Nil(t, p.Header())
	require.Empty(t, p.Lines(false))
	require.Empty(t, p.Lines(true))
	require.False(t, p.IsPreflight("OPTIONS", "https://a.example"))
	h := http.Header{"Vary": {"Accept-Encoding"}}
	p.Allow(h)
	p.AllowStream(h)
	p.Forbid(h)
	require.Equal(t, http.Header{"Vary": {"Accept-Encoding"}}, h)
	require.False(t, p.Replaces(&http1.Field{Name: []byte("Access-Control-Allow-Origin"), Value: []byte("*")}))
}

func TestHeaders(t *testing.T) {
	p := New("https://a.example")
	h := http.Header{"Etag": {"x"}}
	p.Allow(h)
	require.Len(t, h, 7)
	require.Equal(t, "https://a.example", h.Get("Access-Control-Allow-Origin"))
	require.Contains(t, h.Get("Access-Control-Allow-Methods"), "PUT")
	require.Contains(t, h.Get("Access-Control-Allow-Headers"), "idempotency-key")
	require.Contains(t, h.Get("Access-Control-Expose-Headers"), "fenec-seq")
	p.AllowStream(h)
	require.Equal(t, http.Header{"Etag": {"x"}, "Access-Control-Allow-Origin": {"https://a.example"}, "Vary": {"Origin"}}, h)
	p.Forbid(h)
	require.Equal(t, http.Header{"Etag": {"x"}}, h)
}

// The lines say what the header says.
func TestLines(t *testing.T) {
	p := New("*")
	got := http.Header{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(p.Lines(false)), "\r\n"), "\r\n") {
		name, value, ok := strings.Cut(line, ": ")
		require.True(t, ok)
		got.Add(name, value)
	}
	require.Equal(t, p.Header(), got)
	require.Equal(t, "Access-Control-Allow-Origin: *\r\nVary: Origin\r\n", string(p.Lines(true)))
}

func TestPreflights(t *testing.T) {
	one, all := New("https://a.example"), New("*")
	require.True(t, one.IsPreflight("OPTIONS", "https://a.example"))
	require.False(t, one.IsPreflight("OPTIONS", "https://b.example"))
	require.False(t, one.IsPreflight("OPTIONS", ""))
	require.False(t, one.IsPreflight("GET", "https://a.example"))
	require.True(t, all.IsPreflight("OPTIONS", "https://b.example"))
	require.True(t, all.IsPreflight("OPTIONS", ""))
}

func TestReplaces(t *testing.T) {
	p := New("*")
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"access-control-allow-origin", "https://b.example", true},
		{"Access-Control-Max-Age", "1", true},
		{"Vary", "origin", true},
		{"Vary", "Accept-Encoding", false},
		{"Vary", "Origin, Accept-Encoding", false},
		{"Access-Control", "x", false},
		{"Content-Type", "x", false},
	} {
		require.Equal(t, c.want, p.Replaces(&http1.Field{Name: []byte(c.name), Value: []byte(c.value)}), c.name+": "+c.value)
	}
}

func TestCheck(t *testing.T) {
	for origin, ok := range map[string]bool{
		"*": true, "https://a.example": true, "http://localhost:3000": true,
		"": false, "a.example": false, "https://a.example/": false, "https://a.example/x": false, "null": false, "https://a.example\r\nX: y": false,
	} {
		require.Equal(t, ok, Check(origin) == nil, "%q", origin)
	}
}
