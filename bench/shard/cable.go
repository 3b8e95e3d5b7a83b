package main

import (
	"io"
	"net"
	"sync"
)

// cable is a way to a node that can be cut: nothing comes through from then on, and
// connections stay as they are.
type cable struct {
	listener net.Listener
	to       string
	gone     chan struct{} // closed once the cable is taken away

	mu    sync.Mutex // guards the fields below
	whole chan struct{}
	conns map[net.Conn]struct{}
}

// open is a channel that is closed: nobody waits for it.
func open() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func newCable(to string) (*cable, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &cable{listener: l, to: to, gone: make(chan struct{}), whole: open(), conns: map[net.Conn]struct{}{}}
	go c.accept()
	return c, nil
}

func (c *cable) addr() string { return c.listener.Addr().String() }

// cut stops all that is under way.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whole = make(chan struct{})
}

// mend lets it go on.
func (c *cable) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.whole)
}

func (c *cable) close() {
	_ = c.listener.Close()
	close(c.gone)
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		_ = conn.Close()
	}
}

func (c *cable) accept() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return
		}
		go c.join(conn)
	}
}

func (c *cable) join(near net.Conn) {
	defer c.keep(near)()
	if !c.passes() {
		return
	}
	far, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer c.keep(far)()
	var back sync.WaitGroup
	back.Go(func() { c.pass(near, far) })
	c.pass(far, near)
	back.Wait()
}

// keep has the connection end with the cable.
func (c *cable) keep(conn net.Conn) (forget func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns[conn] = struct{}{}
	return func() {
		_ = conn.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.conns, conn)
	}
}

// passes waits while the cable is cut, and reports whether it is still there then.
func (c *cable) passes() bool {
	c.mu.Lock()
	whole := c.whole
	c.mu.Unlock()
	select {
	case <-whole:
		return true
	case <-c.gone:
		return false
	}
}

// pass passes on what comes, until it ends.
func (c *cable) pass(to, from net.Conn) {
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if !c.passes() {
			return
		}
		if n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			if err == io.EOF {
				_ = to.(*net.TCPConn).CloseWrite()
			}
			return
		}
	}
}
