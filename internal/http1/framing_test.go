package http1_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

const next = "GET /next HTTP/1.1\r\nHost: x\r\n\r\n"

// Where a message ends is never a matter of opinion: either the answers are
// those to the requests that everybody sees, or the connection ends.
func TestServerFraming(t *testing.T) {
	const get, post = "GET /a HTTP/1.1\r\nHost: x\r\n", "POST /a HTTP/1.1\r\nHost: x\r\n"
	const chunked = "Transfer-Encoding: chunked\r\n"
	for _, tc := range []struct {
		name, raw string
		want      string // statuses
		bodies    string // of those that are 200, joined by |
	}{
		{"pipelined", get + "\r\n" + get + "\r\n" + next, "200 200 200", "GET /a |GET /a |GET /next "},
		{"pipelined bodies", post + "Content-Length: 2\r\n\r\nhi" + post + chunked + "\r\n2\r\nho\r\n0\r\n\r\n" + next, "200 200 200", "POST /a hi|POST /a ho|GET /next "},
		{"chunk extensions", post + chunked + "\r\n2;a=\"b\"\r\nhi\r\n0;c\r\n\r\n" + next, "200 200", "POST /a hi|GET /next "},
		{"trailers", post + chunked + "\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n" + next, "400", ""},
		{"bad chunk size", post + chunked + "\r\nxyz\r\nhi\r\n0\r\n\r\n" + next, "400", ""},
		{"negative chunk size", post + chunked + "\r\n-2\r\nhi\r\n0\r\n\r\n" + next, "400", ""},
		{"chunk size past 64 bits", post + chunked + "\r\nfffffffffffffffff\r\nhi\r\n0\r\n\r\n" + next, "400", ""},
		{"chunk longer than said", post + chunked + "\r\n2\r\nhiho\r\n0\r\n\r\n" + next, "400", ""},
		{"bare LF in chunks", post + chunked + "\r\n2\nhi\n0\n\n" + next, "400", ""},
		{"length and coding", post + "Content-Length: 5\r\n" + chunked + "\r\n0\r\n\r\n" + next, "400", ""},
		{"coding and length", post + chunked + "Content-Length: 5\r\n\r\n0\r\n\r\n" + next, "400", ""},
		{"coding in capitals", post + "TRANSFER-ENCODING: CHUNKED\r\n\r\n0\r\n\r\n" + next, "200 200", "POST /a |GET /next "},
		{"coding with a tab before it", post + "Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n" + next, "200 200", "POST /a |GET /next "},
		{"coding with a control", post + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + next, "400", ""},
		{"coding name with a blank", post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + next, "400", ""},
		{"another coding", post + "Transfer-Encoding: gzip\r\n\r\n" + next, "501", ""},
		{"two codings", post + "Transfer-Encoding: chunked, identity\r\n\r\n" + next, "501", ""},
		{"coding in HTTP/1.0", "POST /a HTTP/1.0\r\n" + chunked + "\r\n0\r\n\r\n" + next, "400", ""},
		{"lengths that differ", post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi" + next, "400", ""},
		{"equal lengths", post + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi" + next, "400", ""},
		{"list of lengths", post + "Content-Length: 2, 2\r\n\r\nhi" + next, "400", ""},
		{"length abc", post + "Content-Length: abc\r\n\r\n" + next, "400", ""},
		{"length +2", post + "Content-Length: +2\r\n\r\nhi" + next, "400", ""},
		{"length 2 with a form feed", post + "Content-Length: 2\x0c\r\n\r\nhi" + next, "400", ""},
		{"GET with a body", get + "Content-Length: 2\r\n\r\nhi" + next, "200 200", "GET /a hi|GET /next "},
		{"bare LF", "GET /a HTTP/1.1\nHost: x\n\n" + next, "400", ""},
		{"bare CR", get + "A: b\rContent-Length: 2\r\n\r\nhi" + next, "400", ""},
		{"NUL", get + "A: b\x00\r\n\r\n" + next, "400", ""},
		{"folded", get + "A: b\r\n Content-Length: 2\r\n\r\nhi" + next, "400", ""},
		{"garbage", "GARBAGE\r\n\r\n" + next, "400", ""},
		{"blank line first", "\r\n" + next, "400", ""},
		{"unknown method", "BREW /a HTTP/1.1\r\nHost: x\r\n\r\n" + next, "501", ""},
		{"TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", "400", ""},
		{"absolute form", "GET http://b.example/a HTTP/1.1\r\nHost: x\r\n\r\n" + next, "200 200", "GET http://b.example/a |GET /next "},
		{"absolute form of another scheme", "GET ftp://b.example/a HTTP/1.1\r\nHost: x\r\n\r\n" + next, "400", ""},
		{"no form", "GET a HTTP/1.1\r\nHost: x\r\n\r\n" + next, "400", ""},
		{"star", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n" + next, "200 200", "OPTIONS * |GET /next "},
		{"star for a GET", "GET * HTTP/1.1\r\nHost: x\r\n\r\n" + next, "400", ""},
		{"stray percent", "GET /a%zz?b=%zz HTTP/1.1\r\nHost: x\r\n\r\n" + next, "200 200", "GET /a%zz?b=%zz |GET /next "},
		{"70 KiB of header", get + "A: " + strings.Repeat("b", 70<<10) + "\r\n\r\n" + next, "431", ""},
		{"70 KiB in many lines", get + strings.Repeat("A: b\r\n", 12<<10) + "\r\n" + next, "431", ""},
		{"70 KiB target", "GET /" + strings.Repeat("b", 70<<10) + " HTTP/1.1\r\n\r\n" + next, "431", ""},
		{"just below 64 KiB", get + "A: " + strings.Repeat("b", 65000) + "\r\n\r\n" + next, "200 200", "GET /a |GET /next "},
		{"HTTP/1.0", "GET /a HTTP/1.0\r\n\r\n" + next, "200", "GET /a "},
		{"HTTP/1.0 kept alive", "GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n" + next, "200 200", "GET /a |GET /next "},
		{"close", get + "Connection: close\r\n\r\n" + next, "200", "GET /a "},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, http1.ServerOptions{}, echo, func(t *testing.T, s *served) {
				rs := replies(t, s.talk(tc.raw))
				require.Equal(t, tc.want, statuses(rs))
				var bodies []string
				for i, r := range rs {
					require.Equal(t, i == len(rs)-1 && !strings.Contains(tc.want, "200 200"), r.close, "answer %d", i)
					if r.status == 200 {
						bodies = append(bodies, r.body)
					}
				}
				require.Equal(t, tc.bodies, strings.Join(bodies, "|"))
			})
		})
	}
}
