package http1

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// connBuffer is the size of the buffer a connection reads into. It is all
	// that an idle connection holds but for its own few fields.
	connBuffer = 4 << 10
	// keepConnBuffer is the size up to which a larger one is kept.
	keepConnBuffer = 8 << 10
)

// serverConn serves one connection. All of it runs on one goroutine, but for the
// watch and what is said to be called by others.
type serverConn struct {
	server  *Server
	conn    net.Conn
	remote  string // the client's address
	in      *Reader
	reading deadline
	writing deadline

	inHead      bool        // a head is awaited
	headTimed   bool        // the deadline is that of the whole head
	interrupted atomic.Bool // the wait for a request is to end
	counted     bool        // guarded by Server.mu

	// ahead is what the watch has read and the reader has not: it follows what
	// the reader has buffered. It is the watch's while one runs.
	ahead []byte
	first [1]byte // where ahead begins, as most often nothing comes

	mu       sync.Mutex // guards the fields below
	context  *requestContext
	base     *http.Request // carries context; a request starts as its copy
	busy     bool          // a request is being answered
	handled  bool          // a handler has it
	draining bool          // no further request is served
	detached bool          // the request has left the count
	gone     bool          // the connection is closed or given away
	given    bool          // it is somebody else's
	watch    watch
}

// errInterrupted is returned by Read when the wait for a request is to end.
var errInterrupted = errors.New("http1: interrupted")

func newServerConn(s *Server, conn net.Conn) *serverConn {
	c := &serverConn{server: s, conn: conn, remote: conn.RemoteAddr().String()}
	c.in = newReader(c, connBuffer, keepConnBuffer)
	c.reading = deadline{limit: s.opts.IdleTimeout, set: conn.SetReadDeadline}
	c.writing = deadline{limit: s.opts.IdleTimeout, set: conn.SetWriteDeadline}
	return c
}

// serve answers requests until the connection ends.
func (c *serverConn) serve() {
	defer c.end()
	for c.next() {
	}
}

// end closes the connection, unless it is somebody else's by now.
func (c *serverConn) end() {
	c.abort()
	c.server.forget(c)
}

// next answers one request and reports whether the connection goes on.
func (c *serverConn) next() bool {
	c.inHead, c.headTimed = true, false
	head, err := c.in.Head()
	c.inHead = false
	c.setBusy()
	if err != nil {
		c.refuseHead(err)
		return false
	}
	x := exchanges.Get().(*exchange)
	if !c.answer(x, head) {
		// What a handler left behind may still be in use, so x is not.
		return false
	}
	x.reset()
	exchanges.Put(x)
	return c.setIdle()
}

// answer answers the request of a head and reports whether the connection goes
// on.
func (c *serverConn) answer(x *exchange, head []byte) bool {
	if err := x.begin(c, head); err != nil {
		c.refuseError(err)
		return false
	}
	whole := c.handle(x)
	c.endRequest()
	switch {
	case x.answer.hijacked:
		return false
	case !whole:
		return c.afterPanic(x)
	}
	if x.answer.finish() != nil {
		return false
	}
	if !x.answer.closes && x.body.skip() == nil {
		return true
	}
	if x.body.unread() || c.in.Buffered() > 0 || len(c.ahead) > 0 {
		c.linger()
	}
	return false
}

// endRequest ends the request's context and undoes what the handler has asked
// for.
func (c *serverConn) endRequest() {
	c.endContext()
	c.reading.giveBack()
	c.writing.giveBack()
}

// setBusy notes that a request is being answered.
func (c *serverConn) setBusy() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = true
	if c.interrupted.Load() {
		c.interrupted.Store(false)
		c.reading.until = time.Time{}
	}
}

// setIdle notes that the next request is waited for, and reports false when
// there will be none.
func (c *serverConn) setIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
	return !c.draining && !c.detached
}

// isLast reports whether the connection ends with the request that runs.
func (c *serverConn) isLast() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.draining || c.detached
}

// drain ends the connection once the request that runs is answered. It is called
// by others.
func (c *serverConn) drain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.draining = true
	switch {
	case !c.busy:
		c.interrupted.Store(true)
		c.conn.SetReadDeadline(longAgo)
	case c.detached:
		c.context.cancel()
	}
}

// longAgo is the deadline that ends a wait at once.
var longAgo = time.Unix(1, 0)

// abort ends the connection, whatever is going on. It may be called by others,
// and again.
func (c *serverConn) abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return
	}
	c.gone = true
	if c.context != nil {
		c.context.cancel()
	}
	c.conn.Close()
}

// detach takes the connection out of the count. The request's context ends when
// the server starts to shut down, and the connection ends with the request.
func (c *serverConn) detach() {
	c.server.uncount(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.detached = true
	if c.draining {
		c.context.cancel()
	}
}

// linger waits for the client to take the last answer, as closing a connection
// on which something unread has arrived would take the answer away.
func (c *serverConn) linger() {
	half, ok := c.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	c.reading.put(time.Now().Add(lingerTime))
	io.Copy(io.Discard, c.conn)
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
