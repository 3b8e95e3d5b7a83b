package http1

import (
	"net"
	"net/http"
	"time"
)

// admit starts to serve a connection, or refuses it.
func (s *Server) admit(conn net.Conn) {
	c := newServerConn(s, conn)
	if !s.start(c) {
		// A connection that has just come has room for the answer.
		c.refuse(http.StatusServiceUnavailable, tooMany)
		conn.Close()
	}
}

const tooMany = "too many connections"

// start reports whether the connection is served, or turned away in its own
// time.
func (s *Server) start(c *serverConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	run := c.serve
	switch {
	case s.closing:
		return false
	case s.countLocked(c):
	case s.lingering < maxLingering:
		s.lingering++
		run = func() { s.turnAway(c) }
	default:
		return false
	}
	s.conns[c] = struct{}{}
	s.running.Add(1)
	go run()
	return true
}

// countLocked counts a connection unless there are too many.
func (s *Server) countLocked(c *serverConn) bool {
	if s.opts.MaxConnections > 0 && s.counted >= s.opts.MaxConnections {
		return false
	}
	s.counted++
	c.counted = true
	return true
}

// turnAway answers a connection that is one too many, unless another ends within
// a moment.
func (s *Server) turnAway(c *serverConn) {
	if s.awaitPlace(c) {
		c.serve()
		return
	}
	c.refuse(http.StatusServiceUnavailable, tooMany)
	c.linger()
	s.mu.Lock()
	s.lingering--
	s.mu.Unlock()
	c.end()
}

// awaitPlace reports whether the connection has come to be counted.
func (s *Server) awaitPlace(c *serverConn) bool {
	timer := time.NewTimer(leavingTime)
	defer timer.Stop()
	for {
		select {
		case <-s.left:
			if s.takePlace(c) {
				return true
			}
		case <-timer.C:
			return s.takePlace(c)
		case <-s.stop:
			return false
		}
	}
}

func (s *Server) takePlace(c *serverConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing || !s.countLocked(c) {
		return false
	}
	s.lingering--
	return true
}

// uncount takes a connection out of the count.
func (s *Server) uncount(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uncountLocked(c)
}

func (s *Server) uncountLocked(c *serverConn) {
	if !c.counted {
		return
	}
	c.counted = false
	s.counted--
	select {
	case s.left <- struct{}{}:
	default:
	}
}

// forget lets go of a connection: nobody waits for it any more.
func (s *Server) forget(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.conns[c]; ok {
		s.uncountLocked(c)
		delete(s.conns, c)
		s.running.Done()
	}
}
