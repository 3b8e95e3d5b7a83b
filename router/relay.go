package router

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// wholeBody is the size up to which an answer is read whole before the client
// sees any of it, so that one that breaks off can still be refused.
const wholeBody = 1 << 20

// form is the way in which an answer's body goes to the client.
type form int

const (
	formEmpty  form = iota // no body
	formWhole              // at hand, with its length
	formLong               // as it arrives, with its length
	formChunks             // as it arrives, in chunks; the connection stays
	formStream             // as it arrives; the connection ends with it
)

// formOf says how the answer to a request of method m is passed on.
func formOf(a *http1.Response, m http1.Method) form {
	switch {
	case a.Bodyless(m):
		return formEmpty
	case a.Length != http1.Unknown && a.Length <= wholeBody:
		return formWhole
	case a.Length != http1.Unknown:
		return formLong
	case a.Chunked && !isEventStream(a):
		return formChunks
	}
	return formStream
}

func isEventStream(a *http1.Response) bool {
	const kind = "text/event-stream"
	value, _ := http1.Find(a.Fields, "content-type")
	return len(value) >= len(kind) && http1.EqualFold(value[:len(kind)], kind)
}

// isWhole reports whether a body of that form is at hand before any of it is passed on.
func (f form) isWhole() bool { return f == formEmpty || f == formWhole }

// sink is the client's side of an answer.
type sink interface {
	// whole takes an answer with its body at hand. Nothing of it is referred
	// to afterwards. One that says something to the router (see saysMore) is not
	// sent before end is called, and may be dropped instead.
	whole(a *http1.Response, f form, body []byte) error
	drop()
	// begin sends the head of an answer whose body follows in Write calls.
	begin(a *http1.Response, f form) error
	io.Writer
	// end ends the answer, and sends it if whole has not.
	end() error
	// watch calls gone when the client goes away, until stop is called.
	// Afterwards gone is not called any more.
	watch(gone func()) (stop func())
}

// errAborted is returned when an answer broke off after the client had seen a
// part of it: the client's connection has to end.
var errAborted = errors.New("router: answer broke off")

// saysMore reports whether an answer of this status may say something to the router,
// which has to act on it before the client gets to see it.
func saysMore(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusNotFound || status == http.StatusServiceUnavailable
}

// relay passes the answer on u to the client and gives u back. An error is a
// *NodeError if the client has seen nothing yet; after any other, errAborted
// among them, the client's connection has to end.
func relay(u *upstream, n Node, m http1.Method, to sink) error {
	f := formOf(&u.answer, m)
	if !f.isWhole() {
		return relayLong(u, f, to)
	}
	if _, err := takeWhole(u, n, f, to); err != nil {
		return err
	}
	return to.end()
}

// takeWhole hands an answer with its body to the sink, which end sends then, and gives
// u back. It returns what the answer says to the router.
func takeWhole(u *upstream, n Node, f form, to sink) (says word, err error) {
	var body []byte
	if f == formWhole {
		if body, err = u.readBody(int(u.answer.Length)); err != nil {
			u.close()
			return nothing, brokeOff(n, err)
		}
	}
	says = listen(u.answer.Status, body)
	err = to.whole(&u.answer, f, body)
	u.finish()
	return says, err
}

// relayLong passes an answer on while it arrives.
func relayLong(u *upstream, f form, to sink) error {
	if f == formStream {
		return relayStream(u, to)
	}
	return relayPieces(u, f, to)
}

// relayPieces passes a long answer on as it arrives.
func relayPieces(u *upstream, f form, to sink) error {
	if err := to.begin(&u.answer, f); err != nil {
		u.close()
		return err
	}
	body := io.LimitReader(u.in, u.answer.Length)
	if f == formChunks {
		u.chunks.Reset(u.in)
		body = &u.chunks
	}
	n, err := pass(to, body)
	if err == nil && f == formLong && n < u.answer.Length {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		u.close()
		return fmt.Errorf("%w: %v", errAborted, err)
	}
	u.finish()
	return to.end()
}

// relayStream passes an answer on that ends with its connection, and frees the
// node's side when the client goes away. Neither side's silence ends it.
func relayStream(u *upstream, to sink) error {
	defer u.close()
	if err := to.begin(&u.answer, formStream); err != nil {
		return err
	}
	var body io.Reader = u.in
	if u.answer.Chunked {
		u.chunks.Reset(u.in)
		body = &u.chunks
	}
	if err := u.listen(); err != nil {
		return err
	}
	stop := to.watch(u.abort)
	_, err := pass(to, body)
	stop()
	if err != nil {
		return fmt.Errorf("%w: %v", errAborted, err)
	}
	return to.end()
}

var pieces = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// pass copies src to the sink, each piece as soon as it is there.
func pass(to sink, src io.Reader) (n int64, err error) {
	buf := pieces.Get().(*[32 << 10]byte)
	defer pieces.Put(buf)
	for {
		m, err := src.Read(buf[:])
		if m > 0 {
			if _, err := to.Write(buf[:m]); err != nil {
				return n, err
			}
			n += int64(m)
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
