package http1

import (
	"errors"
	"net/http"
	"time"
)

// refuseHead answers when no head could be read. A client that is silent between
// requests gets no answer, as it would take it for the one to its next request.
func (c *serverConn) refuseHead(err error) {
	begun := c.in.Buffered() > 0
	switch {
	case errors.As(err, new(*Error)):
		c.refuseError(err)
	case errors.Is(err, ErrCutShort):
		c.refuse(http.StatusBadRequest, "the header was cut short")
	case isTimeout(err) && begun && !c.isLast():
		c.refuse(http.StatusRequestTimeout, "the header did not come in time")
		c.linger()
	}
}

// refuseError answers a request that cannot be understood.
func (c *serverConn) refuseError(err error) {
	status, text := http.StatusBadRequest, err.Error()
	if e := (*Error)(nil); errors.As(err, &e) {
		status, text = e.Status, e.Text
	}
	c.refuse(status, text)
	c.linger()
}

// refuse sends an answer of the server's own, the last on its connection.
func (c *serverConn) refuse(status int, text string) { c.refuseWithID(status, text, NewID()) }

// refuseWithID takes care not to wait for long: a client that does not read its
// answer has had its turn.
func (c *serverConn) refuseWithID(status int, text, id string) {
	body := `{"error":"` + text + `"}`
	b := AppendStatusLine(nil, status, nil)
	b = AppendField(b, "Content-Type", "application/json; charset=utf-8")
	if status == http.StatusServiceUnavailable {
		body = `{"error":"` + text + `","retry_after":1}`
		b = AppendField(b, "Retry-After", "1")
	}
	b = appendFields(b, c.server.opts.RefusalHeader)
	b = AppendLength(b, int64(len(body)))
	b = AppendField(b, "X-Request-Id", id)
	b = AppendField(b, "X-Content-Type-Options", "nosniff")
	b = c.server.date.append(b, time.Now())
	b = AppendField(b, "Connection", "close")
	b = append(AppendEnd(b), body...)
	if c.writing.take(time.Now().Add(lingerTime)) == nil {
		_ = c.write(b)
	}
}

// requestID returns the id the request is known by: that of the answer if the
// handler has set one, the client's if it can be kept, or a new one.
func (x *exchange) requestID() string {
	for _, h := range []http.Header{x.answer.header, x.header} {
		if id := h.Get("X-Request-Id"); UsableID(id) {
			return id
		}
	}
	return NewID()
}
