package http1_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fenec-go/fenecdb/internal/http1"
	"github.com/stretchr/testify/require"
)

func TestRequestParse(t *testing.T) {
	head := "POST /t/acme/n%6Ftes?a=1&a=2&b=%2F+ HTTP/1.1\r\n" +
		"Host: x\r\nX-Order:  seventeen \t\r\ncontent-LENGTH: 12\r\nExpect: 100-Continue\r\nEmpty:\r\n\r\n"
	var q http1.Request
	require.NoError(t, q.Parse([]byte(head)))
	require.Equal(t, http1.POST, q.Method)
	require.Equal(t, "POST", q.Method.String())
	require.Equal(t, "/t/acme/n%6Ftes?a=1&a=2&b=%2F+", string(q.Target))
	require.Equal(t, 1, q.Minor)
	require.EqualValues(t, 12, q.Length)
	require.True(t, q.HasBody())
	require.True(t, q.Expect)
	require.False(t, q.Close)
	require.Equal(t, "Host=x X-Order=seventeen content-LENGTH=12 Expect=100-Continue Empty=", list(q.Fields))
	value, ok := http1.Find(q.Fields, "x-order")
	require.True(t, ok)
	require.Equal(t, "seventeen", string(value))
	_, ok = http1.Find(q.Fields, "absent")
	require.False(t, ok)
}

func list(fields []http1.Field) string {
	var out []string
	for _, f := range fields {
		out = append(out, fmt.Sprintf("%s=%s", f.Name, f.Value))
	}
	return strings.Join(out, " ")
}

func TestRequestConnection(t *testing.T) {
	for _, c := range []struct {
		name, version, fields string
		close, expect         bool
	}{
		{"1.1 stays open", "1.1", "", false, false},
		{"1.1 closes", "1.1", "Connection: Close\r\n", true, false},
		{"close among others", "1.1", "Connection: x-a , close\r\n", true, false},
		{"close in a second field", "1.1", "Connection: x-a\r\nConnection: close\r\n", true, false},
		{"1.0 closes", "1.0", "", true, false},
		{"1.0 stays open", "1.0", "Connection: keep-alive\r\n", false, false},
		{"close wins", "1.0", "Connection: keep-alive, close\r\n", true, false},
		{"expect", "1.1", "Expect: 100-continue\r\n", false, true},
		{"expect in 1.0 is nothing", "1.0", "Expect: 100-continue\r\n", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var q http1.Request
			require.NoError(t, q.Parse([]byte("GET / HTTP/"+c.version+"\r\nHost: x\r\n"+c.fields+"\r\n")))
			require.Equal(t, c.close, q.Close)
			require.Equal(t, c.expect, q.Expect)
		})
	}
}

func TestRequestFraming(t *testing.T) {
	for _, c := range []struct {
		name, fields string
		length       int64
		chunked      bool
	}{
		{"none", "", http1.Unknown, false},
		{"zero", "Content-Length: 0\r\n", 0, false},
		{"length", "Content-Length: 123456789012345678\r\n", 123456789012345678, false},
		{"chunked", "Transfer-Encoding: Chunked\r\n", http1.Unknown, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var q http1.Request
			require.NoError(t, q.Parse([]byte("POST / HTTP/1.1\r\nHost: x\r\n"+c.fields+"\r\n")))
			require.Equal(t, c.length, q.Length)
			require.Equal(t, c.chunked, q.Chunked)
			require.Equal(t, c.chunked || c.length > 0, q.HasBody())
		})
	}
}

