package http1_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// overTCP serves h on a port until the test ends.
func overTCP(t testing.TB, opts http1.ServerOptions, h http.HandlerFunc) (s *http1.Server, addr string) {
	opts.ErrorLog = log.New(io.Discard, "", 0)
	s = http1.NewServer(h, opts)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		require.NoError(t, s.Close())
		require.ErrorIs(t, <-ended, http.ErrServerClosed)
	})
	return s, l.Addr().String()
}

func dial(t testing.TB, addr string) *net.TCPConn {
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	return conn.(*net.TCPConn)
}

// descriptors returns how many descriptors the process has open, or 0 where that
// cannot be told.
func descriptors() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}

// Connections are opened and dropped at every stage of a request; a handler that
// panics and one that hijacks are among them.
func TestNothingLeaks(t *testing.T) {
	rounds := 3_000
	if os.Getenv("FENEC_LONG") != "" {
		rounds = 100_000
	}
	var calls atomic.Int64
	s, addr := overTCP(t, http1.ServerOptions{MaxConnections: 50}, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		r.Context().Done()
		switch r.URL.Path {
		case "/panic":
			panic("oh")
		case "/hijack":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				conn.Close()
			}
		default:
			echo(w, r)
		}
	})
	sent := []string{
		"", "GET", get, get + get, get + "GET /x", "GARBAGE\r\n\r\n", "GET /panic HTTP/1.1\r\nHost: x\r\n\r\n", "GET /hijack HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
		"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n",
	}
	goroutines, fds := runtime.NumGoroutine(), descriptors()
	for i := range rounds {
		conn := dial(t, addr)
		// A reset leaves no port behind that cannot be used again.
		conn.SetLinger(0)
		io.WriteString(conn, sent[i%len(sent)])
		if i%3 == 0 {
			conn.CloseWrite()
			io.Copy(io.Discard, conn)
		}
		conn.Close()
	}
	require.Greater(t, calls.Load(), int64(rounds/20))
	settle(t, func() bool { return s.ConnCount() == 0 && runtime.NumGoroutine() <= goroutines && descriptors() <= fds })
}

// settle waits until what was done elsewhere has shown.
func settle(t testing.TB, done func() bool) {
	for range 1_000_000 {
		if done() {
			return
		}
		runtime.Gosched()
		runtime.GC()
	}
	require.Fail(t, "not settled", "%d goroutines, %d descriptors", runtime.NumGoroutine(), descriptors())
}

// An idle connection that has been used holds its buffer and little else.
func TestIdleConnectionsAreSmall(t *testing.T) {
	const n, most = 400, 8 << 10
	s, addr := overTCP(t, http1.ServerOptions{}, func(w http.ResponseWriter, r *http.Request) {
		r.Context().Done()
		w.Write(make([]byte, 20_000))
	})
	conns := make([]*net.TCPConn, n)
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // the second empties the pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for i := range conns {
		conns[i] = dial(t, addr)
		defer conns[i].Close()
	}
	settle(t, func() bool { return s.ConnCount() == n })
	before, buf := heap(), make([]byte, 64<<10)
	for _, c := range conns {
		io.WriteString(c, get)
		for got := 0; got < 20_000; {
			m, err := c.Read(buf)
			require.NoError(t, err)
			got += m
		}
	}
	after := heap()
	t.Logf("an idle connection holds %d bytes more than a new one", (after-before)/n)
	require.Less(t, (after-before)/n, int64(1<<10))

	for _, c := range conns {
		c.Close()
	}
	settle(t, func() bool { return s.ConnCount() == 0 })
	each := (after - heap()) / n
	t.Logf("an idle connection holds %d bytes, the client's side among them", each)
	require.Less(t, each, int64(most))
}

// The first client goes on, and once it has closed, another is let in at once.
func TestMaxConnectionsOverTCP(t *testing.T) {
	_, addr := overTCP(t, http1.ServerOptions{MaxConnections: 1}, echo)
	ask := func(c net.Conn) string {
		io.WriteString(c, get)
		b := make([]byte, 1024)
		n, _ := c.Read(b)
		return string(b[:n])
	}
	first := dial(t, addr)
	require.Contains(t, ask(first), "200 OK")
	for range 5 {
		second := dial(t, addr)
		require.Contains(t, ask(second), "503 Service Unavailable")
		second.Close()
		require.Contains(t, ask(first), "200 OK")
	}
	for range 50 {
		first.Close()
		first = dial(t, addr)
		require.Contains(t, ask(first), "200 OK")
	}
	first.Close()
}
