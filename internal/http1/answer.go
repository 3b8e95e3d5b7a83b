package http1

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	// maxBuffered is how much of a body is gathered before it is sent, in bytes.
	// An answer that is no larger is given a length.
	maxBuffered = 8 << 10
	// maxJoined is the size up to which an answer's head and body are copied
	// together to be sent by one write.
	maxJoined = 16 << 10
)

// answer is the http.ResponseWriter of a request. It is also what an
// http.ResponseController looks for: a flusher, a hijacker, and a setter of
// deadlines.
type answer struct {
	conn   *serverConn
	taken  *requestBody // what the request's body is read by
	head   bool         // the request is a HEAD
	minor  int          // of the request's version
	wants  bool         // the client keeps the connection
	header http.Header

	status   int    // 0 until it is said
	length   int64  // that the handler has announced, or Unknown
	written  int64  // of the body, by the handler
	out      []byte // what goes out next; empty behind a send
	body     []byte // of the body, not yet in out
	begun    bool   // the head is whole: in out, or sent
	sent     bool   // the client has seen some of it
	chunked  bool
	closes   bool // the connection ends with the answer
	detached bool
	hijacked bool
	err      error // of the connection
}

func (a *answer) begin(c *serverConn, q *Request, body *requestBody) {
	a.conn, a.taken = c, body
	a.head, a.minor, a.wants = q.Method == HEAD, q.Minor, !q.Close
	a.length = Unknown
}

// reset lets go of the request, but for the buffers.
func (a *answer) reset() {
	if len(a.header) > keepFields {
		a.header = http.Header{}
	}
	clear(a.header)
	*a = answer{header: a.header, out: a.out[:0], body: a.body[:0]}
	if cap(a.out) > keepOutput {
		a.out = nil
	}
}

// Header returns the header that WriteHeader sends.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader says the status. An informational one but 101 is sent at once, and
// the answer is still to come.
func (a *answer) WriteHeader(status int) {
	switch {
	case status < 100 || status > 999:
		panic(fmt.Sprintf("http1: invalid status %d", status))
	case a.hijacked, a.status != 0:
		a.conn.server.opts.ErrorLog.Printf("http1: superfluous WriteHeader(%d)", status)
	case status < 200 && status != http.StatusSwitchingProtocols:
		a.inform(status)
	default:
		a.status = status
		a.compose(status)
		a.noteHeader()
	}
}

// inform sends an informational answer.
func (a *answer) inform(status int) {
	if a.minor == 0 {
		return
	}
	a.compose(status)
	a.out = AppendEnd(a.out)
	a.send(nil, "")
}

// noteHeader takes what the handler says of the length and the connection.
func (a *answer) noteHeader() {
	if values := a.header["Content-Length"]; len(values) > 0 {
		if n, ok := parseLength([]byte(values[0])); ok {
			a.length = n
		}
	}
	for _, v := range a.header["Connection"] {
		a.closes = a.closes || hasToken([]byte(v), "close")
	}
}

// Write adds to the body.
func (a *answer) Write(p []byte) (int, error) {
	if err := a.admit(len(p)); err != nil {
		return 0, err
	}
	switch {
	case a.head:
	case len(a.body)+len(p) <= maxBuffered:
		a.body = append(a.body, p...)
	default:
		a.decide(false)
		a.push(p, false)
	}
	if a.err != nil {
		return 0, a.err
	}
	return len(p), nil
}

// WriteString adds to the body.
func (a *answer) WriteString(s string) (int, error) {
	if len(a.body)+len(s) > maxBuffered || a.head {
		return a.Write([]byte(s))
	}
	if err := a.admit(len(s)); err != nil {
		return 0, err
	}
	a.body = append(a.body, s...)
	return len(s), nil
}

// admit says why n more bytes cannot be written.
func (a *answer) admit(n int) error {
	if a.hijacked {
		return http.ErrHijacked
	}
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	switch {
	case a.err != nil:
		return a.err
	case n == 0:
		return nil
	case a.bodyless():
		return http.ErrBodyNotAllowed
	case a.length != Unknown && a.written+int64(n) > a.length:
		return http.ErrContentLength
	}
	a.written += int64(n)
	return nil
}

// bodyless reports whether the status allows no body.
func (a *answer) bodyless() bool {
	return a.status < 200 || a.status == http.StatusNoContent || a.status == http.StatusNotModified
}

// Flush sends what is there.
func (a *answer) Flush() { _ = a.FlushError() }

// FlushError sends what is there.
func (a *answer) FlushError() error {
	if a.hijacked {
		return http.ErrHijacked
	}
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	a.decide(false)
	a.push(nil, false)
	if a.detached {
		a.out, a.body = nil, nil
	}
	return a.err
}

// SetReadDeadline bounds the reading of the request's body, instead of the
// server's limit and until the request ends; the zero time brings the limit
// back.
func (a *answer) SetReadDeadline(t time.Time) error {
	if !a.taken.unread() {
		return nil
	}
	return a.conn.reading.take(t)
}

// SetWriteDeadline bounds the writing of the answer, in the same way.
func (a *answer) SetWriteDeadline(t time.Time) error { return a.conn.writing.take(t) }

// EnableFullDuplex changes nothing: a handler may always read and write.
func (a *answer) EnableFullDuplex() error { return nil }

// Detach takes the request's connection out of the server's count, for a stream
// that is bounded otherwise. The connection ends with the request. Its buffers
// are given back while they are empty, and the request's context ends when the
// server begins to shut down.
func (a *answer) Detach() {
	a.detached = true
	a.conn.detach()
	if !a.taken.unread() {
		a.conn.in.release()
	}
}

// finish sends the rest of the answer.
func (a *answer) finish() error {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	a.decide(true)
	a.push(nil, true)
	if a.length != Unknown && a.written < a.length && !a.head && !a.bodyless() {
		a.closes = true
	}
	return a.err
}

// push sends what is kept and p. The last push ends the body.
func (a *answer) push(p []byte, last bool) {
	n := len(a.body) + len(p)
	if a.head {
		a.send(nil, "")
		return
	}
	var tail string
	if a.chunked && n > 0 {
		a.out = append(strconv.AppendInt(a.out, int64(n), 16), "\r\n"...)
		tail = "\r\n"
	}
	if a.chunked && last {
		tail += "0\r\n\r\n"
	}
	a.out = append(a.out, a.body...)
	a.body = a.body[:0]
	if len(a.out)+len(p) <= maxJoined {
		a.out = append(a.out, p...)
		p = nil
	}
	a.send(p, tail)
}

// send writes out, p and the tail. Behind a large p the tail goes out with what
// comes next.
func (a *answer) send(p []byte, tail string) {
	if a.err != nil {
		return
	}
	out := a.out
	if len(p) == 0 {
		out = append(out, tail...)
		a.err = a.conn.write(out)
		a.out = out[:0]
	} else {
		a.err = a.conn.writeBoth(out, p)
		a.out = append(out[:0], tail...)
	}
	a.sent = a.sent || len(out)+len(p) > 0
}
