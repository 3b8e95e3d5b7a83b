package http1

import (
	"net"
	"time"
)

// writePiece is how much is written under one deadline: an answer may take as
// long as it likes while the client goes on taking it.
const writePiece = 64 << 10

// deadline bounds the waits of a connection in one direction. It is for one
// goroutine at a time.
type deadline struct {
	limit time.Duration         // of one wait; 0 is none
	set   func(time.Time) error // the connection's
	until time.Time             // what is set; zero for nothing
	own   bool                  // the handler has set it
}

// arm sees to it that the deadline is at least limit away. It is set a quarter
// further than that, so that a busy connection seldom sets it.
func (d *deadline) arm() error {
	if d.limit == 0 || d.own {
		return nil
	}
	now := time.Now()
	if d.until.Sub(now) >= d.limit {
		return nil
	}
	return d.put(now.Add(d.limit + d.limit/4))
}

// exactly sets the deadline limit away.
func (d *deadline) exactly() error {
	if d.limit == 0 {
		return nil
	}
	return d.put(time.Now().Add(d.limit))
}

func (d *deadline) put(t time.Time) error {
	d.until = t
	return d.set(t)
}

// take sets what the handler asks for. The zero time gives the deadline back.
func (d *deadline) take(t time.Time) error {
	d.own = !t.IsZero()
	return d.put(t)
}

// giveBack undoes take.
func (d *deadline) giveBack() error {
	if !d.own {
		return nil
	}
	return d.take(time.Time{})
}

// Read is how the reader reads the connection: the waits are bounded. While a
// head is awaited, that is for the whole of it from its first byte on.
func (c *serverConn) Read(p []byte) (int, error) {
	if len(c.ahead) > 0 {
		return c.takeAhead(p), nil
	}
	if err := c.armRead(); err != nil {
		return 0, err
	}
	// Looked at behind the deadline that an interruption overrides.
	if c.interrupted.Load() {
		return 0, errInterrupted
	}
	return c.conn.Read(p)
}

func (c *serverConn) armRead() error {
	switch {
	case !c.inHead || c.in.Buffered() == 0:
		return c.reading.arm()
	case c.headTimed:
		return nil
	}
	c.headTimed = true
	return c.reading.exactly()
}

// write sends b.
func (c *serverConn) write(b []byte) error {
	for len(b) > 0 {
		if err := c.writing.arm(); err != nil {
			return err
		}
		n, err := c.conn.Write(b[:c.piece(len(b))])
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// writeBoth sends b and p, the beginning of p with b in one system call.
func (c *serverConn) writeBoth(b, p []byte) error {
	if err := c.writing.arm(); err != nil {
		return err
	}
	n := c.piece(len(p))
	pieces := net.Buffers{b, p[:n]}
	if _, err := pieces.WriteTo(c.conn); err != nil {
		return err
	}
	return c.write(p[n:])
}

// piece returns how much of n bytes is written under one deadline.
func (c *serverConn) piece(n int) int {
	if c.writing.own || c.writing.limit == 0 {
		return n
	}
	return min(n, writePiece)
}
