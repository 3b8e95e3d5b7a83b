package router

import (
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/internal/cors"
	"github.com/fenec-go/fenecdb/internal/http1"
)

// ServeHTTP answers one request. The target is forwarded as it came, so a prefix
// that a handler in front has cut off URL.Path is not seen as cut. If an answer breaks
// off half-way it panics with http.ErrAbortHandler, by which a handler ends the client's
// connection.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := &httpSink{w: w, r: r, forwarder: rt.forwarder, cors: rt.cors, stopping: rt.stopping, counters: &rt.metrics, began: ticks()}
	defer s.countNow()
	if err := s.begins(requestID(r)); err != nil {
		s.refuse(err)
		return
	}
	if rt.cors.IsPreflight(r.Method, r.Header.Get("Origin")) {
		s.refuse(preflight)
		return
	}
	d, ours, err := rt.route(r.Context(), s.in)
	if ours {
		rt.serveOwnTo(s)
		return
	}
	s.kind = forTenant
	if err == nil {
		err = s.readBody()
	}
	if err == nil {
		err = rt.forward(s, s.in, &d)
	}
	s.finish(err)
}

// serveOwnTo answers what the router answers itself.
func (rt *Router) serveOwnTo(s *httpSink) {
	path := http1.Segments(s.in.Target)
	s.kind = kindOf(firstOf(path))
	if s.kind == forReplication && rt.streams(s.r) {
		rt.streamTo(s)
		return
	}
	a := newCapture()
	rt.serveOwn(a, s.overheard(), path)
	if rt.noteOwn(s, s.in, s.kind, a) != nil {
		panic(http.ErrAbortHandler)
	}
	if a.private {
		s.cors.Forbid(s.w.Header())
	}
	maps.Copy(s.w.Header(), a.header)
	s.status = a.status
	s.w.WriteHeader(a.status)
	if s.in.Method != http1.HEAD {
		s.w.Write(a.body.Bytes())
	}
}

// overheard returns the request for a handler. What that reads of its body is in s.in.
func (s *httpSink) overheard() *http.Request {
	r := *s.r
	if r.Body != nil {
		r.Body = io.NopCloser(io.TeeReader(r.Body, (*heard)(s.in)))
	}
	return &r
}

// heard keeps what of a request's body was read.
type heard incoming

func (h *heard) Write(p []byte) (int, error) {
	h.body = append(h.body, p...)
	return len(p), nil
}

// Forward answers an HTTP request with what the node answers to it. The target
// goes on as it came; the order of the header lines is lost, as it is in
// http.Header. If the answer breaks off half-way it panics with
// http.ErrAbortHandler, by which a handler ends the client's connection.
func (f *Forwarder) Forward(w http.ResponseWriter, r *http.Request, n Node) {
	s := &httpSink{w: w, r: r, forwarder: f}
	err := s.begins(requestID(r))
	if err == nil {
		err = s.readBody()
	}
	var u *upstream
	if err == nil {
		u, err = s.send(n, s.in.Target)
	}
	if err == nil {
		err = relay(u, n, s.in.Method, s)
	}
	if errors.As(err, new(*NodeError)) {
		err = badGateway(n)
	}
	s.finish(err)
}

// httpSink is the client's side of a request behind an http.ResponseWriter.
type httpSink struct {
	w         http.ResponseWriter
	r         *http.Request
	forwarder *Forwarder
	cors      cors.Policy
	stopping  <-chan struct{} // closed when streams have to end; may be nil
	in        *incoming
	order     order

	status int         // of the answer, 0 before there is one
	stream bool        // every piece is flushed
	late   *lateAnswer // that end sends; nil if there is none

	counters *counters     // nil for none
	began    time.Duration // when the request had come, in ticks
	kind     kind
	tries    []time.Duration // how long nodes took to answer it
}

// lateAnswer is an answer that is not sent before the router has listened to it.
type lateAnswer struct {
	form   form
	header http.Header
	body   []byte
}

