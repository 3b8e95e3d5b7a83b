package serve

import (
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// jsonLog writes events as lines of JSON, each in one write. It is safe for
// concurrent use. A nil one is off.
type jsonLog struct {
	mu  sync.Mutex // guards w
	w   io.Writer
	now func() time.Time
}

func newJSONLog(w io.Writer) *jsonLog {
	if w == nil {
		return nil
	}
	return &jsonLog{w: w, now: time.Now}
}

// event is a line that is being made.
type event struct{ line []byte }

// begin begins an event of a request. level is info or warn.
func (l *jsonLog) begin(c *call, name, level string) *event {
	e := &event{append(make([]byte, 0, 512), `{"at":`...)}
	e.line = value.AppendJSONString(e.line, l.now().UTC().Format("2006-01-02T15:04:05.000Z"))
	e.text("event", name)
	e.text("level", level)
	e.text("proto", "http")
	e.text("peer", c.r.RemoteAddr)
	e.text("request_id", requestID(c.w))
	if c.source.Tenant != "" {
		e.text("tenant", c.source.Tenant)
	}
	return e
}

// text adds a member that is a text.
func (e *event) text(name, v string) { e.line = value.AppendJSONString(e.member(name), v) }

func (e *event) bool(name string, v bool) { e.line = strconv.AppendBool(e.member(name), v) }

func (e *event) int(name string, v int) { e.line = strconv.AppendInt(e.member(name), int64(v), 10) }

func (e *event) float(name string, v float64) { e.line = value.AppendJSONFloat(e.member(name), v) }

func (e *event) member(name string) []byte {
	return append(value.AppendJSONString(append(e.line, ','), name), ':')
}

// end writes the event. A log that cannot be written does not stop the server.
func (l *jsonLog) end(e *event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(append(e.line, "}\n"...))
}

// longestLogged is the longest statement that is logged whole, in bytes.
const longestLogged = 1000

// statementText returns what the logs say that a request asked for: method,
// target, and the texts of its statements, with the number of their parameters,
// which are nobody's business.
func (c *call) statementText() string {
	var b strings.Builder
	b.WriteString(c.r.Method + " " + c.r.RequestURI)
	for i, st := range c.statements {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(" " + st.Text)
		if n := len(st.Args); n > 0 {
			b.WriteString(" (" + strconv.Itoa(n) + " parameters)")
		}
		if b.Len() > longestLogged {
			break
		}
	}
	return cut(b.String(), longestLogged)
}

// cut shortens a text at a character's end.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
