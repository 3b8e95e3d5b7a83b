package router

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/internal/http1"
)

const (
	// streamSilence is how long a router that follows may take to accept a piece of what
	// it is sent.
	streamSilence = 10 * time.Second
	// streamBuffer is how much of a stream is written at once.
	streamBuffer = 64 << 10
)

// stream answers a request for the directory's changes, which come as long as the two
// sides stay connected.
func (c *client) stream(r *http.Request) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := c.watch(cancel)
	defer stop()
	c.wire.limit = min(c.wire.limit, streamSilence)
	w := &outpour{client: c, header: http.Header{}}
	w.buffer = bufio.NewWriterSize(&c.wire, streamBuffer)
	c.private = true
	c.router.source().Serve(w, r.WithContext(ctx), nil)
	return errors.Join(w.FlushError(), errStreamEnded)
}

// errStreamEnded is why a connection ends whose stream has come to its end.
var errStreamEnded = errors.New("router: the stream has ended")

// outpour is an answer that goes out as it is written, and ends with its connection.
type outpour struct {
	client *client
	header http.Header
	begun  bool
	buffer *bufio.Writer
}

func (w *outpour) Header() http.Header { return w.header }

// WriteHeader composes the head, and counts the request: its answer may last for days.
func (w *outpour) WriteHeader(status int) {
	if w.begun {
		return
	}
	w.begun = true
	c := w.client
	c.status, c.streams, c.last = status, true, true
	b := http1.AppendStatusLine(c.out[:0], status, nil)
	for name, values := range w.header {
		for _, value := range values {
			if f := (http1.Field{Name: []byte(name), Value: []byte(value)}); f.Valid() && !ownAnswerField(&f) && !isConnection(&f) {
				b = http1.AppendField(b, f.Name, f.Value)
			}
		}
	}
	c.out = c.endHead(b)
	w.buffer.Write(c.out) // an error of which comes again
	c.out = c.out[:0]
	c.countNow()
}

// Write writes a piece of the answer, which goes out by itself if it is a large one.
func (w *outpour) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.buffer.Write(p)
}

// FlushError sends what was written. http.ResponseController calls it.
func (w *outpour) FlushError() error { return w.buffer.Flush() }

// streamTo is stream behind an http.ResponseWriter.
func (rt *Router) streamTo(s *httpSink) {
	ctx, cancel := context.WithCancel(s.r.Context())
	defer cancel()
	defer s.watch(cancel)()
	s.cors.Forbid(s.w.Header())
	rt.source().Serve(&countedWriter{s.w, s}, s.r.WithContext(ctx), nil)
}

// countedWriter counts an answer when it begins.
type countedWriter struct {
	http.ResponseWriter
	sink *httpSink
}

// Unwrap returns the writer within, for http.ResponseController.
func (w *countedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *countedWriter) WriteHeader(status int) {
	w.sink.status = status
	w.ResponseWriter.WriteHeader(status)
	w.sink.countNow()
}
