package router

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// endlessConn is a connection on which the same bytes come again and again, a message
// with each read, and on which everything can be written.
type endlessConn struct{ message []byte }

func (c *endlessConn) Read(p []byte) (int, error)       { return copy(p, c.message), nil }
func (c *endlessConn) Write(p []byte) (int, error)      { return len(p), nil }
func (c *endlessConn) Close() error                     { return nil }
func (c *endlessConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *endlessConn) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (c *endlessConn) SetDeadline(time.Time) error      { return nil }
func (c *endlessConn) SetReadDeadline(time.Time) error  { return nil }
func (c *endlessConn) SetWriteDeadline(time.Time) error { return nil }

// BenchmarkForward is what the router does for a small request and its answer, without
// the system calls.
func BenchmarkForward(b *testing.B) {
	rt, err := New(Options{})
	require.NoError(b, err)
	defer rt.Shutdown(context.Background())
	n := Node{Name: "n1", Addr: "127.0.0.1:1", Token: NewToken("admin")}
	require.NoError(b, rt.Directory().PutNode(n))
	require.NoError(b, rt.Directory().Place("acme", n))
	p := rt.forwarder.peer(n.Addr)
	p.give(newUpstream(&endlessConn{[]byte("HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: 67\r\n" +
		"Fenec-Seq: 17\r\nX-Request-Id: 0123456789abcdef\r\nX-Content-Type-Options: nosniff\r\nConnection: keep-alive\r\n\r\n" +
		`[{"id":1,"title":"the quick brown fox jumps over the lazy dog.."}]` + "\n")}, p, time.Minute))
	c := newClient(rt, &endlessConn{[]byte("GET /t/acme/docs?limit=1&select=title HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer abc\r\n\r\n")})
	b.ReportAllocs()
	for b.Loop() {
		if !c.next() {
			b.Fatal("the connection has ended")
		}
	}
}
