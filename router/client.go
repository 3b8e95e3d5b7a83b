package router

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"

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
	out    []byte // an answer on its way
	body   []byte // of the current request

	request  http1.Request
	incoming incoming
	order    order
	random   rand.PCG            // of the ids made here
	made     [madeRequestID]byte // the request's id if it was made here
	last     bool                // the connection ends with the current answer
	unread   bool                // a part of the request is left unread
	chunked  bool                // the current answer goes out in chunks
	lane     lane

	states   sync.Mutex // guards the fields below
	idle     bool       // no request has come whole
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
	c.incoming = incoming{Request: &c.request, peer: hostOf(c.remote)}
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
	for c.next() {
	}
}

// next answers one request and reports whether the connection goes on.
func (c *client) next() bool {
	c.incoming.id, c.incoming.body = nil, nil
	c.last, c.unread = true, true
	head, err := c.in.Head()
	c.setBusy()
	if err != nil {
		c.request.Method = 0 // not the one before
		c.refuseHead(err)
		return false
	}
	c.noteRequest()
	if err := c.request.Parse(head); err != nil {
		c.refuse(refuse(err))
		c.linger()
		return false
	}
	c.last, c.unread = c.request.Close, c.request.HasBody()
	c.identify()
	if tenant, ok := tenantOf(c.request.Target); ok {
		err = c.forward(tenant)
	} else {
		err = c.serveOwn()
	}
	return c.after(err)
}

// after ends the handling of a request and reports whether the connection goes
// on. An error other than a refusal ends it.
func (c *client) after(err error) bool {
	if err != nil && !c.refused(err) {
		return false
	}
	if c.last || !c.setIdle() {
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
func (c *client) forward(tenant []byte) error {
	n, err := c.router.locate(tenant)
	if err != nil {
		return c.skipBody(refuse(err))
	}
	if err := c.takeBody(c.router.opts.MaxBody); err != nil {
		return err
	}
	c.order.set(&c.incoming, n)
	u, err := c.exchange(n)
	if err == nil {
		err = relay(u, n, c.request.Method, c)
	}
	if err != nil && errors.As(err, new(*NodeError)) {
		return badGateway(n)
	}
	return err
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

// setIdle notes that the next request is waited for, and reports false when
// there will be none.
func (c *client) setIdle() bool {
	c.states.Lock()
	defer c.states.Unlock()
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
