package serve_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
)

// embedded runs a test against the surface as a program mounts it in a server of
// net/http with TLS, over each version of HTTP.
func embedded(t *testing.T, opts serve.Options, fixture []string, test func(t *testing.T, c *client, asks *http.Client)) {
	for _, http2 := range []bool{true, false} {
		t.Run("HTTP/2="+strconv.FormatBool(http2), func(t *testing.T) {
			db, err := fenec.OpenMemory(fenec.Options{FeedBytes: 1 << 20})
			require.NoError(t, err)
			c := startOn(t, opts, db, fixture...)
			srv := httptest.NewUnstartedServer(c.server.Handler(db))
			srv.EnableHTTP2 = http2
			srv.StartTLS()
			t.Cleanup(func() {
				require.NoError(t, c.server.Close())
				srv.Close() // waits for the requests
			})
			c.url = srv.URL
			res, err := srv.Client().Get(c.url + "/_health")
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http2, res.ProtoMajor == 2)
			test(t, c, srv.Client())
		})
	}
}

// begin sends a request that goes on until the test or cancel ends it.
func (c *client) begin(asks *http.Client, method, path string, body io.Reader, headers ...string) (res *http.Response, cancel func(), err error) {
	ctx, cancel := context.WithCancel(c.t.Context())
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	require.NoError(c.t, err)
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	res, err = asks.Do(req)
	return res, cancel, err
}

// In HTTP/2 any number of subscriptions and requests share a connection, and it goes
// on behind them.
func TestEmbeddedStreams(t *testing.T) {
	embedded(t, serve.Options{KeepAlive: 20 * time.Millisecond}, tasks, func(t *testing.T, c *client, asks *http.Client) {
		var reused []bool
		traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GotConn: func(info httptrace.GotConnInfo) { reused = append(reused, info.Reused) },
		})
		var streams []*stream
		for range 5 {
			res, cancel, err := c.begin(asks, "GET", "/tasks/changes", nil)
			require.NoError(t, err)
			defer cancel()
			s := &stream{t, res, make(chan string, 1000)}
			go s.read()
			s.want(`seed {"seq":3,"rows":[` + k1 + `,` + k2 + `]}`)
			s.want(": keepalive")
			streams = append(streams, s)
			req, err := http.NewRequestWithContext(traced, "GET", c.url+"/tasks?count", nil)
			require.NoError(t, err)
			got, err := asks.Do(req)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, got.Body)
			require.NoError(t, err)
			require.NoError(t, got.Body.Close())
			if got.ProtoMajor == 2 {
				require.True(t, reused[len(reused)-1], "the stream has taken the connection for itself")
			}
		}
		_, err := c.db.Query(t.Context(), `put tasks {key: "k3"}`)
		require.NoError(t, err)
		for _, s := range streams {
			for ev := ": keepalive"; strings.HasPrefix(ev, ":"); {
				if ev = s.next(); !strings.HasPrefix(ev, ":") {
					require.Contains(t, ev, `change {"seq":4,"puts":[{"id":3`)
				}
			}
		}
		require.NoError(t, c.server.Close())
		for _, s := range streams {
			for ev := ":"; ev != ""; ev = s.next() {
				require.True(t, strings.HasPrefix(ev, ":"), ev)
			}
		}
	})
}

// A request that is held is none that is silent: its body came long ago.
func TestEmbeddedWaits(t *testing.T) {
	opts := serve.Options{IdleTimeout: 20 * time.Millisecond}
	embedded(t, opts, tasks, func(t *testing.T, c *client, asks *http.Client) {
		body := `{"query":` + quote(take) + `}`
		ask := func(method, path, body string, headers ...string) reply {
			res, cancel, err := c.begin(asks, method, path, strings.NewReader(body), headers...)
			require.NoError(t, err)
			defer cancel()
			b, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			return reply{res.StatusCode, string(b), res.Header}
		}
		began := time.Now()
		require.Equal(t, "[]", ask("POST", "/query", body, "Fenec-Wait: 200").body)
		require.GreaterOrEqual(t, time.Since(began), 200*time.Millisecond)
		require.Equal(t, 504, ask("POST", "/query", body, "Fenec-After: 99", "Fenec-Wait: 100").status)
		require.Equal(t, "3", ask("GET", "/_changes?wait=100", "").header.Get("Fenec-Next"))

		// A client that goes away passes its turn on.
		gone := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			req, err := http.NewRequestWithContext(ctx, "POST", c.url+"/query", strings.NewReader(body))
			if err == nil {
				req.Header.Set("Fenec-Wait", "30000")
				_, err = asks.Do(req)
			}
			gone <- err
		}()
		later := make(chan reply, 1)
		go func() { later <- ask("POST", "/query", body, "Fenec-Wait: 30000") }()
		cancel()
		require.ErrorIs(t, <-gone, context.Canceled)
		_, err := c.db.Query(t.Context(), `put tasks {key: "k3", state: "ready"}`)
		require.NoError(t, err)
		require.Equal(t, `[{"id":3}]`, (<-later).body)

		silent, end := io.Pipe()
		defer end.Close()
		res, cancel2, err := c.begin(asks, "POST", "/query", silent)
		require.NoError(t, err)
		defer cancel2()
		require.Equal(t, 408, res.StatusCode)
	})
}

// What fails behind its head is cut off.
func TestEmbeddedLongAnswersThatFail(t *testing.T) {
	embedded(t, serve.Options{}, nil, func(t *testing.T, c *client, asks *http.Client) {
		wide(t, c, 3000)
		for query, fails := range map[string]bool{"get wide": false, "get wide where 1 / (2500 - n) < 5": true} {
			res, cancel, err := c.begin(asks, "POST", "/query", strings.NewReader(`{"query":`+quote(query)+`}`))
			require.NoError(t, err)
			defer cancel()
			body, err := io.ReadAll(res.Body)
			require.Equal(t, fails, err != nil, "%v", err)
			require.Greater(t, len(body), 1<<20)
		}
	})
}

// timedWriter notes the deadlines that are set.
type timedWriter struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
	late      int    // writes without one
	written   func() // called with each write
}

func (w *timedWriter) SetWriteDeadline(t time.Time) error {
	w.deadlines = append(w.deadlines, t)
	return nil
}

func (w *timedWriter) Write(b []byte) (int, error) {
	if n := len(w.deadlines); n == 0 || w.deadlines[n-1].IsZero() {
		w.late++
	}
	w.written()
	return w.ResponseRecorder.Write(b)
}

// No deadline outlives what it is for: in HTTP/2 one that passes ends the answer, be
// it that nothing is written at the time.
func TestDeadlinesAreLifted(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	wide(t, c, 3000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, r := range map[string]*http.Request{
		"long":       httptest.NewRequest("GET", "/wide", nil),
		"compressed": httptest.NewRequest("GET", "/wide", nil),
		"complete":   httptest.NewRequest("POST", "/batch", strings.NewReader(`{"query":"get wide"}`)),
		"stream":     httptest.NewRequestWithContext(ctx, "GET", "/tasks/changes", nil),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "compressed" {
				r.Header.Set("Accept-Encoding", "zstd")
			}
			w := &timedWriter{ResponseRecorder: httptest.NewRecorder(), written: func() {}}
			if name == "stream" {
				w.written = cancel // it ends behind its seed
			}
			c.server.Handler(c.db).ServeHTTP(w, r)
			require.Equal(t, 200, w.Code, w.Body)
			require.Zero(t, w.late)
			require.NotEmpty(t, w.deadlines)
			require.True(t, w.deadlines[len(w.deadlines)-1].IsZero())
		})
	}
}
