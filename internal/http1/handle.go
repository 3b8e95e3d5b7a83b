package http1

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"time"
)

// handle lets the handler answer and reports whether it returned: a panic ends
// its request only.
func (c *serverConn) handle(x *exchange) (returned bool) {
	defer func() {
		if returned {
			return
		}
		if p := recover(); p != http.ErrAbortHandler {
			c.server.opts.ErrorLog.Printf("panic: %v\n%s request_id=%s", p, debug.Stack(), x.requestID())
		} else {
			// The handler has chosen to cut the answer off.
			x.answer.sent = true
		}
	}()
	c.server.handler.ServeHTTP(&x.answer, &x.request)
	return true
}

// afterPanic tells the client of a panic, unless a part of the answer is on its
// way. The connection ends.
func (c *serverConn) afterPanic(x *exchange) bool {
	if !x.answer.sent {
		c.refuseWithID(http.StatusInternalServerError, "something went wrong; the server's log says what", x.requestID())
		c.linger()
	}
	return false
}

// handed is the size of the buffers of a hijacked connection, in bytes.
const handed = 512

// Hijack gives the connection away, as http.Hijacker has it: the server knows
// nothing of it from now on, Shutdown and Close included. Deadlines are lifted.
// The request's context lasts until the handler returns. What was written but
// not flushed is lost.
func (a *answer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if a.hijacked {
		return nil, nil, http.ErrHijacked
	}
	c := a.conn
	c.stopWatch()
	if err := c.giveAway(); err != nil {
		return nil, nil, err
	}
	a.hijacked = true
	before := slices.Concat(c.in.Take(c.in.Buffered()), c.ahead)
	c.ahead = nil
	c.in.release()
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(before), c.conn), max(handed, len(before)))
	_, err := r.Peek(len(before))
	return c.conn, bufio.NewReadWriter(r, bufio.NewWriterSize(c.conn, handed)), err
}

// giveAway makes the connection somebody else's.
func (c *serverConn) giveAway() error {
	c.mu.Lock()
	if c.gone {
		c.mu.Unlock()
		return net.ErrClosed
	}
	c.gone, c.given = true, true
	c.mu.Unlock()
	c.reading.own, c.writing.own = false, false
	c.server.forget(c)
	return c.conn.SetDeadline(time.Time{})
}
