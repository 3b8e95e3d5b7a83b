package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/serve"
)

// maxRefused bounds the connections past the limit that are kept until they have
// been told; more are closed at once.
const maxRefused = 64

// tlsServer is the server of net/http with a limit on connections. One too many
// is let in to be told, as what it can be told comes behind its handshake.
type tlsServer struct {
	http http.Server
	max  int // 0 is no limit
	// open counts the connections that are served, refused the others.
	open, refused atomic.Int64
}

func (s *tlsServer) Serve(l net.Listener) error {
	return s.http.ServeTLS(&countingListener{l, s}, "", "")
}

func (s *tlsServer) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }
func (s *tlsServer) Close() error                       { return s.http.Close() }
func (s *tlsServer) ConnCount() int                     { return int(s.open.Load()) }

// countingListener counts the connections of its server.
type countingListener struct {
	net.Listener
	server *tlsServer
}

func (l *countingListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		s := l.server
		if n := s.open.Add(1); s.max == 0 || n <= int64(s.max) {
			return &countedConn{Conn: conn, in: &s.open}, nil
		}
		s.open.Add(-1)
		if s.refused.Add(1) <= maxRefused {
			return &countedConn{Conn: conn, in: &s.refused, tooMany: true}, nil
		}
		s.refused.Add(-1)
		conn.Close()
	}
}

// countedConn leaves its count when it is closed.
type countedConn struct {
	net.Conn
	in      *atomic.Int64
	tooMany bool
	left    sync.Once
}

func (c *countedConn) Close() error {
	c.left.Do(func() { c.in.Add(-1) })
	return c.Conn.Close()
}

// tooManyKey is the key of a request's context for whether its connection is one
// too many.
type tooManyKey struct{}

func noteConn(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		if c, ok := encrypted.NetConn().(*countedConn); ok && c.tooMany {
			return context.WithValue(ctx, tooManyKey{}, true)
		}
	}
	return ctx
}

// admit refuses the requests of connections that are too many.
func (s *tlsServer) admit(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(tooManyKey{}) != nil {
			w.Header().Set("Connection", "close")
			if serve.Begin(w, r) {
				serve.Fail(http.StatusServiceUnavailable, "too many connections").Write(w, r)
			}
			return
		}
		h.ServeHTTP(w, r)
	})
}
