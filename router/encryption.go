package router

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// encryption is what stands between a listener and the router where there is TLS. It is
// the listener of an HTTP/2 server too, which accepts the connections that chose that.
type encryption struct {
	router *Router
	config *tls.Config
	// old offers no HTTP/2, for clients that are only told that they are too many.
	old   *tls.Config
	http2 http.Server
	conns chan net.Conn

	once   sync.Once
	closed chan struct{}
}

func newEncryption(rt *Router, config *tls.Config) *encryption {
	old := config.Clone()
	old.NextProtos = []string{"http/1.1"}
	return &encryption{
		router: rt, config: config, old: old,
		http2: http.Server{
			Handler:           rt,
			ReadHeaderTimeout: rt.opts.IdleTimeout,
			IdleTimeout:       rt.opts.IdleTimeout,
			MaxHeaderBytes:    http1.MaxHead,
			ErrorLog:          rt.opts.ErrorLog,
		},
		conns:  make(chan net.Conn),
		closed: make(chan struct{}),
	}
}

// admit starts to serve a connection, or refuses it.
func (e *encryption) admit(conn net.Conn) {
	e.router.front.admitAs(conn, func(tooMany bool) *client {
		if tooMany {
			conn.SetDeadline(time.Now().Add(lingerTime)) // of the handshake
			return newClient(e.router, tls.Server(conn, e.old))
		}
		watched := &watchedConn{Conn: conn, closed: make(chan struct{})}
		encrypted := tls.Server(watched, e.config)
		c := newClient(e.router, encrypted)
		c.open = func() bool { return e.open(c, encrypted, watched.closed) }
		return c
	})
}

// open shakes hands, and reports whether the client speaks HTTP/1.1. If it speaks
// HTTP/2 its connection has come to its end when open returns.
func (e *encryption) open(c *client, conn *tls.Conn, closed <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(e.router.front.base, e.router.opts.IdleTimeout)
	defer cancel()
	if conn.HandshakeContext(ctx) != nil {
		return false
	}
	if conn.ConnectionState().NegotiatedProtocol != "h2" {
		return true
	}
	c.setBusy() // the HTTP/2 server knows when it is idle
	select {
	case e.conns <- conn:
		<-closed
	case <-e.closed:
	}
	return false
}

// serve serves the connections that speak HTTP/2.
func (e *encryption) serve() { _ = e.http2.Serve(e) }

// endWithRouter waits for the router's Shutdown, and for the requests that run then,
// unless they are cut off.
func (e *encryption) endWithRouter() {
	<-e.router.stopping
	_ = e.http2.Shutdown(e.router.front.base)
}

// Accept returns the next connection that speaks HTTP/2.
func (e *encryption) Accept() (net.Conn, error) {
	select {
	case conn := <-e.conns:
		return conn, nil
	case <-e.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the accepting.
func (e *encryption) Close() error {
	e.once.Do(func() { close(e.closed) })
	return nil
}

// Addr returns no address: connections come from other listeners.
func (e *encryption) Addr() net.Addr { return &net.TCPAddr{} }

// watchedConn tells when it is closed.
type watchedConn struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (c *watchedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
