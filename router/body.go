package router

import (
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/fenec-go/fenecdb/internal/http1"
)

const (
	// maxSkipped is the size up to which the body of a refused request is read
	// to keep the connection.
	maxSkipped = 256 << 10
	// firstRoom is how much room is made for a body before any of it is there.
	firstRoom = 256 << 10
)

// takeBody reads the request's body whole.
func (c *client) takeBody(limit int64) error {
	q := &c.request
	if !q.HasBody() {
		return nil
	}
	if q.Length > limit {
		c.last = true
		return errTooLarge
	}
	if q.Expect && c.in.Buffered() == 0 {
		if _, err := c.wire.Write(goOn); err != nil {
			return err
		}
	}
	body, err := c.body[:0], error(nil)
	if q.Chunked {
		c.chunks.Reset(c.in)
		body, err = readUpTo(body, &c.chunks, limit)
	} else {
		body, err = readExactly(body, c.in, q.Length)
	}
	c.body, c.incoming.body = body, body
	if err != nil {
		c.last = true
		return bodyError(err)
	}
	c.unread = false
	return nil
}

var goOn = []byte("HTTP/1.1 100 Continue\r\n\r\n")

// skipBody reads over the body of a request that is refused, if it is small.
// Otherwise the connection ends with the refusal.
func (c *client) skipBody(refused *refusal) error {
	q := &c.request
	switch {
	case !q.HasBody():
	case q.Expect || q.Chunked || q.Length > maxSkipped:
		c.last = true
	default:
		if _, err := io.CopyN(io.Discard, c.in, q.Length); err != nil {
			c.last = true
			return bodyError(err)
		}
		c.unread = false
	}
	return refused
}

// bodyError is the refusal of a body that did not come whole. Errors that say
// that the client is gone stay as they are.
func bodyError(err error) error {
	switch {
	case isTimeout(err):
		return refusing(http.StatusRequestTimeout, "the body did not come in time")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, http1.ErrCutShort):
		return refusing(http.StatusBadRequest, "the body was cut short")
	case errors.As(err, new(*http1.Error)), errors.As(err, new(*refusal)):
		return refuse(err)
	}
	return err
}

// readExactly appends n bytes of r. Room is made as they come, not as they were
// announced.
func readExactly(dst []byte, r io.Reader, n int64) ([]byte, error) {
	for n > 0 {
		step := int(min(n, int64(max(len(dst), firstRoom))))
		dst = slices.Grow(dst, step)
		m, err := io.ReadFull(r, dst[len(dst):len(dst)+step])
		dst = dst[:len(dst)+m]
		if err != nil {
			return dst, err
		}
		n -= int64(step)
	}
	return dst, nil
}

// readUpTo appends what r has, and fails with errTooLarge past limit bytes.
func readUpTo(dst []byte, r io.Reader, limit int64) ([]byte, error) {
	for start := len(dst); ; {
		dst = slices.Grow(dst, 4<<10)
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case int64(len(dst)-start) > limit:
			return dst, errTooLarge
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}
