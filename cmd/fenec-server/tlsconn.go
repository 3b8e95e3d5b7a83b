package main

import (
	"context"
	"crypto/tls"
	"net"
)

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
		c := &countedConn{Conn: conn, server: l.server}
		if c.enter() {
			return c, nil
		}
		conn.Close()
	}
}

// countedConn is a connection that is counted: one too many among those, another
// among the open ones for as long as it carries no stream.
type countedConn struct {
	net.Conn
	server *tlsServer

	// The fields below are guarded by tlsServer.mu.
	tooMany bool
	streams int
	closed  bool
}

// enter counts a new connection, and returns false if there is no telling it that it
// is too many.
func (c *countedConn) enter() bool {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c.tooMany = s.fullLocked()
	if c.tooMany && s.refused >= maxRefused {
		return false
	}
	*c.countLocked()++
	return true
}

// hasPlace reports whether the connection is served: one too many is, if another has
// left until its first request has come.
func (c *countedConn) hasPlace() bool {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.tooMany && !c.closed && !s.fullLocked() {
		s.refused--
		s.open++
		c.tooMany = false
	}
	return !c.tooMany
}

// countLocked returns what the connection is counted by.
func (c *countedConn) countLocked() *int {
	if c.tooMany {
		return &c.server.refused
	}
	return &c.server.open
}

// stream notes that a stream begins, or ends.
func (c *countedConn) stream(change int) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	before := c.streams
	if c.streams += change; !c.closed && (before == 0 || c.streams == 0) {
		*c.countLocked() -= change
	}
}

// Close takes the connection out of its count.
func (c *countedConn) Close() error {
	c.server.mu.Lock()
	if !c.closed && c.streams == 0 {
		*c.countLocked()--
	}
	c.closed = true
	c.server.mu.Unlock()
	return c.Conn.Close()
}

// connKey is the key of a request's context for its connection.
type connKey struct{}

func noteConn(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		return context.WithValue(ctx, connKey{}, encrypted.NetConn())
	}
	return ctx
}
