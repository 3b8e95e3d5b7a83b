// Package eventlog writes what a daemon has to tell programs: events of requests, each
// a line of JSON.
//
// Lines are written one at a time and are not synced. A log that cannot be written does
// not stop the daemon.
package eventlog

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"
)

// Log writes events. It is safe for concurrent use. A nil one is off.
type Log struct {
	mu  sync.Mutex // guards w
	w   io.Writer
	now func() time.Time
}

// New returns a log that writes to w; nil without one.
func New(w io.Writer) *Log {
	if w == nil {
		return nil
	}
	return &Log{w: w, now: time.Now}
}

// Origin says which request an event is of.
type Origin struct {
	Peer      string // the client's address
	Via       string // the router's that has forwarded it, "" if none has
	RequestID string
	Tenant    string // "" for nobody in particular
}

// Event is a line that is being made.
type Event struct{ line bytes.Buffer }

// Begin begins an event of a request. level is info or warn.
func (l *Log) Begin(name, level string, o Origin) *Event {
	e := &Event{}
	e.line.WriteString(`{"at":`)
	e.value(l.now().UTC().Format("2006-01-02T15:04:05.000Z"))
	e.Text("event", name)
	e.Text("level", level)
	e.Text("proto", "http")
	e.Text("peer", o.Peer)
	if o.Via != "" {
		e.Text("via", o.Via)
	}
	e.Text("request_id", o.RequestID)
	if o.Tenant != "" {
		e.Text("tenant", o.Tenant)
	}
	return e
}

// Text adds a member that is a text. What of it is no UTF-8 is replaced.
func (e *Event) Text(name, v string) {
	e.member(name)
	e.value(v)
}

// Bool adds a member that is true or false.
func (e *Event) Bool(name string, v bool) {
	e.member(name)
	e.line.WriteString(strconv.FormatBool(v))
}

// Int adds a member that is a whole number.
func (e *Event) Int(name string, v int) {
	e.member(name)
	e.line.WriteString(strconv.Itoa(v))
}

// Float adds a member that is a finite number.
func (e *Event) Float(name string, v float64) {
	e.member(name)
	e.value(v)
}

// Value adds a member that is any value that is known to have a form in JSON.
func (e *Event) Value(name string, v any) {
	e.member(name)
	e.value(v)
}

func (e *Event) member(name string) {
	e.line.WriteByte(',')
	e.value(name)
	e.line.WriteByte(':')
}

// value writes a value that is known to have a form in JSON.
func (e *Event) value(v any) {
	enc := json.NewEncoder(&e.line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("eventlog: " + err.Error())
	}
	e.line.Truncate(e.line.Len() - 1) // the line feed
}

// End writes the event.
func (l *Log) End(e *Event) {
	e.line.WriteString("}\n")
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(e.line.Bytes())
}
