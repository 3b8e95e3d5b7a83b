package router

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errStalled ends a transfer of which nothing has moved for too long.
var errStalled = errors.New("nothing has come or gone for too long")

// transfer copies the tenant's file from one node to another and returns its length in
// bytes. Not more than a few buffers of it are in memory. It may take as long as it
// likes while it goes on; an error names the node that was at fault.
func (a *admin) transfer(ctx context.Context, from, to Node, tenant string) (int64, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stall := time.AfterFunc(a.timeout, func() { end(errStalled) })
	defer stall.Stop()

	ask, err := newRequest(ctx, from, http.MethodGet, tenantTarget(tenant, "/file"), nil)
	if err != nil {
		return 0, err
	}
	image, err := a.answer(ask, from, http.StatusOK)
	if err != nil {
		return 0, causeOf(ctx, err)
	}
	defer image.Body.Close()
	if image.ContentLength < 0 {
		return 0, &NodeError{Node: from.Name, Err: errors.New("it does not say how long the image is")}
	}
	source := &watchedReader{Reader: image.Body, more: func() { stall.Reset(a.timeout) }}
	give, err := newRequest(ctx, to, http.MethodPut, tenantTarget(tenant, "/file"), source)
	if err != nil {
		return 0, err
	}
	give.ContentLength = image.ContentLength
	give.Header.Set("Content-Type", "application/octet-stream")
	taken, err := a.answer(give, to, http.StatusCreated)
	if source.err != nil {
		err = errors.Join(&NodeError{Node: from.Name, Err: source.err}, closeAnswer(taken))
		return 0, causeOf(ctx, err)
	}
	if err != nil {
		return 0, causeOf(ctx, err)
	}
	return image.ContentLength, closeAnswer(taken)
}

func closeAnswer(resp *http.Response) error {
	if resp == nil {
		return nil
	}
	return resp.Body.Close()
}

// causeOf puts the reason why a transfer was ended in the place of an error of a node that
// says no more than that it was.
func causeOf(ctx context.Context, err error) error {
	var node *NodeError
	if ctx.Err() == nil || !errors.As(err, &node) || node.Status != 0 {
		return err
	}
	if cause := context.Cause(ctx); cause != errStalled {
		return cause
	}
	return &NodeError{Node: node.Node, Err: errStalled}
}

// watchedReader tells that something was read, and keeps what went wrong.
type watchedReader struct {
	io.Reader
	more func()
	err  error
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.more()
	}
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}