func TestRequestRefused(t *testing.T) {
	const line = "GET / HTTP/1.1\r\nHost: x\r\n"
	for _, c := range []struct {
		name, head string
		status     int
	}{
		{"empty line", "\r\n\r\n", 400},
		{"no target", "GET HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"empty target", "GET  HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"no version", "GET /\r\n\r\n", 400},
		{"two blanks", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"blank before the method", " GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"blank behind the version", "GET / HTTP/1.1 \r\n\r\n", 400},
		{"blank in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"tab as a separator", "GET\t/\tHTTP/1.1\r\n\r\n", 400},
		{"control in the target", "GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"version 2", "GET / HTTP/2.0\r\n\r\n", 400},
		{"version 1.2", "GET / HTTP/1.2\r\n\r\n", 400},
		{"lower-case version", "GET / http/1.1\r\n\r\n", 400},
		{"method no token", "GE(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"unknown method", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", 501},
		{"lower-case method", "get / HTTP/1.1\r\n\r\n", 501},
		{"CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n", 501},
		{"bare LF behind the line", "GET / HTTP/1.1\n\r\n", 400},
		{"bare LF behind a field", line + "A: b\nC: d\r\n\r\n", 400},
		{"bare LF as the end", line + "A: b\r\n\n", 400},
		{"bare CR in a line", "GET /\rx HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"bare CR in a value", line + "A: b\rC: d\r\n\r\n", 400},
		{"CR CR LF", line + "A: b\r\r\n\r\n", 400},
		{"folded line", line + "A: b\r\n c\r\n\r\n", 400},
		{"folded by a tab", line + "A: b\r\n\tc\r\n\r\n", 400},
		{"folded first line", line + " A: b\r\n\r\n", 400},
		{"blank before the colon", line + "Content-Length : 5\r\n\r\n", 400},
		{"no colon", line + "A\r\n\r\n", 400},
		{"no name", line + ": b\r\n\r\n", 400},
		{"name no token", line + "A/B: c\r\n\r\n", 400},
		{"high byte in a name", line + "\xc3\xa4: c\r\n\r\n", 400},
		{"NUL in a value", line + "A: b\x00c\r\n\r\n", 400},
		{"DEL in a value", line + "A: b\x7f\r\n\r\n", 400},
		{"two hosts", line + "Host: a\r\nHost: a\r\n\r\n", 400},
		{"length and coding", line + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		{"coding and length", line + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", 400},
		{"length twice", line + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n", 400},
		{"same length twice", line + "Content-Length: 5\r\ncontent-length: 5\r\n\r\n", 400},
		{"length list", line + "Content-Length: 5, 5\r\n\r\n", 400},
		{"length with a sign", line + "Content-Length: +5\r\n\r\n", 400},
		{"negative length", line + "Content-Length: -5\r\n\r\n", 400},
		{"hexadecimal length", line + "Content-Length: 0x5\r\n\r\n", 400},
		{"length with a blank", line + "Content-Length: 5 6\r\n\r\n", 400},
		{"empty length", line + "Content-Length:\r\n\r\n", 400},
		{"length over 63 bits", line + "Content-Length: 9223372036854775808\r\n\r\n", 400},
		{"coding twice", line + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		{"coding in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		{"other coding", line + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
		{"identity", line + "Transfer-Encoding: identity\r\n\r\n", 501},
		{"quoted coding", line + "Transfer-Encoding: \"chunked\"\r\n\r\n", 501},
		{"no blank line", line + "A: b\r\n", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			var q http1.Request
			err := q.Parse([]byte(c.head))
			var refused *http1.Error
			require.True(t, errors.As(err, &refused), "got %v", err)
			require.Equal(t, c.status, refused.Status)
			require.NotEmpty(t, refused.Text)
		})
	}
}

func TestRequestParseDoesNotAllocate(t *testing.T) {
	head := []byte("GET /t/acme/docs?limit=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer abc\r\nAccept: */*\r\n\r\n")
	var q http1.Request
	require.NoError(t, q.Parse(head))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if err := q.Parse(head); err != nil {
			panic(err)
		}
	}))
}

func BenchmarkRequestParse(b *testing.B) {
	head := []byte("GET /t/acme/docs?limit=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer abc\r\nAccept: */*\r\nUser-Agent: fenec\r\n\r\n")
	var q http1.Request
	b.ReportAllocs()
	for b.Loop() {
		if err := q.Parse(head); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	f.Add([]byte("POST /a?b HTTP/1.0\r\nContent-Length: 5\r\nA:\tb \r\n\r\n"))
	f.Add([]byte("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: a, close\r\n\r\n"))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		var q http1.Request
		if err := q.Parse(head); err != nil {
			var refused *http1.Error
			require.ErrorAs(t, err, &refused)
			return
		}
		require.False(t, q.Chunked && q.Length != http1.Unknown)

		// What was understood, written again, is understood the same way.
		again := http1.AppendRequestLine(nil, q.Method, q.Target)
		for _, field := range q.Fields {
			again = http1.AppendField(again, field.Name, field.Value)
		}
		again = http1.AppendEnd(again)
		var p http1.Request
		if q.Minor == 0 {
			return
		}
		require.NoError(t, p.Parse(again))
		require.Equal(t, q.Framing, p.Framing)
		require.Equal(t, list(q.Fields), list(p.Fields))
		require.Equal(t, string(q.Target), string(p.Target))
	})
}
