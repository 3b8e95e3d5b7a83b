package router

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// writePiece is how much is written under one bound: an answer may take as long
// as it likes while the other side goes on taking it.
const writePiece = 64 << 10

// wire is one side of a forwarded exchange: a connection whose waits are
// bounded.
//
// Go's runtime watches a net.Conn together with all others. That is cheap with
// many connections and slow with few, as each wait costs hand-overs between
// threads. So a wire can be held: taken out of the runtime's sight and read by
// system calls that block their thread. Only what is busy is held. A held wire
// on which nothing happens for a moment goes back by itself.
//
// One goroutine, the owner, reads, writes, holds and closes. Others may call
// interrupt and abort.
type wire struct {
	limit    time.Duration // of one wait
	endless  bool          // reads wait without a limit
	wentBack func()        // called by the owner's Read or Write when a held wire has gone back; may be nil

	mu      sync.Mutex // guards conn and held against abort and interrupt
	conn    net.Conn   // nil while held
	held    *held      // nil unless held
	aborted bool
	closed  bool

	raw         syscall.RawConn // of conn, nil if it has none
	readUntil   time.Duration   // conn's read deadline, in ticks
	writeUntil  time.Duration   // conn's write deadline, in ticks
	interrupted atomic.Bool
}

// init makes the zero wire one of conn.
func (w *wire) init(conn net.Conn, limit time.Duration) {
	w.limit = limit
	w.setConn(conn)
}

func (w *wire) setConn(conn net.Conn) {
	w.conn, w.raw = conn, nil
	w.readUntil, w.writeUntil = 0, 0
	if c, ok := conn.(syscall.Conn); ok {
		w.raw, _ = c.SyscallConn()
	}
}

// Read fails with os.ErrDeadlineExceeded when nothing came for limit, or up to a
// quarter longer, and when it is interrupted.
func (w *wire) Read(p []byte) (int, error) {
	if w.held != nil {
		n, err := w.held.read(p)
		if err != errHeldTooLong {
			return n, err
		}
		if err := w.goBack(); err != nil {
			return 0, err
		}
	}
	if !w.endless {
		if err := w.arm(&w.readUntil, w.conn.SetReadDeadline); err != nil {
			return 0, err
		}
	}
	// Looked at behind the deadline that an interruption overrides.
	if w.interrupted.Load() {
		return 0, os.ErrDeadlineExceeded
	}
	return w.conn.Read(p)
}

// Write fails with os.ErrDeadlineExceeded when the other side took nothing for
// limit, or up to a quarter longer.
func (w *wire) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = w.writeSome(p[n:min(len(p), n+writePiece)])
		n += m
	}
	return n, err
}

func (w *wire) writeSome(p []byte) (int, error) {
	if w.held != nil {
		n, err := w.held.write(p)
		if err != errHeldTooLong {
			return n, err
		}
		return n, w.goBack()
	}
	if err := w.arm(&w.writeUntil, w.conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	return w.conn.Write(p)
}

// arm sees to it that a deadline is at least limit away. It is set further than
// that, so that a busy connection seldom needs to set it.
func (w *wire) arm(until *time.Duration, set func(time.Time) error) error {
	now := ticks()
	if *until-now >= w.limit {
		return nil
	}
	*until = now + w.limit + w.limit/4
	return set(started.Add(*until))
}

// ready reports whether a read would return at once: with bytes, with the end of
// the stream or with an error.
func (w *wire) ready() bool {
	if w.held != nil {
		return w.held.ready()
	}
	return w.raw != nil && isReady(w.raw)
}

// ended reports whether the other side has ended the connection, as far as that can be
// told without reading. The wire is not held.
func (w *wire) ended() bool { return w.raw != nil && hasEnded(w.raw) }

// hold takes the connection out of the runtime's sight, if that can be done. The
// spinner is only used by the owner.
func (w *wire) hold(s *spinner) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.aborted:
		return false
	case w.held != nil:
		return true
	case w.raw == nil:
		return false
	}
	h := hold(w.raw, s)
	if h == nil {
		return false
	}
	w.conn.Close()
	w.conn, w.raw, w.held = nil, nil, h
	return true
}

// release gives the connection back to the runtime.
func (w *wire) release() error {
	if w.held == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.aborted {
		return net.ErrClosed
	}
	conn, err := w.held.release()
	if err != nil {
		return err
	}
	w.held = nil
	w.setConn(conn)
	return nil
}

// goBack releases the wire and tells so.
func (w *wire) goBack() error {
	err := w.release()
	if w.wentBack != nil {
		w.wentBack()
	}
	return err
}

// listen lifts the limit on reads, for a stream.
func (w *wire) listen() error {
	if err := w.release(); err != nil {
		return err
	}
	w.endless = true
	return w.conn.SetReadDeadline(time.Time{})
}

// interrupt makes the owner's Read fail, now or when it is called next, until
// resume.
func (w *wire) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.interrupted.Store(true)
	if w.conn != nil {
		w.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// resume undoes interrupt. The two must not run at once.
func (w *wire) resume() {
	if w.interrupted.Load() {
		w.interrupted.Store(false)
		w.readUntil = 0
	}
}

// abort ends the connection: the owner's reads and writes fail from now on. The
// owner still has to close.
func (w *wire) abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.aborted = true
	switch {
	case w.closed:
	case w.held != nil:
		w.held.shutdown()
	default:
		w.conn.Close()
	}
}

// close ends the connection and frees it.
func (w *wire) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.aborted, w.closed = true, true
	if w.held != nil {
		w.held.close()
	} else {
		w.conn.Close()
	}
}

// closeGently tells the other side that nothing more comes, and waits up to d for
// it to take what it was sent and to close.
func (w *wire) closeGently(d time.Duration) {
	if w.release() != nil {
		return
	}
	c, ok := w.conn.(interface{ CloseWrite() error })
	if !ok || c.CloseWrite() != nil {
		return
	}
	w.conn.SetReadDeadline(time.Now().Add(d))
	io.Copy(io.Discard, w.conn)
}
