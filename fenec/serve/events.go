package serve

import (
	"net/http"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/internal/http1"
)

// eventWriter writes server-sent events (WHATWG HTML, section 9.2).
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	buf     []byte
}

// newEventWriter sends the head of a stream.
func (c *call) newEventWriter() *eventWriter {
	h := c.w.Header()
	c.server.cors.AllowStream(h)
	h["Content-Type"] = []string{"text/event-stream"}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	endConnection(c.w, c.r)
	h["X-Accel-Buffering"] = []string{"no"}
	c.w.WriteHeader(http.StatusOK)
	http1.Detach(c.w)
	control := http.NewResponseController(c.w)
	_ = control.Flush() // a client may wait for the head before it writes what it hopes to hear of
	return &eventWriter{w: c.w, control: control}
}

// event sends a seed or a change, and returns how many bytes that took.
func (o *eventWriter) event(ev *fenec.Event) (int, error) {
	name := "event: change\ndata: "
	if ev.Kind == fenec.EventSeed {
		name = "event: seed\ndata: "
	}
	b, err := ev.AppendJSON(append(o.buf[:0], name...))
	if err != nil {
		return 0, err
	}
	b = append(b, "\n\n"...)
	return len(b), o.flush(b)
}

// comment sends a line that clients pass over.
func (o *eventWriter) comment(text string) error {
	return o.flush(append(append(append(o.buf[:0], ": "...), text...), "\n\n"...))
}

// failure sends the last event. status is 0 for none to be told.
func (o *eventWriter) failure(message string, status int) {
	b := value.AppendJSONString(append(o.buf[:0], "event: error\ndata: {\"error\":"...), message)
	if status != 0 {
		b = strconv.AppendInt(append(b, `,"status":`...), int64(status), 10)
	}
	_ = o.flush(append(b, "}\n\n"...)) // it ends in any case
}

// largestKept is how much memory a stream keeps between events, in bytes.
const largestKept = 4 << 10

// flush sends b, in the time a client may take to accept it.
func (o *eventWriter) flush(b []byte) error {
	if o.buf = b; cap(b) > largestKept {
		o.buf = nil
	}
	defer within(o.control, stall)()
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.control.Flush()
}
