package router

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// client serves one connection of a client. All of it runs on one goroutine, but
// for drain and abort.
//
// Lock order: front.mu, client.states, wire.mu.
type client struct {
	wire   wire
	router *Router
	remote string // the client's address
	in     *http1.Reader
	chunks http1.ChunkedReader
	open   func() bool // what comes before the first request, and whether one comes; may be nil
	out    []byte      // an answer on its way
	body   []byte      // of the current request

	request  http1.Request
	incoming incoming
	order    order
	random   rand.PCG            // of the ids made here
	made     [madeRequestID]byte // the request's id if it was made here
	last     bool                // the connection ends with the current answer
	unread   bool                // a part of the request is left unread
	lane     lane

	// Of the current answer.
	status  int
	chunked bool // it goes out in chunks
	streams bool // it ends with its connection
	private bool // it is not for pages of other origins

	// Of the current request.
	began time.Duration // when its head had come, in ticks
	ended time.Duration // when it was answered
	late  bool          // something took time since it began
	kind  kind
	tries []time.Duration // how long nodes took to answer it

	states   sync.Mutex // guards the fields below
	idle     bool       // no request has come whole
	tally    tally      // of the requests before the current one
	cut      func()     // ends the answer that is streamed; nil if there is none
	asked    *upstream  // the connection to a node used last
	aborted  bool
	draining atomic.Bool // set under states
}

func newClient(rt *Router, conn net.Conn) *client {
	c := &client{router: rt, remote: conn.RemoteAddr().String(), idle: true}
	c.random.Seed(rand.Uint64(), rand.Uint64())
	c.wire.init(conn, rt.opts.IdleTimeout)
	c.wire.wentBack = c.leaveLane
	c.in = http1.NewReader(&c.wire)
	c.order.ctx, c.order.using = rt.front.base, c.use
	c.incoming = incoming{Request: &c.request, remote: c.remote, peer: hostOf(c.remote)}
	return c
}

// serve answers requests until the connection ends. A panic ends this connection
// only.
func (c *client) serve() {
	defer c.router.front.leave(c)
	defer c.wire.close()
	defer c.leaveLane()
	defer func() {
		if p := recover(); p != nil {
			c.router.logf("panic: %v\n%s request_id=%s", p, debug.Stack(), c.incoming.id)
		}
	}()
	if c.open != nil && !c.open() {
		return
	}
	for c.next() {
	}
}

// next answers one request and reports whether the connection goes on.
func (c *client) next() bool {
	c.incoming.id, c.incoming.body = nil, nil
	c.last, c.unread = true, true
	c.status, c.streams, c.private = 0, false, false
	c.kind, c.tries = forOther, c.tries[:0]
	head, err := c.in.Head()
	c.setBusy()
	c.began = ticks()
	if err != nil {
		c.request.Method = 0 // not the one before
		c.refuseHead(err)
		c.countNow()
		return false
	}
	c.noteRequest()
	if err := c.request.Parse(head); err != nil {
		c.refuse(refuse(err))
		c.countNow()
		c.linger()
		return false
	}
	c.last, c.unread = c.request.Close, c.request.HasBody()
	c.late = c.unread
	c.identify()
	return c.after(c.answer())
}

// answer answers the current request.
func (c *client) answer() error {
	if c.isPreflight() {
		return c.skipBody(preflight)
	}
	d, ours, err := c.router.route(c.router.front.base, &c.incoming)
	switch {
	case ours:
		return c.serveOwn()
	case err == nil:
		c.kind = forTenant
		return c.forward(&d)
	}
	c.kind = forTenant
	return c.skipBody(refuse(err))
}

// isPreflight reports whether a browser asks whether a page may make a request.
func (c *client) isPreflight() bool {
	if c.request.Method != http1.OPTIONS || !c.router.cors.On() {
		return false
	}
	origin, _ := http1.Find(c.request.Fields, "origin")
	return c.router.cors.IsPreflight(http.MethodOptions, string(origin))
}

// after ends the handling of a request and reports whether the connection goes
// on. An error other than a refusal ends it.
func (c *client) after(err error) bool {
	if err != nil && !c.refused(err) {
		c.countNow()
		return false
	}
	if !c.setIdle() || c.last {
		if c.unread {
			c.linger()
		}
		return false
	}
	c.shrink()
	c.noteAnswer()
	return true
}

