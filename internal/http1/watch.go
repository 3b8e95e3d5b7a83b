package http1

import (
	"slices"
	"time"
)

// watchAfter is how long a request runs before its client is watched. Most
// requests are answered sooner, and watching one costs a goroutine.
const watchAfter = 10 * time.Millisecond

const (
	// maxAhead is about how many bytes the watch reads of what follows the
	// request. Behind more than that a client's end is not seen.
	maxAhead = 4 << 10
	// aheadStep is the least room that is made for them at once.
	aheadStep = 512
)

// watch is how the end of a client is seen while its request is answered: the
// connection is read, once the request's body has been read and the request has
// run for a moment. What does come belongs to the next request and is kept for
// it.
//
// The watch runs beside the handler, so it leaves the connection's reader alone.
//
// Its fields are guarded by serverConn.mu.
type watch struct {
	wanted   bool          // somebody has asked for the request's context
	polls    int           // how often somebody has only looked whether it is over
	bodyRead bool          // what comes next is not the request's
	timer    *time.Timer   // calls run; nil before the first use
	running  chan struct{} // closed when the read that runs has ended; nil if none does
	stopping bool          // the read is to end
}

// startLocked starts the time until the client is watched, if it is wanted.
func (w *watch) startLocked(run func()) {
	switch {
	case !w.wanted || !w.bodyRead:
	case w.timer == nil:
		w.timer = time.AfterFunc(watchAfter, run)
	default:
		w.timer.Reset(watchAfter)
	}
}

// watchLocked has the client watched soon.
func (c *serverConn) watchLocked() {
	c.watch.wanted = true
	c.watch.startLocked(c.watchClient)
}

// bodyRead notes that the request's body has been read.
func (c *serverConn) bodyRead() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watch.bodyRead = true
	c.watch.startLocked(c.watchClient)
}

// watchClient reads until the client is gone or has sent too much, or the watch
// is stopped. The timer calls it, maybe for a request that has ended by now; the
// one that runs then is as good.
func (c *serverConn) watchClient() {
	c.mu.Lock()
	w := &c.watch
	if !w.wanted || !w.bodyRead || w.running != nil || c.gone {
		c.mu.Unlock()
		return
	}
	done := make(chan struct{})
	w.running = done
	c.conn.SetReadDeadline(time.Time{})
	c.mu.Unlock()
	defer close(done)

	err := c.readAhead()

	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && !w.stopping {
		c.context.cancel()
	}
}

// readAhead adds to ahead what comes until the connection fails, or there is too
// much.
func (c *serverConn) readAhead() error {
	if len(c.ahead) == 0 {
		c.ahead = c.first[:0]
	}
	for len(c.ahead) < maxAhead {
		if len(c.ahead) == cap(c.ahead) {
			c.ahead = slices.Grow(c.ahead, aheadStep)
		}
		n, err := c.conn.Read(c.ahead[len(c.ahead):cap(c.ahead)])
		c.ahead = c.ahead[:len(c.ahead)+n]
		if err != nil {
			return err
		}
	}
	return nil
}

// takeAhead moves bytes that the watch has read to p.
func (c *serverConn) takeAhead(p []byte) int {
	n := copy(p, c.ahead)
	if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
		c.ahead = nil
	}
	return n
}

// stopWatch ends the watch and waits for it.
func (c *serverConn) stopWatch() {
	c.mu.Lock()
	w := &c.watch
	running := w.running
	if w.wanted && w.timer != nil {
		w.timer.Stop()
	}
	w.wanted, w.polls, w.bodyRead, w.running = false, 0, false, nil
	if running != nil {
		w.stopping = true
		c.conn.SetReadDeadline(longAgo)
	}
	c.mu.Unlock()
	if running == nil {
		return
	}
	<-running
	c.mu.Lock()
	defer c.mu.Unlock()
	w.stopping = false
	// Whatever is set is not what is noted.
	c.reading.until = time.Time{}
	c.conn.SetReadDeadline(time.Time{})
}
