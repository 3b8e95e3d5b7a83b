package http1

import (
	"errors"
	"io"
	"net/http"
)

// maxSkipped is how much of a body that the handler leaves unread is read to
// keep the connection, in bytes.
const maxSkipped = 256 << 10

// requestBody is the body of a request. It ends with io.EOF, with
// io.ErrUnexpectedEOF when the client ends it early, with an *Error when its
// chunks are malformed, with an *http.MaxBytesError, or with the error of the
// connection: os.ErrDeadlineExceeded when nothing came for too long. It is then
// over for the whole connection, but for io.EOF.
type requestBody struct {
	conn    *serverConn
	chunked bool
	chunks  ChunkedReader
	left    int64 // of a body with a length
	room    int64 // of MaxBody; Unknown is no limit
	expect  bool  // the client waits for 100 Continue
	closed  bool  // by the handler
	err     error // how it has ended
}

func (b *requestBody) begin(c *serverConn, q *Request) {
	*b = requestBody{conn: c, chunked: q.Chunked, left: q.Length, room: Unknown, expect: q.Expect && q.HasBody()}
	if limit := c.server.opts.MaxBody; limit > 0 {
		b.room = limit
	}
	switch {
	case q.Chunked:
		b.chunks.Reset(c.in)
	case !q.HasBody():
		b.err = io.EOF
	}
}

func (b *requestBody) Read(p []byte) (int, error) {
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.read(p)
}

// Buffered returns how many bytes of the body can be read without a wait.
func (b *requestBody) Buffered() int64 {
	if b.chunked || b.closed || b.err != nil {
		return 0
	}
	return min(b.left, int64(b.conn.in.Buffered()))
}

// Close lets no more be read by the handler.
func (b *requestBody) Close() error {
	b.closed = true
	return nil
}

func (b *requestBody) read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if b.err = b.check(); b.err != nil {
		return 0, b.err
	}
	n, err := b.readSome(p)
	switch {
	case b.room == Unknown:
	case int64(n) > b.room:
		n, err = int(b.room), b.tooLarge()
	default:
		b.room -= int64(n)
	}
	b.err = err
	if err == io.EOF {
		b.conn.bodyRead()
	}
	return n, err
}

// check refuses what is known to be too large, and tells the client to go on.
func (b *requestBody) check() error {
	if !b.chunked && b.room != Unknown && b.left > b.room {
		return b.tooLarge()
	}
	if !b.expect {
		return nil
	}
	b.expect = false
	if b.conn.in.Buffered() > 0 {
		return nil
	}
	return b.conn.write(goOn)
}

var goOn = []byte("HTTP/1.1 100 Continue\r\n\r\n")

func (b *requestBody) tooLarge() error {
	return &http.MaxBytesError{Limit: b.conn.server.opts.MaxBody}
}

func (b *requestBody) readSome(p []byte) (int, error) {
	if b.chunked {
		n, err := b.chunks.Read(p)
		return n, unexpected(err)
	}
	n, err := b.conn.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case b.left == 0:
		return n, io.EOF
	case err == io.EOF:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// unexpected gives the end of a stream within its chunks the name that readers
// of bodies know.
func unexpected(err error) error {
	if errors.Is(err, ErrCutShort) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// unread reports whether a part of the body has not been read.
func (b *requestBody) unread() bool { return b.err != io.EOF }

// endsConnection reports whether what is unread cannot be skipped.
func (b *requestBody) endsConnection() bool {
	switch {
	case b.err != nil:
		return b.err != io.EOF
	case b.expect:
		// The client may send the body or not.
		return true
	}
	return !b.chunked && (b.left > maxSkipped || b.room != Unknown && b.left > b.room)
}

// skip reads what the handler has left unread. An error says that there is too
// much of it, or that it does not come.
func (b *requestBody) skip() error {
	if !b.chunked && b.unread() {
		b.left -= int64(len(b.conn.in.Take(int(min(b.left, maxSkipped)))))
	}
	if !b.unread() || !b.chunked && b.left == 0 {
		return nil
	}
	buf := make([]byte, 4<<10)
	for skipped := 0; skipped <= maxSkipped; {
		n, err := b.read(buf)
		if skipped += n; err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return errLeftUnread
}

var errLeftUnread = errors.New("http1: too much of a body is unread")
