package http1_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// What the server answers by itself is a JSON error under an id, with the headers
// that it is told to add.
func TestServerRefusals(t *testing.T) {
	opts := http1.ServerOptions{
		MaxConnections: 1,
		IdleTimeout:    time.Second,
		RefusalHeader:  http.Header{"Access-Control-Allow-Origin": {"*"}, "Vary": {"Origin", "A\r\nB: c"}, "Content-Length": {"7"}},
	}
	for name, raw := range map[string]string{
		"400 malformed request line":                                "GARBAGE\r\n\r\n",
		"408 the header did not come in time":                       "GET / HT",
		"431 header block over 64 KiB":                              "GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("b", 70<<10),
		"500 something went wrong; the server's log says what":      "GET /panic HTTP/1.1\r\nHost: x\r\n\r\n",
		"501 unknown method":                                        "BREW / HTTP/1.1\r\nHost: x\r\n\r\n",
		"503 too many connections":                                  "",
		"400 both Content-Length and Transfer-Encoding":             "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"501 unsupported transfer coding":                           "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
		"400 malformed request target":                              "GET ftp://x HTTP/1.1\r\nHost: x\r\n\r\n",
		"400 a line must end with CR LF and hold neither elsewhere": "GET / HTTP/1.1\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, opts, func(w http.ResponseWriter, r *http.Request) { panic("oh") }, func(t *testing.T, s *served) {
				conn := s.pipes.dial()
				if raw == "" {
					defer conn.Close()
					synctest.Wait()
					conn = s.pipes.dial()
				}
				go io.WriteString(conn, raw)
				r := replies(t, readAll(conn))[0]
				status, text, _ := strings.Cut(name, " ")
				require.Equal(t, status, statuses([]reply{r}))
				require.Contains(t, r.body, `{"error":"`+text+`"`)
				require.Equal(t, "application/json; charset=utf-8", r.header.Get("Content-Type"))
				require.Regexp(t, `^[0-9a-f]{16}$`, r.header.Get("X-Request-Id"))
				require.Equal(t, "nosniff", r.header.Get("X-Content-Type-Options"))
				require.Equal(t, "*", r.header.Get("Access-Control-Allow-Origin"))
				require.Equal(t, []string{"Origin", "A  B: c"}, r.header["Vary"])
				require.True(t, r.close)
			})
		})
	}
}
