package router

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"

	"github.com/fenec-go/fenecdb/internal/http1"
)

// serveOwn has the router answer the request itself.
func (c *client) serveOwn() error {
	first, _ := http1.NextSegment(http1.Path(c.request.Target))
	c.kind = kindOf(string(http1.Unescape(nil, first)))
	if err := c.takeBody(maxObject); err != nil {
		return err
	}
	r, err := c.httpRequest()
	if err != nil {
		return refusing(http.StatusBadRequest, "malformed target")
	}
	if c.kind == forReplication && c.router.streams(r) {
		return c.stream(r)
	}
	w := newCapture()
	c.handle(w, r)
	if err := c.router.noteOwn(c, &c.incoming, c.kind, w); err != nil {
		return err
	}
	return c.sendOwn(w)
}

// sendOwn sends an answer that was captured.
func (c *client) sendOwn(w *capture) error {
	c.status, c.private = w.status, w.private
	b := http1.AppendStatusLine(c.out[:0], w.status, nil)
	for name, values := range w.header {
		for _, value := range values {
			if f := (http1.Field{Name: []byte(name), Value: []byte(value)}); f.Valid() && !ownAnswerField(&f) {
				b = http1.AppendField(b, f.Name, f.Value)
			}
		}
	}
	if w.status != http.StatusNoContent {
		b = http1.AppendLength(b, int64(w.body.Len()))
	}
	c.out = c.endHead(b)
	if c.request.Method != http1.HEAD {
		c.out = append(c.out, w.body.Bytes()...)
	}
	return c.flush()
}

// handle calls the handler. That it panics is its answer's end, not the
// router's.
func (c *client) handle(w *capture, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			c.router.logf("%s %s: panic: %v\n%s request_id=%s", r.Method, r.URL.Path, p, debug.Stack(), c.incoming.id)
			*w = *newCapture()
			refusing(http.StatusInternalServerError, "internal error").write(w)
		}
	}()
	c.router.serveOwn(w, r, http1.Segments(c.request.Target))
}

// httpRequest makes an http.Request of the current request.
func (c *client) httpRequest() (*http.Request, error) {
	target := string(c.request.Target)
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, err
	}
	r := &http.Request{
		Method:        c.request.Method.String(),
		URL:           u,
		Proto:         fmt.Sprintf("HTTP/1.%d", c.request.Minor),
		ProtoMajor:    1,
		ProtoMinor:    c.request.Minor,
		Header:        http.Header{},
		Body:          io.NopCloser(bytes.NewReader(c.incoming.body)),
		ContentLength: int64(len(c.incoming.body)),
		RemoteAddr:    c.remote,
		RequestURI:    target,
	}
	for _, f := range c.request.Fields {
		r.Header.Add(string(f.Name), string(f.Value))
	}
	r.Header.Set("X-Request-Id", string(c.incoming.id))
	r.Host = r.Header.Get("Host")
	return r.WithContext(c.router.front.base), nil
}

// capture is an http.ResponseWriter that keeps the answer.
type capture struct {
	header  http.Header
	status  int
	body    bytes.Buffer
	private bool // the answer is not for pages of other origins
	refused bool // the request carried no token that opens its path
	changed changed
}

func newCapture() *capture { return &capture{header: http.Header{}} }

func (w *capture) Header() http.Header { return w.header }

func (w *capture) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *capture) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}
