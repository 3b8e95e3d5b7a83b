package http1_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// BenchmarkServer asks for a constant over one kept-alive connection, and the
// same of net/http.
func BenchmarkServer(b *testing.B) {
	body := []byte(`[{"id":1,"title":"A constant answer of seventy-two bytes","n":12345678}]`)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = []string{"application/json; charset=utf-8"}
		w.Header()["X-Request-Id"] = []string{"0123456789abcdef"}
		w.Write(body)
	})
	for _, s := range []struct {
		name  string
		serve func(net.Listener) (io.Closer, func() error)
	}{
		{"http1", func(l net.Listener) (io.Closer, func() error) {
			srv := http1.NewServer(h, http1.ServerOptions{MaxConnections: 100, IdleTimeout: 60e9})
			return srv, func() error { return srv.Serve(l) }
		}},
		{"nethttp", func(l net.Listener) (io.Closer, func() error) {
			srv := &http.Server{Handler: h, IdleTimeout: 60e9}
			return srv, func() error { return srv.Serve(l) }
		}},
	} {
		for _, m := range []struct{ name, request string }{
			{"get", "GET /books/1 HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: fenec-bench\r\nAccept: */*\r\n\r\n"},
			{"post", "POST /query HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: fenec-bench\r\nContent-Type: application/json\r\nContent-Length: 64\r\n\r\n" + strings.Repeat("x", 64)},
		} {
			b.Run("server="+s.name+"/request="+m.name, func(b *testing.B) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				require.NoError(b, err)
				closer, serve := s.serve(l)
				go serve()
				defer closer.Close()
				conn, err := net.Dial("tcp", l.Addr().String())
				require.NoError(b, err)
				defer conn.Close()
				ask := asker(b, conn, m.request)
				ask()
				b.ReportAllocs()
				for b.Loop() {
					ask()
				}
			})
		}
	}
}

// asker returns a function that sends a request and reads an answer as long as
// the first one, without allocations.
func asker(b *testing.B, conn net.Conn, request string) func() {
	send := []byte(request)
	_, err := conn.Write(send)
	require.NoError(b, err)
	r := bufio.NewReader(conn)
	res, err := http.ReadResponse(r, nil)
	require.NoError(b, err)
	n, err := io.Copy(io.Discard, res.Body)
	require.NoError(b, err)
	require.Equal(b, res.ContentLength, n)
	size := -1
	buf := make([]byte, 4<<10)
	return func() {
		conn.Write(send)
		got, err := conn.Read(buf)
		if err != nil || size >= 0 && got != size {
			b.Fatal(got, err)
		}
		size = got
	}
}
