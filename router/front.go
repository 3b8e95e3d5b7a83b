package router

import (
	"context"
	"errors"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// lingerTime is how long a connection that was refused is drained, so that
	// the client gets to read why.
	lingerTime = time.Second
	// maxLingering bounds how many connections past the limit are drained at
	// once; more are closed at once.
	maxLingering = 64
	// maxExpress bounds how many clients are served by threads of their own.
	maxExpress = 4
)

// front is the router as a server: its listeners and the clients connected.
type front struct {
	router *Router
	// base is the context of the requests that ServeHTTP answers; it ends when
	// they are cut off.
	base    context.Context
	cut     context.CancelFunc
	express chan struct{} // one element for each client on the express lane
	answers atomic.Uint64 // given so far

	mu        sync.Mutex // guards the fields below
	listeners map[net.Listener]struct{}
	clients   map[*client]struct{}
	lingering int
	closing   bool
	running   sync.WaitGroup // of clients, lingering connections and other parts; Add under mu unless closing
}

func (f *front) init(rt *Router) {
	f.router = rt
	f.base, f.cut = context.WithCancel(context.Background())
	// A client on the express lane keeps a processor of the runtime to itself
	// while it waits, so one is left over.
	f.express = make(chan struct{}, min(maxExpress, runtime.GOMAXPROCS(0)-1))
	f.listeners = make(map[net.Listener]struct{})
	f.clients = make(map[*client]struct{})
}

// serve accepts connections and hands them to admit.
func (f *front) serve(l net.Listener, admit func(net.Conn)) error {
	defer l.Close()
	if !f.listen(l) {
		return ErrClosed
	}
	defer f.unlisten(l)
	for pause := time.Duration(0); ; {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			admit(conn)
		case f.isClosing():
			return ErrClosed
		case !isTemporary(err):
			return err
		default:
			// Out of descriptors, most likely: what is open may close.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			f.router.logf("accept: %v; trying again in %v", err, pause)
			if !f.sleep(pause) {
				return ErrClosed
			}
		}
	}
}

// isTemporary reports whether accepting may work again by itself.
func isTemporary(err error) bool {
	var e interface{ Temporary() bool }
	return errors.As(err, &e) && e.Temporary()
}

// sleep waits for d, or until the clients are cut off.
func (f *front) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-f.base.Done():
		return false
	}
}

func (f *front) listen(l net.Listener) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closing {
		return false
	}
	f.listeners[l] = struct{}{}
	return true
}

func (f *front) unlisten(l net.Listener) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.listeners, l)
}

func (f *front) isClosing() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closing
}

// admit starts to serve a connection, or refuses it.
func (f *front) admit(conn net.Conn) {
	f.admitAs(conn, func(bool) *client { return newClient(f.router, conn) })
}

// admitAs is admit for a client that is made when it is clear whether it is one too
// many.
func (f *front) admitAs(conn net.Conn, client func(tooMany bool) *client) {
	f.mu.Lock()
	defer f.mu.Unlock()
	limit := f.router.opts.MaxConnections
	switch {
	case f.closing:
		conn.Close()
	case limit < 0 || len(f.clients) < limit:
		c := client(false)
		f.clients[c] = struct{}{}
		f.running.Go(c.serve)
	case f.lingering < maxLingering:
		f.lingering++
		c := client(true)
		f.running.Go(func() { f.turnAway(c) })
	default:
		conn.Close()
	}
}

// run runs a part of the front, for which Shutdown waits. It reports false once that
// has begun.
func (f *front) run(part func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closing {
		f.running.Go(part)
	}
	return !f.closing
}

// turnAway answers a connection that is one too many.
func (f *front) turnAway(c *client) {
	c.last, c.began = true, ticks()
	c.refuse(errTooMany)
	c.countNow()
	c.linger()
	c.wire.close()
	f.mu.Lock()
	f.lingering--
	f.mu.Unlock()
	f.router.metrics.count(func(t *tally) { t.add(&c.tally) })
}

// count returns how many clients are served.
func (f *front) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.clients)
}

// leave forgets a client whose connection has ended, but not what it has counted.
func (f *front) leave(c *client) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.clients, c)
	f.router.metrics.count(func(t *tally) { t.add(&c.tally) })
}

// addTalliesLocked adds what the clients have counted that are connected.
func (f *front) addTalliesLocked(total *tally) {
	for c := range f.clients {
		c.states.Lock()
		total.add(&c.tally)
		c.states.Unlock()
	}
}

func (f *front) shutdown(ctx context.Context) error {
	f.mu.Lock()
	f.closing = true
	for l := range f.listeners {
		l.Close()
	}
	for c := range f.clients {
		c.drain()
	}
	f.mu.Unlock()

	done := make(chan struct{})
	go func() { f.running.Wait(); close(done) }()
	select {
	case <-done:
		f.cut()
		return nil
	case <-ctx.Done():
	}
	f.cut()
	f.mu.Lock()
	for c := range f.clients {
		c.abort()
	}
	f.mu.Unlock()
	<-done
	return ctx.Err()
}