// refused answers if the error is a refusal, and reports whether the client was
// told.
func (c *client) refused(err error) bool {
	var r *refusal
	return errors.As(err, &r) && c.refuse(r) == nil
}

// refuseHead answers when no head could be read. A client that is silent between
// requests gets no answer, as it would take it for the one to its next request.
func (c *client) refuseHead(err error) {
	begun := c.in.Buffered() > 0
	switch {
	case errors.As(err, new(*http1.Error)):
		c.refuse(refuse(err))
		c.linger()
	case errors.Is(err, http1.ErrCutShort):
		c.refuse(refusing(http.StatusBadRequest, "the header was cut short"))
	case isTimeout(err) && begun && !c.draining.Load():
		c.refuse(refusing(http.StatusRequestTimeout, "the header did not come in time"))
		c.linger()
	}
}

// identify keeps the request's id or makes one.
func (c *client) identify() {
	if id, ok := http1.Find(c.request.Fields, "x-request-id"); ok && usableID(id) {
		c.incoming.id = id
		return
	}
	c.makeID()
}

func (c *client) makeID() { c.incoming.id = appendID(c.made[:0], c.random.Uint64()) }

// forward passes the request on to the tenant's node and the answer back.
func (c *client) forward(d *destination) error {
	if err := c.takeBody(c.router.opts.MaxBody); err != nil {
		return err
	}
	return c.router.forward(c, &c.incoming, d)
}

// send sends the current request to the node, and notes how long that takes to answer.
func (c *client) send(n Node, target []byte) (*upstream, error) {
	begun := c.began
	if c.late {
		begun = ticks()
	}
	c.late = true
	c.order.set(&c.incoming, n, target)
	u, err := c.exchange(n)
	if err == nil {
		c.tries = append(c.tries, ticks()-begun)
	}
	return u, err
}

// settle leaves the express lane, for a wait.
func (c *client) settle() {
	c.late = true
	c.leaveLane()
}

// left reports whether the client has gone away.
func (c *client) left() bool { return c.wire.ended() }

// countLocked counts the current request, if it was answered and has not been counted.
func (c *client) countLocked() {
	if c.kind == counted {
		return
	}
	c.ended = ticks()
	c.tally.answered(c.kind, c.status, c.ended-c.began)
	for _, took := range c.tries {
		c.tally.forwarded(took)
	}
	c.kind = counted
}

// countNow counts the current request before it has come to its end, or if no other
// follows.
func (c *client) countNow() {
	c.states.Lock()
	defer c.states.Unlock()
	c.countLocked()
}

// shrink lets go of buffers that only a large request needs.
func (c *client) shrink() {
	if cap(c.out) > keepScratch {
		c.out = nil
	}
	if cap(c.body) > keepScratch {
		c.body = nil
	}
}

// setBusy notes that a request is being answered.
func (c *client) setBusy() {
	c.states.Lock()
	defer c.states.Unlock()
	c.idle = false
	c.wire.resume()
}

// setIdle notes that the request is answered and the next one waited for, and reports
// false when there will be none.
func (c *client) setIdle() bool {
	c.states.Lock()
	defer c.states.Unlock()
	c.countLocked()
	c.idle = true
	return !c.draining.Load()
}

// drain ends the connection once the request that runs is answered. A stream
// ends at once.
func (c *client) drain() {
	c.states.Lock()
	defer c.states.Unlock()
	c.draining.Store(true)
	if c.idle {
		c.wire.interrupt()
	}
	if c.cut != nil {
		c.cut()
	}
}

// use notes the connection that waits for a node.
func (c *client) use(u *upstream) {
	c.states.Lock()
	defer c.states.Unlock()
	c.asked = u
	if c.aborted {
		u.abort()
	}
}

// abort ends the connection, whatever is going on. It may also end one to a node
// that others use again, so it is for when everything ends.
func (c *client) abort() {
	c.states.Lock()
	defer c.states.Unlock()
	c.aborted = true
	c.wire.abort()
	if c.asked != nil {
		c.asked.abort()
	}
}

// linger waits for the client to take the last answer, as closing a connection
// on which something unread has arrived would take the answer away.
func (c *client) linger() { c.wire.closeGently(lingerTime) }
