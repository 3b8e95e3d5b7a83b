package router

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"

	"github.com/fenec-go/fenecdb/internal/http1"
)

func (s *httpSink) whole(a *http1.Response, f form, body []byte) error {
	if saysMore(a.Status) {
		s.late = &lateAnswer{f, http.Header{}, bytes.Clone(body)}
		s.setHead(s.late.header, a, f, len(body))
		s.status = a.Status
		return nil
	}
	s.setHead(s.w.Header(), a, f, len(body))
	return s.put(a.Status, f, body)
}

// drop forgets an answer that is late.
func (s *httpSink) drop() { s.late, s.status = nil, 0 }

func (s *httpSink) end() error {
	late := s.late
	if late == nil {
		return nil
	}
	s.late = nil
	for name, values := range late.header {
		s.w.Header()[name] = append(s.w.Header()[name], values...)
	}
	return s.put(s.status, late.form, late.body)
}

// put sends an answer whose header is set.
func (s *httpSink) put(status int, f form, body []byte) error {
	s.status = status
	s.w.WriteHeader(status)
	if f == formEmpty {
		return nil
	}
	_, err := s.w.Write(body)
	return err
}

func (s *httpSink) begin(a *http1.Response, f form) error {
	if f == formStream {
		s.cors.AllowStream(s.w.Header())
	}
	s.setHead(s.w.Header(), a, f, 0)
	s.stream = f != formLong
	s.status = a.Status
	s.w.WriteHeader(a.Status)
	if f == formStream {
		s.countNow() // it may last for days
	}
	return s.flush()
}

// setHead takes over the answer's header lines, and says how long its body is.
func (s *httpSink) setHead(h http.Header, a *http1.Response, f form, n int) {
	hop := newHop(a.Fields)
	for i := range a.Fields {
		if f := &a.Fields[i]; !hop.ends(f) && !ownAnswerField(f) && !s.cors.Replaces(f) {
			h.Add(string(f.Name), string(f.Value))
		}
	}
	switch {
	case f == formWhole:
		h.Set("Content-Length", strconv.Itoa(n))
	case f == formStream:
		h.Set("Connection", "close")
	case a.Length != http1.Unknown && a.Status != http.StatusNoContent:
		h.Set("Content-Length", strconv.FormatInt(a.Length, 10))
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
