package main

import (
	"context"
	"maps"
	"net"
	"net/http"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/http1"
)

// maxRefused bounds the connections past the limit that are kept until they have
// been told; more are closed at once.
const maxRefused = 64

// tlsServer is the server of net/http with the limits of our own. A connection too
// many is let in to be told, as what it can be told comes behind its handshake.
type tlsServer struct {
	http          http.Server
	max           int         // connections; 0 is no limit
	refusalHeader http.Header // of the answers that do not come from the handler

	mu      sync.Mutex // guards the fields below, and those of connections
	open    int        // connections that are counted: served, and without a stream
	refused int        // those that are too many
}

func (s *tlsServer) Serve(l net.Listener) error {
	return s.http.ServeTLS(&countingListener{l, s}, "", "")
}

func (s *tlsServer) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }
func (s *tlsServer) Close() error                       { return s.http.Close() }

func (s *tlsServer) ConnCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

func (s *tlsServer) fullLocked() bool { return s.max > 0 && s.open >= s.max }

// admit refuses the requests of connections that are too many, and those with too
// large a head.
func (s *tlsServer) admit(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(connKey{}).(*countedConn)
		switch {
		case !c.hasPlace():
			w.Header().Set("Connection", "close")
			s.refuse(w, r, http.StatusServiceUnavailable, "too many connections")
		case headSize(r) > http1.MaxHead:
			s.refuse(w, r, http.StatusRequestHeaderFieldsTooLarge, "header block over 64 KiB")
		default:
			a := answer{ResponseWriter: w, conn: c}
			defer a.end()
			h.ServeHTTP(&a, r)
		}
	})
}

// refuse answers a request as our own server does.
func (s *tlsServer) refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	maps.Copy(w.Header(), s.refusalHeader)
	if serve.Begin(w, r) {
		serve.Fail(status, text).Write(w, r)
	}
}

// headSize returns how long the head of a request is in HTTP/1.1, in bytes.
func headSize(r *http.Request) int {
	n := len("  HTTP/1.1\r\n\r\n") + len(r.Method) + len(r.RequestURI) + len("Host: \r\n") + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(": \r\n") + len(v)
		}
	}
	return n
}

// answer is an http.ResponseWriter whose connection can be told that it is a
// stream's.
type answer struct {
	http.ResponseWriter
	conn     *countedConn
	detached bool
}

// Unwrap lets an http.ResponseController find what the answer can do besides.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Detach takes the connection out of the count until the answer ends.
func (a *answer) Detach() {
	if !a.detached {
		a.detached = true
		a.conn.stream(1)
	}
}

func (a *answer) end() {
	if a.detached {
		a.conn.stream(-1)
	}
}
