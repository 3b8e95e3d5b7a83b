package serve

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec"
)

const (
	// whole is the longest answer that is held until it is complete, in bytes.
	whole = 1 << 20

	// portion is how much of a longer one is sent at a time, in bytes.
	portion = 128 << 10
)

// errHeadSent ends the making of an answer of which only the head was wanted.
var errHeadSent = errors.New("the head has been sent")

// longAnswer is an answer of rows that is being made. Up to most bytes it is an
// answer as any other; a longer one is sent while it is made. It has no length, and
// is cut short of its end by what fails after its head has gone.
type longAnswer struct {
	c       *call
	head    Answer // what there is to say of it but its rows
	most    int
	buf     []byte // not sent yet
	rows    int
	out     io.Writer // nil until the head has gone
	sent    int64     // bytes, before they are compressed
	sending sending
	z       resetWriter
	release func() // gives z back
}

func (c *call) long(head Answer, most int) longAnswer {
	head.Status, head.Ran = http.StatusOK, c.at("query")
	return longAnswer{c: c, head: head, most: most, buf: append(c.out[:0], '['), sending: sending{c: c}}
}

// rows answers a statement that only reads. A get that may find many rows is sent
// while it is found.
func (c *call) rows(ctx context.Context, st fenec.Statement, t *traits, head Answer, most int) Answer {
	if t.get && !t.few && !t.faceted {
		return c.found(c.view.Rows(ctx, st.Text, st.Args...), c.long(head, most))
	}
	res, err := c.ask(ctx, c.view, st)
	if err != nil {
		return Error(err)
	}
	head.Status = http.StatusOK
	return c.listed(res, head, most)
}

// found answers with rows as they are found.
func (c *call) found(rows iter.Seq2[fenec.Row, error], out longAnswer) Answer {
	defer out.end()
	for row, err := range rows {
		if err == nil {
			err = out.row(row)
		}
		if err != nil {
			return out.failed(err)
		}
	}
	return out.done()
}

// listed answers with a result that is there. Rows are sent one by one, too: their
// JSON may take up far more memory than they do.
func (c *call) listed(res *fenec.Result, head Answer, most int) Answer {
	if !listsRows(res) {
		return c.complete(res, head)
	}
	out := c.long(head, most)
	defer out.end()
	for res.Next() {
		if err := out.row(res.Row()); err != nil {
			return out.failed(err)
		}
	}
	return out.done()
}

// row adds a row.
func (o *longAnswer) row(row fenec.Row) (err error) {
	if o.rows++; o.rows > 1 {
		o.buf = append(o.buf, ',')
	}
	if o.buf, err = row.AppendJSON(o.buf); err != nil {
		return err
	}
	if len(o.buf) >= o.most || o.out != nil && len(o.buf) >= portion {
		return o.flush()
	}
	return nil
}

// done ends the answer.
func (o *longAnswer) done() Answer {
	a := o.head
	a.rows = o.rows
	o.buf = append(o.buf, ']')
	if o.out == nil {
		o.c.out, a.Body = o.buf, o.buf
		return a
	}
	err := o.flush()
	if err == nil && o.z != nil {
		err = o.sending.write(o.z.Close)
	}
	if err != nil {
		return o.failed(err)
	}
	a.sent, a.sentBytes = true, o.sent
	return a
}

// failed tells of an error, as far as that can still be done.
func (o *longAnswer) failed(err error) Answer {
	a := o.head
	switch {
	case o.out == nil && errors.Is(err, errEnded):
		return Fail(http.StatusServiceUnavailable, o.c.use.Why)
	case o.out == nil:
		return Error(err)
	case errors.Is(err, errEnded):
		a.Status, a.cut, a.left = http.StatusServiceUnavailable, true, o.sending.left
	case o.c.r.Method != http.MethodHead:
		o.c.log(err)
		a.Status, a.cut = StatusOf(err), true
	}
	a.sent, a.sentBytes, a.rows = true, o.sent, o.rows
	return a
}

// flush sends what there is.
func (o *longAnswer) flush() error {
	if o.c.mustEnd() {
		return errEnded
	}
	if o.out == nil {
		o.sendHead()
	}
	if o.c.r.Method == http.MethodHead {
		return errHeadSent
	}
	o.sent += int64(len(o.buf))
	err := o.sending.write(func() error {
		_, err := o.out.Write(o.buf)
		return err
	})
	if err == nil {
		o.buf = o.buf[:0]
	}
	return err
}

func (o *longAnswer) sendHead() {
	w := o.c.w
	h := w.Header()
	o.head.describe(h)
	h["Content-Type"] = jsonType
	h.Add("Vary", "Accept-Encoding")
	o.out = inTime{w, stall}
	if coding := codingFor(o.c.r.Header); coding != plain {
		coding.describe(h)
		o.z, o.release = coding.compressor(o.out)
		o.out = o.z
	}
	w.WriteHeader(http.StatusOK)
}

func (o *longAnswer) end() {
	if o.release != nil && o.sending.left == nil {
		o.release()
	}
}
