package serve

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/target"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/trace"
	"github.com/fenec-go/fenecdb/internal/cors"
	"github.com/fenec-go/fenecdb/internal/eventlog"
	"github.com/fenec-go/fenecdb/internal/metrics"
	"github.com/fenec-go/fenecdb/internal/refusal"
)

// Server answers requests. It is safe for concurrent use.
type Server struct {
	opts        Options
	cors        cors.Policy
	known       knownStatements
	collections collections
	keys        keyLocks
	turns       turns
	streams     atomic.Int64 // open subscriptions

	statements     metrics.Statements
	shapes         metrics.Shapes
	slowStatements atomic.Uint64
	refusals       atomic.Uint64
	delays         *refusal.Delays
	slow, audit    *eventlog.Log // nil if off
	began          time.Time

	closing context.Context // ends with Close
	close   context.CancelFunc
}

// New returns a server.
func New(opts Options) *Server {
	opts.setDefaults()
	s := &Server{
		opts:   opts,
		cors:   cors.New(opts.AllowOrigin),
		delays: refusal.New(opts.RefusalDelay),
		slow:   eventlog.New(opts.SlowLog),
		audit:  eventlog.New(opts.AuditLog),
		began:  time.Now(),
	}
	s.closing, s.close = context.WithCancel(context.Background())
	return s
}

// Close answers requests that are held and ends subscriptions, so that a server
// whose requests are to finish need not wait for them. Other requests go on.
func (s *Server) Close() error {
	s.close()
	return nil
}

// Handler returns the surface of db.
func (s *Server) Handler(db *fenec.DB) http.Handler {
	source := always(db)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Begin(w, r) {
			s.Serve(w, r, Segments(r.URL), source)
		}
	})
}

// call is one request.
type call struct {
	memory

	server *Server
	w      http.ResponseWriter
	r      *http.Request
	path   []string // pieces of the path within the database's surface
	source Source

	who  identity
	use  *Use // nil until the database is open
	held bool // the use has not been released
	db   *fenec.DB
	view view // db as who sees it

	began      time.Time         // when it arrived
	waited     time.Duration     // how long it was held since
	statements []fenec.Statement // that it asked for, for the logs
	known      *traits           // of the only one, once they are known
	parsed     bool              // pairs are there

	span *trace.Span // nil if it is not traced

	holding context.Context // while it may wait until it writes something; else nil
	claim   *claim          // what it waits for then
	pass    func()          // gives its turn to the next, if it has it
}

// Serve answers a request that Begin has let through, for the database of
// source. path holds the pieces of its path within the database's surface.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, path []string, source Source) {
	if s.health(w, r, path) {
		return
	}
	c := calls.Get().(*call)
	c.server, c.w, c.r, c.path, c.source, c.began = s, w, r, path, source, time.Now()
	c.serve()
	c.release() // not if it panics: who knows what holds on to it
}

// serve answers the request.
func (c *call) serve() {
	if c.isStream() {
		c.stream()
		return
	}
	c.send(c.answer())
}

// send writes the answer, and logs what went wrong on our side.
func (c *call) send(a Answer) {
	c.log(a.Err)
	switch {
	case a.cut:
		if a.left != nil {
			<-a.left // the connection is not free before
		}
		panic(http.ErrAbortHandler) // the client sees that the end is missing
	case !a.sent:
		a.Write(c.w, c.r)
	}
}

// log tells the log of an error of ours.
func (c *call) log(err error) {
	if err != nil && ours(err) {
		c.server.opts.ErrorLog.Printf("%s %s: %v request_id=%s", c.r.Method, c.r.URL.Path, err, requestID(c.w))
	}
}

// Send logs what went wrong on our side and writes the answer.
func (s *Server) Send(w http.ResponseWriter, r *http.Request, a Answer) {
	(&call{server: s, w: w, r: r}).send(a)
}

// queryPairs returns the pairs of the request's query string.
func (c *call) queryPairs() []target.Pair {
	if !c.parsed {
		c.pairs, c.parsed = target.AppendQuery(c.pairs[:0], c.r.URL.RawQuery), true
	}
	return c.pairs
}

// at reports whether the request's path is these pieces.
func (c *call) at(pieces ...string) bool {
	if len(c.path) != len(pieces) {
		return false
	}
	for i, p := range pieces {
		if c.path[i] != p {
			return false
		}
	}
	return true
}

// under reports whether the request's path begins with a piece.
func (c *call) under(first string) bool { return len(c.path) > 0 && c.path[0] == first }

// notFound answers that there is nothing at the request's path.
func (c *call) notFound() Answer { return NotFound(c.r) }
