package router

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// whole composes an answer; end sends it.
func (c *client) whole(a *http1.Response, f form, body []byte) error {
	b := c.answerHead(a)
	switch {
	case f == formWhole:
		b = http1.AppendLength(b, int64(len(body)))
	case a.Length != http1.Unknown && a.Status != http.StatusNoContent:
		b = http1.AppendLength(b, a.Length)
	}
	c.out = append(c.endHead(b), body...)
	return nil
}

func (c *client) begin(a *http1.Response, f form) error {
	c.streams = f == formStream
	b := c.answerHead(a)
	c.chunked = f == formChunks && c.request.Minor > 0
	switch {
	case f == formLong:
		b = http1.AppendLength(b, a.Length)
	case c.chunked:
		b = http1.AppendField(b, "Transfer-Encoding", "chunked")
	default:
		c.last = true
	}
	c.out = c.endHead(b)
	err := c.flush()
	if c.streams {
		c.countNow() // it may last for days
	}
	return err
}

// drop forgets an answer that is composed.
func (c *client) drop() { c.out = c.out[:0] }

// Write sends a piece of a body.
func (c *client) Write(p []byte) (int, error) {
	if !c.chunked {
		return c.wire.Write(p)
	}
	c.out = http1.AppendChunk(c.out[:0], p)
	return len(p), c.flush()
}

func (c *client) end() error {
	if c.chunked {
		c.out = http1.AppendChunk(c.out, nil)
		c.chunked = false
	}
	return c.flush()
}

// flush writes what is composed.
func (c *client) flush() error {
	if len(c.out) == 0 {
		return nil
	}
	_, err := c.wire.Write(c.out)
	c.out = c.out[:0]
	return err
}

// answerHead composes a node's answer up to its length.
func (c *client) answerHead(a *http1.Response) []byte {
	reason := a.Reason
	if reason == nil {
		reason = []byte{}
	}
	c.status = a.Status
	b := http1.AppendStatusLine(c.out[:0], a.Status, reason)
	hop := newHop(a.Fields)
	for i := range a.Fields {
		if f := &a.Fields[i]; !hop.ends(f) && !ownAnswerField(f) && !c.router.cors.Replaces(f) {
			b = http1.AppendField(b, f.Name, f.Value)
		}
	}
	return b
}

// ownAnswerField reports whether the router writes the field of an answer itself.
func ownAnswerField(f *http1.Field) bool {
	switch len(f.Name) {
	case len("x-request-id"):
		return f.Is("x-request-id")
	case len("content-length"):
		return f.Is("content-length")
	}
	return false
}

// endHead ends a head with the request's id, what pages of other origins need, and what
// becomes of the connection.
func (c *client) endHead(b []byte) []byte {
	if c.incoming.id == nil {
		c.makeID()
	}
	b = http1.AppendField(b, "X-Request-Id", c.incoming.id)
	if !c.private {
		b = append(b, c.router.cors.Lines(c.streams)...)
	}
	if c.last = c.last || c.draining.Load(); c.last {
		b = http1.AppendField(b, "Connection", "close")
	} else {
		b = http1.AppendField(b, "Connection", "keep-alive")
	}
	return http1.AppendEnd(b)
}

// refuse sends a refusal.
func (c *client) refuse(r *refusal) error {
	c.status = r.status
	b := http1.AppendStatusLine(c.out[:0], r.status, nil)
	if r.status == http.StatusNoContent {
		c.out = c.endHead(b)
		return c.flush()
	}
	body := r.body()
	b = http1.AppendField(b, "Content-Type", jsonType)
	b = http1.AppendLength(b, int64(len(body)))
	if r.retry > 0 {
		b = http1.AppendField(b, "Retry-After", strconv.Itoa(r.retry))
	}
	c.out = c.endHead(b)
	if c.request.Method != http1.HEAD {
		c.out = append(c.out, body...)
	}
	return c.flush()
}

// watch reads what the client still sends, to see its end. The lane is left, as
// a stream waits for long.
func (c *client) watch(gone func()) (stop func()) {
	c.leaveLane()
	if c.wire.release() != nil {
		gone()
		return func() {}
	}
	conn := c.wire.conn
	conn.SetReadDeadline(time.Time{})
	c.setCut(gone)
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(io.Discard, conn)
		gone()
	}()
	return func() {
		c.setCut(nil)
		conn.SetReadDeadline(time.Unix(1, 0))
		<-done
	}
}

// setCut says how drain ends the stream. One that begins while the connection is
// drained ends at once.
func (c *client) setCut(cut func()) {
	c.states.Lock()
	defer c.states.Unlock()
	c.cut = cut
	if cut != nil && c.draining.Load() {
		cut()
	}
}
