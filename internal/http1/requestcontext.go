package http1

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// requestContext is the context of a request. It ends with the request, when the
// client goes away, and when the server is closed.
//
// Nothing is made before somebody asks for its end, so that requests whose
// handlers do not ask share one: to look now and then whether it has ended is not
// to ask. What has been asked is not used again: its end is that of one request.
type requestContext struct {
	conn  *serverConn
	asked atomic.Pointer[cancellation]
}

// cancellation is what does the work. A requestContext passes on all that is
// asked of it, by which package context knows it for one of its own and hangs
// contexts on it without a goroutine.
type cancellation struct {
	context.Context
	end context.CancelFunc
}

func (r *requestContext) ask() *cancellation {
	if a := r.asked.Load(); a != nil {
		return a
	}
	ctx, end := context.WithCancel(context.Background())
	a := &cancellation{ctx, end}
	if !r.asked.CompareAndSwap(nil, a) {
		end()
		return r.asked.Load()
	}
	r.conn.hasAsked(r)
	return a
}

// cancel ends the context, now or when it is asked for.
func (r *requestContext) cancel() {
	if r.asked.Load() == nil {
		ctx, end := context.WithCancel(context.Background())
		end()
		if r.asked.CompareAndSwap(nil, &cancellation{ctx, end}) {
			return
		}
	}
	r.asked.Load().end()
}

func (r *requestContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (r *requestContext) Done() <-chan struct{}       { return r.ask().Done() }

// Err asks for the end only when it is called again and again, as by what runs
// long: for a few calls it is enough to see whether the request still runs.
func (r *requestContext) Err() error {
	if a := r.asked.Load(); a != nil {
		return a.Err()
	}
	if r.conn.polled(r) {
		return nil
	}
	return r.ask().Err()
}

func (r *requestContext) Value(key any) any {
	if key == http.LocalAddrContextKey {
		return r.conn.conn.LocalAddr()
	}
	if a := r.asked.Load(); a != nil {
		return a.Value(key)
	}
	return nil
}

// newRequest returns what the next request of the connection starts as.
func (c *serverConn) newRequest(hasBody bool) *http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handled, c.watch.bodyRead = true, !hasBody
	if c.context == nil || c.context.asked.Load() != nil {
		c.context = &requestContext{conn: c}
		c.base = (&http.Request{RemoteAddr: c.remote}).WithContext(c.context)
		if c.gone {
			c.context.cancel()
		}
	}
	return c.base
}

// fewPolls is how often a request may call Err before its client is watched.
const fewPolls = 16

// polled counts a call of Err, and reports whether it is one of the first of a
// request that runs.
func (c *serverConn) polled(r *requestContext) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watch.polls++
	return c.watch.polls <= fewPolls && !c.overLocked(r)
}

// overLocked reports whether the request of a context has ended, or its client
// is gone.
func (c *serverConn) overLocked(r *requestContext) bool {
	return c.context != r || !c.handled || c.gone && !c.given
}

// hasAsked has the client watched for a context that was asked for its end. One
// that was kept beyond its request ends at once.
func (c *serverConn) hasAsked(r *requestContext) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.overLocked(r):
		r.cancel()
	case !c.given:
		c.watchLocked()
	}
}

// endContext ends the context of the request. From now on nobody can have the
// client watched, so the reader is free to read again.
func (c *serverConn) endContext() {
	c.mu.Lock()
	c.handled = false
	c.mu.Unlock()
	if c.context.asked.Load() != nil {
		c.context.cancel()
	}
	c.stopWatch()
}
