//go:build unix

package main

import (
	"bytes"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who asks through a link.
const (
	fromRouter = iota
	fromNodes
)

// What has become of a link.
const (
	whole  = iota
	held   // what is under way waits, and arrives late
	broken // connections end, and new ones too
)

// link is how the others reach a node: a proxy that can be cut for the router and for nodes
// apart.
type link struct {
	addr string

	mu      sync.Mutex // guards the fields below
	to      string
	state   [2]int
	changed chan struct{} // closed when the state changes
	conns   map[net.Conn]int
}

func newLink(t *testing.T) *link {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &link{addr: ln.Addr().String(), changed: make(chan struct{}), conns: map[net.Conn]int{}}
	t.Cleanup(func() {
		ln.Close()
		l.set(fromRouter, broken)
		l.set(fromNodes, broken)
	})
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go l.serve(conn.(*net.TCPConn))
		}
	}()
	return l
}

// leadTo says where the node listens.
func (l *link) leadTo(addr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = addr
}

func (l *link) set(from, state int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state[from] = state
	close(l.changed)
	l.changed = make(chan struct{})
	if state != broken {
		return
	}
	for conn, who := range l.conns {
		if who == from {
			conn.Close()
		}
	}
}

// passes waits while the link is held, and reports whether it is not broken.
func (l *link) passes(from int) bool {
	for {
		l.mu.Lock()
		state, changed := l.state[from], l.changed
		l.mu.Unlock()
		if state != held {
			return state == whole
		}
		<-changed
	}
}

// keep has the connection end when the link breaks.
func (l *link) keep(conn net.Conn, from int) (forget func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[conn] = from
	return func() {
		conn.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, conn)
	}
}

// serve joins a connection to one to the node. Its first bytes tell who asks: only nodes ask
// for replication.
func (l *link) serve(near *net.TCPConn) {
	first := make([]byte, 4096)
	n, err := near.Read(first)
	if err != nil {
		near.Close()
		return
	}
	from := fromRouter
	if bytes.Contains(first[:n], []byte("/_replication")) {
		from = fromNodes
	}
	defer l.keep(near, from)()
	if !l.passes(from) {
		return
	}
	l.mu.Lock()
	to := l.to
	l.mu.Unlock()
	conn, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	far := conn.(*net.TCPConn)
	defer l.keep(far, from)()
	if _, err := far.Write(first[:n]); err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() { l.pump(near, far, from) })
	l.pump(far, near, from)
	back.Wait()
}

// pump passes on what comes until it ends. What has come is passed on though its sender is
// no more, as a network does.
func (l *link) pump(to, from *net.TCPConn, who int) {
	piece := make([]byte, 64<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			if !l.passes(who) {
				break
			}
			if _, werr := to.Write(piece[:n]); werr != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	l.passes(who)
	from.CloseRead()
	to.CloseWrite()
}
