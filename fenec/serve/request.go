package serve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

// maxBody is the most bytes of a request's body.
const maxBody = 64 << 20

// takeIn reads the request's body.
func (c *call) takeIn() (refusal *Answer) {
	if c.r.ContentLength == 0 {
		return nil
	}
	if refusal = c.readBody(); refusal != nil {
		// What is left of the body is not worth reading.
		endConnection(c.w, c.r)
	}
	return refusal
}

// growAhead is the most memory a body gets before its bytes have arrived.
const growAhead = 256 << 10

func (c *call) readBody() *Answer {
	length := c.r.ContentLength
	if length > maxBody {
		return tooLarge()
	}
	var err error
	if length > 0 && length <= growAhead {
		c.body = slices.Grow(c.body[:0], int(length))[:length]
		_, err = io.ReadFull(c.arriving(), c.body)
	} else {
		var buf bytes.Buffer
		if length > 0 {
			buf.Grow(growAhead)
		}
		_, err = buf.ReadFrom(c.patient(http.MaxBytesReader(c.w, c.r.Body, maxBody)))
		c.body = buf.Bytes()
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// unreadable answers that a body could not be read.
func unreadable(err error) *Answer {
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		a := Fail(http.StatusRequestTimeout, "the rest of the body did not come")
		return &a
	}
	a := Fail(http.StatusBadRequest, "the body could not be read: "+err.Error())
	return &a
}

// arriving returns the request's body, which nobody has to wait for if all of it
// is there.
func (c *call) arriving() io.Reader {
	body, ok := c.r.Body.(interface{ Buffered() int64 })
	if ok && body.Buffered() == c.r.ContentLength {
		return c.r.Body
	}
	return c.patient(c.r.Body)
}

// patient returns a body whose sender may be silent for as long as the server
// allows.
func (c *call) patient(body io.Reader) io.Reader {
	return patient{body, http.NewResponseController(c.w), c.server.opts.IdleTimeout}
}

// patient reads a body whose sender may take its time, but not stop.
type patient struct {
	io.Reader
	control *http.ResponseController
	silence time.Duration // the longest; negative for any
}

func (p patient) Read(b []byte) (int, error) {
	if p.silence > 0 {
		// Where there are no deadlines, the server's own must do.
		_ = p.control.SetReadDeadline(time.Now().Add(p.silence))
	}
	return p.Reader.Read(b)
}

func tooLarge() *Answer {
	a := Fail(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", maxBody))
	return &a
}
