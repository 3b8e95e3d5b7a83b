package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/bench/internal/rawconn"
)

// followedK is what the documents have that the crowd follows.
const followedK = 1

// crowd is subscribers of one collection, each on a connection of its own.
type crowd struct {
	addr    string
	size    int
	conns   []net.Conn
	writer  *rawconn.Conn
	reading sync.WaitGroup

	mu     sync.Mutex    // guards the fields below
	seq    uint64        // the latest that anybody has been told of
	target uint64        // the sequence that is waited for
	late   int           // subscribers that have not been told of it; negative once one has failed
	all    chan struct{} // closed when none is late any more, and on a failure
	err    error         // the first that a subscriber met
	left   bool
}

// gather opens n subscriptions and returns when all have been given their seed.
func gather(ctx context.Context, addr string, n int) (*crowd, error) {
	writer, err := rawconn.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	c := &crowd{addr: addr, size: n, writer: writer}
	all := c.await()
	for range n {
		conn, err := c.subscribe(ctx, fmt.Sprintf("/docs/changes?k=%d", followedK))
		if err != nil {
			c.leave()
			return nil, err
		}
		c.conns = append(c.conns, conn)
		c.reading.Go(func() { c.read(conn) })
	}
	if err := c.wait(ctx, all); err != nil {
		c.leave()
		return nil, err
	}
	return c, nil
}

// leave ends all subscriptions.
func (c *crowd) leave() {
	c.mu.Lock()
	c.left = true
	c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.writer.Close()
	c.reading.Wait()
}

func (c *crowd) subscribe(ctx context.Context, target string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.addr)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(get(target)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// read reads events until the connection ends.
func (c *crowd) read(conn net.Conn) {
	in := bufio.NewReaderSize(conn, 1<<10)
	var told uint64
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil // the rest of a long line follows, and says nothing that is wanted
		}
		if err == nil && first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
			err = fmt.Errorf("a subscription was answered %q", line)
		}
		if err != nil {
			c.fail(err)
			return
		}
		if seq, ok := seqOf(line); ok {
			told = c.tell(told, seq)
		}
	}
}

// seqOf returns the sequence that an event's line of data begins with.
func seqOf(line []byte) (uint64, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`data: {"seq":`))
	if !ok {
		return 0, false
	}
	digits, _, _ := bytes.Cut(rest, []byte(","))
	seq, err := strconv.ParseUint(string(digits), 10, 64)
	return seq, err == nil
}

// tell notes that a subscriber has heard of all up to seq, after told, and
// returns seq.
func (c *crowd) tell(told, seq uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq = max(c.seq, seq)
	if told < c.target && seq >= c.target {
		if c.late--; c.late == 0 {
			close(c.all)
		}
	}
	return seq
}

func (c *crowd) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil || c.left {
		return
	}
	c.err = err
	if c.late > 0 {
		close(c.all)
	}
	c.late = -1
}

func (c *crowd) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// await returns what is closed when all have been told of the next sequence.
func (c *crowd) await() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = make(chan struct{})
	if c.err != nil {
		close(c.all)
		return c.all
	}
	c.target, c.late = c.seq+1, c.size
	return c.all
}

func (c *crowd) wait(ctx context.Context, all <-chan struct{}) error {
	select {
	case <-all:
		return c.failure()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hear sends a write to what the crowd follows and returns how long it took until
// all had heard of it.
func (c *crowd) hear(ctx context.Context, write []byte) (time.Duration, error) {
	all, start := c.await(), time.Now()
	if err := c.writer.Exchange(write); err != nil {
		return 0, err
	}
	err := c.wait(ctx, all)
	return time.Since(start), err
}

// begun is more than the head of an answer, in bytes.
const begun = 16 << 10

// stall opens n subscriptions whose seed fills the socket, and does not read them
// until release is called, which lets them go.
func (c *crowd) stall(ctx context.Context, n int) (release func(), err error) {
	var conns []net.Conn
	release = func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
	for range n {
		conn, err := c.subscribe(ctx, "/docs/changes?k=2")
		if err != nil {
			release()
			return nil, err
		}
		conns = append(conns, conn)
		// That much says that the server has made the seed and is sending it.
		if _, err := io.ReadFull(conn, make([]byte, begun)); err != nil {
			release()
			return nil, err
		}
	}
	return release, nil
}
