package node

import (
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

// watched is a visit whose request a handler of another program answers. It meters what
// goes through the handle, the request's body and the answer, whose writer it is.
type watched struct {
	http.ResponseWriter
	*visit

	req   *http.Request
	began time.Time

	in, waited atomic.Int64 // bytes and nanoseconds
	wrote      atomic.Bool
}

func watch(v *visit, w http.ResponseWriter, req *http.Request) *watched {
	x := &watched{ResponseWriter: w, visit: v, req: req, began: time.Now()}
	raw.Watch(v.handle, x)
	return x
}

// inside returns the request as its handler sees it. The caller's own stays as it is.
func (x *watched) inside(to *url.URL) *http.Request {
	req := x.req.WithContext(tenant.NewContext(x.req.Context(), x.handle))
	req.URL = to
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &body{req.Body, &x.in}
	}
	return req
}

// end ends the visit and counts what the request has cost that was not counted as it came:
// one that streams may last for days.
func (x *watched) end() {
	u := quota.Usage{Requests: 1, CPU: max(0, time.Since(x.began)-time.Duration(x.waited.Load()))}
	if x.wrote.Load() {
		u.BytesWritten = x.in.Load()
	}
	x.account.Add(u)
	x.leave()
}

// Write counts the bytes of the answer.
func (x *watched) Write(b []byte) (int, error) {
	n, err := x.ResponseWriter.Write(b)
	x.account.Add(quota.Usage{BytesRead: int64(n)})
	return n, err
}

// Flush is for handlers that ask for an http.Flusher.
func (x *watched) Flush() { _ = http.NewResponseController(x.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (x *watched) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Subscribes, Read, Wrote and Waited are told of what is done through the handle.
func (x *watched) Subscribes() (end func(), err error) { return x.openStream() }

// Read counts rows.
func (x *watched) Read(rows int) { x.account.Add(quota.Usage{RowsRead: int64(rows)}) }

// Wrote counts rows.
func (x *watched) Wrote(rows int) {
	x.account.Add(quota.Usage{RowsWritten: int64(rows)})
	x.wrote.Store(true)
}

// Waited counts the time in which nothing was done.
func (x *watched) Waited(d time.Duration) { x.waited.Add(int64(d)) }

// body counts the bytes of a request's body.
type body struct {
	io.ReadCloser
	read *atomic.Int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Add(int64(n))
	return n, err
}
