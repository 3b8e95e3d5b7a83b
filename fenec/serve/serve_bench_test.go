package serve_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/http1"
)

// nowhere is an http.ResponseWriter that keeps the status alone, so that what is
// measured is the handler.
type nowhere struct {
	header http.Header
	status int
}

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) WriteHeader(status int)      { w.status = status }
func (w *nowhere) Write(p []byte) (int, error) { return len(p), nil }

// arrived is a body all of which is there.
type arrived struct{ *strings.Reader }

func (b *arrived) Buffered() int64 { return int64(b.Len()) }
func (b *arrived) Close() error    { return nil }

// asked is a request that comes again and again.
type asked struct {
	method, target, body string
	keyed                bool // each time under an idempotency key of its own
}

func benchRequests() map[string]asked {
	note := `{"k":1,"owner":"ada","body":"` + strings.Repeat("lorem ipsum ", 16) + `"}`
	return map[string]asked{
		"get/rest":     {method: "GET", target: "/docs?id=7"},
		"get/query":    {method: "POST", target: "/query", body: `{"query":"get docs where id = $1","params":[7]}`},
		"filter/rest":  {method: "GET", target: "/docs?k=7&limit=10"},
		"filter/query": {method: "POST", target: "/query", body: `{"query":"get docs where k = $1 limit 10","params":[7]}`},
		"put/rest":     {method: "POST", target: "/notes", body: note},
		"put/query":    {method: "POST", target: "/query", body: `{"query":"put notes $1","params":[` + note + `]}`},
		"keyed/rest":   {method: "POST", target: "/notes", body: note, keyed: true},
	}
}

// benchDB returns a database in memory with the documents that are asked for.
func benchDB(b *testing.B) *fenec.DB {
	db, err := fenec.OpenMemory(fenec.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, db.Close()) })
	for _, name := range []string{"docs", "notes"} {
		_, err := db.Query(b.Context(), "create collection "+name+" (k int @hash, owner text, body text)")
		require.NoError(b, err)
	}
	body := strings.Repeat("lorem ipsum ", 16)
	for i := range 2000 {
		_, err := db.Query(b.Context(), "put docs {k: $1, owner: 'ada', body: $2}", i%100, body)
		require.NoError(b, err)
	}
	return db
}

func BenchmarkHandler(b *testing.B) {
	for name, q := range benchRequests() {
		b.Run("request="+name, func(b *testing.B) {
			h := serve.New(serve.Options{}).Handler(benchDB(b))
			to, err := url.ParseRequestURI(q.target)
			require.NoError(b, err)
			w := &nowhere{header: http.Header{}}
			body := &arrived{strings.NewReader(q.body)}
			r := &http.Request{
				Method: q.method, URL: to, RequestURI: q.target, Header: http.Header{},
				Body: body, ContentLength: int64(len(q.body)),
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				clear(w.header)
				body.Reset(q.body)
				if q.keyed {
					r.Header["Idempotency-Key"] = []string{strconv.Itoa(i)}
				}
				h.ServeHTTP(w, r)
				if w.status >= 300 {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// BenchmarkServed asks through the server that fenec-server has, beside an answer
// of the same size that is no database's.
func BenchmarkServed(b *testing.B) {
	for name, q := range benchRequests() {
		if q.keyed {
			continue
		}
		h := serve.New(serve.Options{Token: serve.NewSecret("t")}).Handler(benchDB(b))
		b.Run("request="+name+"/of=database", func(b *testing.B) { benchServed(b, h, q) })
		b.Run("request="+name+"/of=constant", func(b *testing.B) { benchServed(b, constantly(b, h, q), q) })
	}
}

// constantly returns a handler that answers always as h answers q once.
func constantly(b *testing.B, h http.Handler, q asked) http.Handler {
	var kept recorder
	r, err := http.NewRequestWithContext(b.Context(), q.method, q.target, strings.NewReader(q.body))
	require.NoError(b, err)
	r.Header.Set("Authorization", "Bearer t")
	kept.header = http.Header{}
	h.ServeHTTP(&kept, r)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			b.Error(err)
		}
		for name, values := range kept.header {
			w.Header()[name] = values
		}
		w.WriteHeader(kept.status)
		_, _ = w.Write(kept.body)
	})
}

// recorder keeps an answer.
type recorder struct {
	nowhere
	body []byte
}

func (r *recorder) Write(p []byte) (int, error) {
	r.body = append(r.body, p...)
	return len(p), nil
}

func benchServed(b *testing.B, h http.Handler, q asked) {
	conn := dial(b, h)
	ask := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\nContent-Length: %d\r\n\r\n%s", q.method, q.target, len(q.body), q.body)
	if q.body == "" {
		ask = fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\n\r\n", q.method, q.target)
	}
	in := make([]byte, 64<<10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conn.Write(ask); err != nil {
			b.Fatal(err)
		}
		// The server sends an answer of this size by one write.
		n, err := conn.Read(in)
		if err != nil || !bytes.HasPrefix(in[:n], []byte("HTTP/1.1 20")) {
			b.Fatalf("%v: %s", err, in[:n])
		}
	}
}

// dial starts the server and returns a connection to it.
func dial(b *testing.B, h http.Handler) net.Conn {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	s := http1.NewServer(h, http1.ServerOptions{IdleTimeout: time.Minute})
	go s.Serve(l)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(b, err)
	b.Cleanup(func() { conn.Close() })
	return conn
}
