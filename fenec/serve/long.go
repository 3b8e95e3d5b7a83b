package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// rows answers a statement that only reads. A get that may find many rows is
// sent while it is found, in bounded memory.
func (c *call) rows(ctx context.Context, st fenec.Statement, t *traits) Answer {
	if t.get && !t.few && !t.faceted {
		return c.long(ctx, st)
	}
	res, err := c.view.Query(ctx, st.Text, st.Args...)
	if err != nil {
		return Error(err)
	}
	return c.single(res)
}

// long answers a get row by row. Up to whole bytes it is an answer as any other;
// a longer one has no length, and is cut short of its end by what fails after its
// head has gone.
func (c *call) long(ctx context.Context, st fenec.Statement) Answer {
	out := longAnswer{c: c, buf: append(c.out[:0], '[')}
	defer out.end()
	for row, err := range c.view.Rows(ctx, st.Text, st.Args...) {
		if err == nil {
			err = out.row(row)
		}
		if err != nil {
			return out.failed(err)
		}
	}
	return out.done()
}

const (
	// whole is the longest answer that is held until it is complete, in bytes.
	whole = 1 << 20

	// portion is how much of a longer one is sent at a time, in bytes.
	portion = 128 << 10
)

// errHeadSent ends the making of an answer of which only the head was wanted.
var errHeadSent = errors.New("the head has been sent")

// longAnswer is an answer of rows that is being made.
type longAnswer struct {
	c       *call
	buf     []byte // not sent yet
	rows    int
	out     io.Writer // nil until the head has gone
	z       resetWriter
	release func() // gives z back
}

// row adds a row.
func (o *longAnswer) row(row fenec.Row) (err error) {
	if o.rows++; o.rows > 1 {
		o.buf = append(o.buf, ',')
	}
	if o.buf, err = row.AppendJSON(o.buf); err != nil {
		return err
	}
	if len(o.buf) >= whole || o.out != nil && len(o.buf) >= portion {
		return o.flush()
	}
	return nil
}

// done ends the answer.
func (o *longAnswer) done() Answer {
	o.buf = append(o.buf, ']')
	if o.out == nil {
		o.c.out = o.buf
		return Answer{Status: http.StatusOK, Body: o.buf, rows: o.rows}
	}
	err := o.flush()
	if err == nil && o.z != nil {
		err = o.z.Close()
	}
	if err != nil {
		return o.failed(err)
	}
	return Answer{Status: http.StatusOK, rows: o.rows, sent: true}
}

// failed tells of an error, as far as that can still be done.
func (o *longAnswer) failed(err error) Answer {
	if o.out == nil {
		return Error(err)
	}
	if o.c.r.Method == http.MethodHead {
		return Answer{Status: http.StatusOK, sent: true}
	}
	o.c.log(err)
	return Answer{Status: StatusOf(err), sent: true, cut: true}
}

// flush sends what there is.
func (o *longAnswer) flush() error {
	if o.out == nil {
		o.begin()
	}
	if o.c.r.Method == http.MethodHead {
		return errHeadSent
	}
	// Where there are no deadlines, the server's own must do.
	_ = http.NewResponseController(o.c.w).SetWriteDeadline(time.Now().Add(patience))
	_, err := o.out.Write(o.buf)
	o.buf = o.buf[:0]
	return err
}

// begin sends the head.
func (o *longAnswer) begin() {
	h := o.c.w.Header()
	h["Content-Type"] = jsonType
	if o.c.at("query") {
		h["X-Fenecdb-Version"] = versionHeader
	}
	h.Add("Vary", "Accept-Encoding")
	o.out = o.c.w
	if coding := codingFor(o.c.r.Header); coding != plain {
		h["Content-Encoding"] = []string{coding.String()}
		o.z, o.release = coding.compressor(o.c.w)
		o.out = o.z
	}
	o.c.w.WriteHeader(http.StatusOK)
}

func (o *longAnswer) end() {
	if o.release != nil {
		o.release()
	}
}
