package router

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// Forward answers an HTTP request with what the node answers to it. The target
// goes on as it came; the order of the header lines is lost, as it is in
// http.Header. If the answer breaks off half-way it panics with
// http.ErrAbortHandler, by which a handler ends the client's connection.
func (f *Forwarder) Forward(w http.ResponseWriter, r *http.Request, n Node) {
	f.forward(w, r, n, requestID(r))
}

func (f *Forwarder) forward(w http.ResponseWriter, r *http.Request, n Node, id []byte) {
	w.Header().Set("X-Request-Id", string(id))
	o := order{ctx: r.Context()}
	in, err := f.read(r)
	if err != nil {
		refuse(err).write(w)
		return
	}
	in.id = id
	o.set(in, n)
	u, err := f.exchange(n, f.peer(n.Addr), nil, &o)
	if err == nil {
		err = relay(u, n, in.Method, &httpSink{w: w, r: r})
	}
	var node *NodeError
	switch {
	case err == nil:
	case errors.As(err, &node):
		badGateway(n).write(w)
	default:
		panic(http.ErrAbortHandler)
	}
}

// read turns an HTTP request into what came in, its body included.
func (f *Forwarder) read(r *http.Request) (*incoming, error) {
	q := &http1.Request{
		Method:  http1.ParseMethod([]byte(r.Method)),
		Target:  targetOf(r),
		Minor:   1,
		Framing: http1.Framing{Length: http1.Unknown},
	}
	switch {
	case q.Method == 0:
		return nil, refusing(http.StatusNotImplemented, "unknown method")
	case !http1.ValidTarget(q.Target):
		return nil, refusing(http.StatusBadRequest, "malformed target")
	case r.ContentLength > f.opts.MaxBody:
		return nil, errTooLarge
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			field := http1.Field{Name: []byte(name), Value: []byte(value)}
			if !field.Valid() {
				return nil, refusing(http.StatusBadRequest, "malformed header")
			}
			q.Fields = append(q.Fields, field)
		}
	}
	in := &incoming{Request: q, peer: hostOf(r.RemoteAddr)}
	if r.Body == nil || r.ContentLength == 0 && r.Header.Get("Content-Length") == "" {
		return in, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, f.opts.MaxBody+1))
	if err != nil {
		return nil, refusing(http.StatusBadRequest, "the body was cut short")
	}
	if int64(len(body)) > f.opts.MaxBody {
		return nil, errTooLarge
	}
	in.body, in.Length = body, int64(len(body))
	return in, nil
}

var errTooLarge = refusing(http.StatusRequestEntityTooLarge, "the body is too large")

// hostOf returns the host of an address, as it is named to a node.
func hostOf(addr string) string {
	host, _, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return "unknown"
	}
	return host
}

// httpSink is the client's side of an answer behind an http.ResponseWriter.
type httpSink struct {
	w      http.ResponseWriter
	r      *http.Request
	stream bool // every piece is flushed
}

func (s *httpSink) whole(a *http1.Response, f form, body []byte) error {
	s.head(a)
	switch {
	case f == formWhole:
		s.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	case a.Length != http1.Unknown && a.Status != http.StatusNoContent:
		s.w.Header().Set("Content-Length", strconv.FormatInt(a.Length, 10))
	}
	s.w.WriteHeader(a.Status)
	if f == formEmpty {
		return nil
	}
	_, err := s.w.Write(body)
	return err
}

func (s *httpSink) begin(a *http1.Response, f form) error {
	s.head(a)
	switch f {
	case formLong:
		s.w.Header().Set("Content-Length", strconv.FormatInt(a.Length, 10))
	case formStream:
		s.w.Header().Set("Connection", "close")
	}
	s.stream = f != formLong
	s.w.WriteHeader(a.Status)
	return s.flush()
}

// head takes over the answer's header lines.
func (s *httpSink) head(a *http1.Response) {
	hop := newHop(a.Fields)
	for i := range a.Fields {
		if f := &a.Fields[i]; !hop.ends(f) && !ownAnswerField(f) {
			s.w.Header().Add(string(f.Name), string(f.Value))
		}
	}
}

func (s *httpSink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err == nil {
		err = s.flush()
	}
	return n, err
}

func (s *httpSink) flush() error {
	if !s.stream {
		return nil
	}
	err := http.NewResponseController(s.w).Flush()
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

func (s *httpSink) end() error { return nil }

func (s *httpSink) watch(gone func()) (stop func()) {
	var running sync.WaitGroup
	running.Add(1)
	cancel := context.AfterFunc(s.r.Context(), func() {
		defer running.Done()
		gone()
	})
	return func() {
		if !cancel() {
			running.Wait()
		}
	}
}
