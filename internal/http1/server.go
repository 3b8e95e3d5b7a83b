package http1

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// lingerTime is how long a connection that was refused is drained, so that
	// the client gets to read why.
	lingerTime = time.Second
	// maxLingering bounds how many connections past the limit are treated like
	// that at once; more are answered and closed at once.
	maxLingering = 64
	// leavingTime is how long a connection that is one too many may wait for
	// another to end before it is refused: a client that closes one connection
	// and opens the next does not know which of the two is seen first.
	leavingTime = 10 * time.Millisecond
)

// ServerOptions are the limits of a server. The zero value has none.
type ServerOptions struct {
	// MaxConnections is how many connections may be open at once. One more is
	// answered 503 and closed. 0 is no limit.
	MaxConnections int

	// IdleTimeout is how long a client may be silent, and how long it may take
	// to accept 64 KiB of an answer; up to a quarter more passes unnoticed. A
	// request's head must come whole within it. A handler that sets a deadline
	// of its own replaces it until the request ends. 0 is no limit.
	IdleTimeout time.Duration

	// MaxBody is how many bytes of a body a handler can read. Past them Read
	// fails with an *http.MaxBytesError. 0 is no limit.
	MaxBody int64

	// RefusalHeader is added to the answers that the server gives by itself: to
	// what cannot be read or does not come, to connections past the limit, and
	// behind a panic. It is not changed while the server runs.
	RefusalHeader http.Header

	// ErrorLog is told of panics and of failures to accept. nil is the standard
	// logger of package log.
	ErrorLog *log.Logger
}

// Server serves an http.Handler over HTTP/1.1. Its methods are safe for
// concurrent use.
type Server struct {
	handler http.Handler
	opts    ServerOptions
	date    dateLine
	left    chan struct{} // holds a token after a connection has left the count
	stop    chan struct{} // closed when closing begins

	mu        sync.Mutex // guards the fields below; taken before a connection's mu
	listeners map[net.Listener]struct{}
	conns     map[*serverConn]struct{}
	counted   int // of conns, those that MaxConnections concerns
	lingering int // of conns, those that are being turned away
	closing   bool
	running   sync.WaitGroup // one for each of conns; Add under mu unless closing
}

// NewServer returns a server of h.
func NewServer(h http.Handler, opts ServerOptions) *Server {
	if opts.ErrorLog == nil {
		opts.ErrorLog = log.Default()
	}
	return &Server{
		handler:   h,
		opts:      opts,
		left:      make(chan struct{}, 1),
		stop:      make(chan struct{}),
		listeners: map[net.Listener]struct{}{},
		conns:     map[*serverConn]struct{}{},
	}
}

// Serve accepts connections until Shutdown or Close and returns
// http.ErrServerClosed then, or the listener's error. It closes the listener. It
// may be called for several.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if !s.listen(l) {
		return http.ErrServerClosed
	}
	defer s.unlisten(l)
	for pause := time.Duration(0); ; {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.admit(conn)
		case s.isClosing():
			return http.ErrServerClosed
		case !isTemporary(err):
			return err
		default:
			// Out of descriptors, most likely: what is open may close.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.opts.ErrorLog.Printf("accept: %v; trying again in %v", err, pause)
			s.sleep(pause)
		}
	}
}

// Shutdown closes the listeners and the idle connections, ends the contexts of
// detached requests, and waits for the requests that run. When ctx ends first it
// returns its error; what runs still runs then, and Close ends it. Hijacked
// connections are nobody's concern here.
func (s *Server) Shutdown(ctx context.Context) error {
	s.end((*serverConn).drain)
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close closes the listeners and all connections, ends the contexts of all
// requests and waits until their handlers have returned. It returns nil.
func (s *Server) Close() error {
	s.end((*serverConn).abort)
	s.running.Wait()
	return nil
}

// ConnCount returns how many connections are open, without those that are
// detached, hijacked or being turned away.
func (s *Server) ConnCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counted
}

// end stops accepting and ends each connection in the given way.
func (s *Server) end(conn func(*serverConn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.closing = true
		close(s.stop)
	}
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.conns {
		conn(c)
	}
}

func (s *Server) listen(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.listeners[l] = struct{}{}
	}
	return !s.closing
}

func (s *Server) unlisten(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

func (s *Server) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// isTemporary reports whether accepting may work again by itself.
func isTemporary(err error) bool {
	var e interface{ Temporary() bool }
	return errors.As(err, &e) && e.Temporary()
}

// sleep waits for d, or until closing begins.
func (s *Server) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.stop:
	}
}
