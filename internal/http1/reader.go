package http1

import (
	"bytes"
	"errors"
	"io"
)

// MaxHead bounds the head of a message, its blank line included, in bytes.
const MaxHead = 64 << 10

// The sizes of buffers, unless they are chosen.
const (
	startBuffer = 8 << 10
	keepBuffer  = 32 << 10
)

// Reader splits a stream into message heads and the bytes behind them.
//
// A head returned by Head stays where it is while the body behind it is read,
// and until the next call of Head.
type Reader struct {
	src io.Reader
	buf []byte
	// start is the size of the first buffer, keep the largest that is kept for
	// the next message.
	start, keep int
	// Invariant: floor <= r <= w <= len(buf). buf[:floor] is the head handed
	// out last, buf[r:w] is read from src but not yet consumed.
	floor, r, w int
}

// NewReader returns a reader of src.
func NewReader(src io.Reader) *Reader {
	return newReader(src, startBuffer, keepBuffer)
}

func newReader(src io.Reader, start, keep int) *Reader {
	return &Reader{src: src, buf: make([]byte, start), start: start, keep: keep}
}

// Buffered returns how many bytes are read from the stream but not consumed.
func (r *Reader) Buffered() int { return r.w - r.r }

// Head returns the next head: its lines with their ends, up to and including
// the blank line. At the end of the stream it returns io.EOF if no byte of a
// head was read, ErrCutShort if some were. Other errors are *Error and those of
// the stream; after one of the stream (a timeout, say) Buffered tells whether a
// head had begun.
func (r *Reader) Head() ([]byte, error) {
	r.toFront()
	for seen := 0; ; {
		if n := headEnd(r.buf[:r.w], seen); n > 0 {
			if n > MaxHead {
				return nil, errHeadTooLarge
			}
			r.floor, r.r = n, n
			return r.buf[:n], nil
		}
		if seen = r.w; seen >= MaxHead {
			return nil, errHeadTooLarge
		}
		if err := r.more(); err != nil {
			return nil, r.endError(err)
		}
	}
}

func (r *Reader) endError(err error) error {
	if errors.Is(err, io.EOF) && r.Buffered() > 0 {
		return ErrCutShort
	}
	return err
}

// toFront releases the last head and moves what is left to the front of the
// buffer.
func (r *Reader) toFront() {
	if r.r > 0 {
		r.w = copy(r.buf, r.buf[r.r:r.w])
	}
	r.floor, r.r = 0, 0
	if r.w == 0 && len(r.buf) > r.keep {
		r.buf = make([]byte, r.start)
	}
}

// headEnd returns the length of the head at the start of b, or 0 if it is not
// whole. Everything before seen was looked at by an earlier call. A head ends
// at the first line feed behind a line feed with at most a carriage return
// between: a blank line in the loosest reading, so that no later reader can see
// an earlier end; the parsers refuse the loose forms.
func headEnd(b []byte, seen int) int {
	from := max(seen-2, 0)
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return 0
		}
		next := from + i + 1
		switch rest := b[next:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return next + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return next + 2
		}
		from = next
	}
}

// more reads at least one more byte behind buf[r:w], and makes room for it.
func (r *Reader) more() error {
	if r.r == r.w {
		r.r, r.w = r.floor, r.floor
	}
	if r.w == len(r.buf) {
		r.grow()
	}
	n, err := r.src.Read(r.buf[r.w:])
	r.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// grow makes room by moving to a larger buffer. The old one is left alone, as
// the head that was handed out lies in it.
func (r *Reader) grow() {
	buf := make([]byte, max(2*len(r.buf), r.start))
	copy(buf, r.buf[:r.w])
	r.buf = buf
}

// release lets go of the buffer until it is needed again, if nothing is in it.
// The last head is lost.
func (r *Reader) release() {
	if r.Buffered() == 0 {
		r.buf, r.floor, r.r, r.w = nil, 0, 0, 0
	}
}

// Read serves the bytes behind the last head: first those that are buffered,
// then straight from the stream.
func (r *Reader) Read(p []byte) (int, error) {
	if r.r < r.w {
		n := copy(p, r.buf[r.r:r.w])
		r.r += n
		return n, nil
	}
	return r.src.Read(p)
}

// Take consumes and returns the bytes that are buffered, at most n of them.
// They stay valid until the next call of Head or of a ChunkedReader on r.
func (r *Reader) Take(n int) []byte {
	n = min(n, r.w-r.r)
	b := r.buf[r.r : r.r+n]
	r.r += n
	return b
}

// line consumes the next line and returns it without its CR LF. Its length is
// bounded by max.
func (r *Reader) line(max int) ([]byte, error) {
	for {
		if i := bytes.IndexByte(r.buf[r.r:r.w], '\n'); i >= 0 {
			l := r.buf[r.r : r.r+i+1]
			r.r += i + 1
			return cutLine(l)
		}
		if r.w-r.r > max {
			return nil, errChunk
		}
		if err := r.more(); err != nil {
			return nil, cutShort(err)
		}
	}
}

// cutLine removes the CR LF from a line that ends with a line feed.
func cutLine(l []byte) ([]byte, error) {
	n := len(l) - 2
	if n < 0 || l[n] != '\r' || bytes.IndexByte(l[:n], '\r') >= 0 {
		return nil, errLineEnd
	}
	return l[:n], nil
}

func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return ErrCutShort
	}
	return err
}