// begins reads the head of the request, and begins its answer's.
func (s *httpSink) begins(id []byte) (err error) {
	s.w.Header().Set("X-Request-Id", string(id))
	s.cors.Allow(s.w.Header())
	s.order.ctx = s.r.Context()
	s.in, err = readHead(s.r)
	s.in.id = id
	return err
}

// readHead turns an HTTP request into what came in, but for its body. With an error it
// returns what there is of it.
func readHead(r *http.Request) (*incoming, error) {
	q := &http1.Request{
		Method:  http1.ParseMethod([]byte(r.Method)),
		Target:  targetOf(r),
		Minor:   1,
		Framing: http1.Framing{Length: http1.Unknown},
	}
	in := &incoming{Request: q, remote: r.RemoteAddr, peer: hostOf(r.RemoteAddr), host: r.Host}
	switch {
	case q.Method == 0:
		return in, refusing(http.StatusNotImplemented, "unknown method")
	case !http1.ValidTarget(q.Target):
		return in, refusing(http.StatusBadRequest, "malformed target")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			field := http1.Field{Name: []byte(name), Value: []byte(value)}
			if !field.Valid() {
				return in, refusing(http.StatusBadRequest, "malformed header")
			}
			q.Fields = append(q.Fields, field)
		}
	}
	return in, nil
}

// targetOf returns the target of a request as it came, or as it would go out if
// it came from nowhere.
func targetOf(r *http.Request) []byte {
	if r.RequestURI != "" {
		return []byte(r.RequestURI)
	}
	return []byte(r.URL.RequestURI())
}

// hostOf returns the host of an address, as it is named to a node.
func hostOf(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return "unknown"
	}
	return host
}

// readBody reads the request's body whole.
func (s *httpSink) readBody() error {
	r, most := s.r, s.forwarder.opts.MaxBody
	if r.ContentLength > most {
		return errTooLarge
	}
	if r.Body == nil || r.ContentLength == 0 && r.Header.Get("Content-Length") == "" {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	if err != nil {
		return refusing(http.StatusBadRequest, "the body was cut short")
	}
	if int64(len(body)) > most {
		return errTooLarge
	}
	s.in.body, s.in.Length = body, int64(len(body))
	return nil
}

var errTooLarge = refusing(http.StatusRequestEntityTooLarge, "the body is too large")

func (s *httpSink) send(n Node, target []byte) (*upstream, error) {
	begun := ticks()
	s.order.set(s.in, n, target)
	u, err := s.forwarder.exchange(n, s.forwarder.peer(n.Addr), nil, &s.order)
	switch {
	case err == nil:
		s.tries = append(s.tries, ticks()-begun)
	case s.left():
		err = errAborted // it was not the node's fault
	}
	return u, err
}

// countNow counts the request, if it was answered and has not been counted.
func (s *httpSink) countNow() {
	if s.counters == nil || s.kind == counted {
		return
	}
	s.counters.count(func(t *tally) {
		t.answered(s.kind, s.status, ticks()-s.began)
		for _, took := range s.tries {
			t.forwarded(took)
		}
	})
	s.kind = counted
}

func (s *httpSink) settle() {}

func (s *httpSink) left() bool { return s.r.Context().Err() != nil }

// finish ends the handling of the request. An error other than a refusal ends the
// client's connection.
func (s *httpSink) finish(err error) {
	switch {
	case err == nil:
	case s.status != 0, errors.Is(err, errAborted):
		panic(http.ErrAbortHandler)
	default:
		s.refuse(err)
	}
}

func (s *httpSink) refuse(err error) {
	r := refuse(err)
	s.status = r.status
	r.write(s.w)
}

func (s *httpSink) watch(gone func()) (stop func()) {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-s.r.Context().Done():
			gone()
		case <-s.stopping:
			gone()
		case <-over:
		}
	})
	return func() {
		close(over)
		watching.Wait()
	}
}
