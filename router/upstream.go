package router

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/fenec-go/fenecdb/internal/http1"
)

const (
	// joinBody is how much of a request's body is copied behind its head, to
	// be sent by one write.
	joinBody = 16 << 10
	// keepScratch is the largest buffer that a connection keeps.
	keepScratch = 32 << 10
	// maxInterim is how many 1xx answers may precede the answer.
	maxInterim = 8
)

// upstream is a connection to a node. One exchange at a time uses it.
type upstream struct {
	wire
	peer   *peer
	keeper keeper // gets the connection after the exchange; nil for the peer
	in     *http1.Reader
	answer http1.Response // of the current exchange; refers to in's buffer
	chunks http1.ChunkedReader
	out    []byte        // a request on its way
	body   []byte        // of an answer that did not fit into in's buffer
	since  time.Duration // unused since, in ticks
}

// keeper takes connections that are free again.
type keeper interface{ keep(*upstream) }

func newUpstream(conn net.Conn, p *peer, limit time.Duration) *upstream {
	u := &upstream{peer: p}
	u.wire.init(conn, limit)
	u.in = http1.NewReader(&u.wire)
	return u
}

// failure says how far an exchange came.
type failure struct {
	at  stage
	err error
}

type stage int

const (
	unsent     stage = iota // the request was not written to its end
	unanswered              // it was, and the connection ended before a byte of an answer
	broken                  // the answer did not come in time, or cannot be understood
)

// exchange sends the order and reads the head of the answer.
func (u *upstream) exchange(o *order) *failure {
	unsentFor := u.send(o)
	switch {
	case unsentFor == nil:
	case isTimeout(unsentFor):
		return &failure{broken, unsentFor} // it would be silent again
	case !u.ready():
		return &failure{unsent, unsentFor}
	}
	// A node may answer, with a refusal, before it has read everything.
	err := u.readHead()
	switch {
	case err == nil:
		u.answer.Close = u.answer.Close || unsentFor != nil
		return nil
	case unsentFor != nil:
		return &failure{unsent, unsentFor}
	case u.in.Buffered() == 0 && isEnd(err):
		return &failure{unanswered, err}
	}
	return &failure{broken, err}
}

// send writes the request, a small one at once.
func (u *upstream) send(o *order) error {
	joined := min(len(o.body), joinBody)
	u.out = append(append(u.out[:0], o.head...), o.body[:joined]...)
	if _, err := u.Write(u.out); err != nil {
		return err
	}
	_, err := u.Write(o.body[joined:])
	return err
}

// readHead reads the head of the answer, past interim ones.
func (u *upstream) readHead() error {
	for i := range maxInterim {
		head, err := u.in.Head()
		if err != nil && i > 0 && isEnd(err) {
			return http1.ErrCutShort
		}
		if err != nil {
			return err
		}
		if err := u.answer.Parse(head); err != nil {
			return err
		}
		if u.answer.Status >= 200 {
			return nil
		}
		if u.answer.Status == 101 {
			break
		}
	}
	return errInterim
}

var errInterim = errors.New("unexpected interim answer")

// isEnd reports whether the other side has ended the connection.
func isEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// readBody returns the answer's body of n bytes. It is valid until the next
// exchange.
func (u *upstream) readBody(n int) ([]byte, error) {
	if u.in.Buffered() >= n {
		return u.in.Take(n), nil
	}
	if cap(u.body) < n {
		u.body = make([]byte, n)
	}
	_, err := io.ReadFull(u.in, u.body[:n])
	return u.body[:n], err
}

// finish ends an exchange whose answer was read to its end, and keeps the
// connection if it may be used again.
func (u *upstream) finish() {
	if u.answer.Close || u.in.Buffered() > 0 {
		u.close()
		return
	}
	if cap(u.body) > keepScratch {
		u.body = nil
	}
	if u.keeper != nil {
		u.keeper.keep(u)
		return
	}
	u.goHome()
}

// goHome gives the unused connection to all.
func (u *upstream) goHome() {
	u.keeper = nil
	if u.release() != nil {
		u.close()
		return
	}
	u.peer.give(u)
}
