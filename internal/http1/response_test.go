package http1_test

import (
	"errors"
	"testing"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/stretchr/testify/require"
)

func TestResponseParse(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       http1.Response
	}{
		{"plain", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", http1.Response{Status: 200, Reason: []byte("OK"), Minor: 1, Framing: http1.Framing{Length: 3}}},
		{"long reason", "HTTP/1.1 404 Not Found\r\n\r\n", http1.Response{Status: 404, Reason: []byte("Not Found"), Minor: 1, Framing: http1.Framing{Length: http1.Unknown}}},
		{"empty reason", "HTTP/1.1 200 \r\n\r\n", http1.Response{Status: 200, Minor: 1, Framing: http1.Framing{Length: http1.Unknown}}},
		{"no reason", "HTTP/1.1 200\r\n\r\n", http1.Response{Status: 200, Minor: 1, Framing: http1.Framing{Length: http1.Unknown}}},
		{"1.0", "HTTP/1.0 200 OK\r\n\r\n", http1.Response{Status: 200, Reason: []byte("OK"), Framing: http1.Framing{Length: http1.Unknown, Close: true}}},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", http1.Response{Status: 200, Reason: []byte("OK"), Minor: 1, Framing: http1.Framing{Length: http1.Unknown, Chunked: true}}},
		{"close", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", http1.Response{Status: 200, Reason: []byte("OK"), Minor: 1, Framing: http1.Framing{Length: http1.Unknown, Close: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p http1.Response
			require.NoError(t, p.Parse([]byte(c.head)))
			require.Equal(t, c.want.Status, p.Status)
			require.Equal(t, string(c.want.Reason), string(p.Reason))
			require.Equal(t, c.want.Minor, p.Minor)
			require.Equal(t, c.want.Length, p.Length)
			require.Equal(t, c.want.Chunked, p.Chunked)
			require.Equal(t, c.want.Close, p.Close)
		})
	}
}

func TestResponseRefused(t *testing.T) {
	for name, head := range map[string]string{
		"empty":             "\r\n\r\n",
		"no status":         "HTTP/1.1\r\n\r\n",
		"short status":      "HTTP/1.1 20 OK\r\n\r\n",
		"low status":        "HTTP/1.1 099 OK\r\n\r\n",
		"signed status":     "HTTP/1.1 +20 OK\r\n\r\n",
		"other protocol":    "ICY 200 OK\r\n\r\n",
		"control in reason": "HTTP/1.1 200 O\x01K\r\n\r\n",
		"two lengths":       "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n",
		"length and coding": "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
		"folded line":       "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
		"bare LF":           "HTTP/1.1 200 OK\nA: b\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			var p http1.Response
			var refused *http1.Error
			err := p.Parse([]byte(head))
			require.True(t, errors.As(err, &refused), "got %v", err)
		})
	}
}

func TestBodyless(t *testing.T) {
	for _, c := range []struct {
		status int
		method http1.Method
		want   bool
	}{
		{200, http1.GET, false},
		{200, http1.HEAD, true},
		{404, http1.HEAD, true},
		{204, http1.GET, true},
		{304, http1.GET, true},
		{100, http1.POST, true},
		{500, http1.POST, false},
	} {
		p := http1.Response{Status: c.status}
		require.Equal(t, c.want, p.Bodyless(c.method), "%d to %s", c.status, c.method)
	}
}

func FuzzResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 404\r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		var p http1.Response
		if err := p.Parse(head); err != nil {
			var refused *http1.Error
			require.ErrorAs(t, err, &refused)
			return
		}
		require.GreaterOrEqual(t, p.Status, 100)
		require.Less(t, p.Status, 1000)
	})
}
