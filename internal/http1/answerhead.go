package http1

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// compose writes the head's beginning: the status, and the handler's header but
// for what decide writes.
func (a *answer) compose(status int) {
	a.out = appendFields(AppendStatusLine(a.out, status, nil), a.header)
}

// appendFields appends a header, but for what the server writes itself.
func appendFields(dst []byte, h http.Header) []byte {
	for name, values := range h {
		if isManaged(name) || !isToken(name) {
			continue
		}
		for _, v := range values {
			dst = AppendField(dst, name, oneLine(v))
		}
	}
	return dst
}

// isManaged reports whether the server writes the field itself.
func isManaged(name string) bool {
	switch len(name) {
	case len("date"):
		return strings.EqualFold(name, "date")
	case len("connection"):
		return strings.EqualFold(name, "connection")
	case len("content-length"):
		return strings.EqualFold(name, "content-length")
	case len("transfer-encoding"):
		return strings.EqualFold(name, "transfer-encoding")
	}
	return false
}

// oneLine keeps a value from ending its line.
func oneLine(v string) string {
	if all(v, inValue) {
		return v
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, v)
}

// decide ends the head with how the body ends and what becomes of the
// connection. final says that all of the body is there.
func (a *answer) decide(final bool) {
	if a.begun {
		return
	}
	a.begun = true
	a.frame(final)
	a.closes = a.closes || !a.wants || a.conn.isLast() || a.taken.endsConnection()
	a.out = a.appendDate(a.out)
	switch {
	case a.closes:
		a.out = append(a.out, "Connection: close\r\n"...)
	case a.minor == 0:
		a.out = append(a.out, "Connection: keep-alive\r\n"...)
	}
	a.out = AppendEnd(a.out)
}

// frame writes how the body ends.
func (a *answer) frame(final bool) {
	switch {
	case a.status < 200, a.status == http.StatusNoContent:
	case a.length != Unknown:
		a.out = AppendLength(a.out, a.length)
	case a.status == http.StatusNotModified:
	case final && (!a.head || a.written > 0):
		a.out = AppendLength(a.out, a.written)
	case a.head:
	case a.minor == 0:
		a.closes = true
	default:
		a.chunked = true
		a.out = append(a.out, "Transfer-Encoding: chunked\r\n"...)
	}
}

// appendDate appends the handler's date, or the time.
func (a *answer) appendDate(dst []byte) []byte {
	values, ok := a.header["Date"]
	if !ok {
		return a.conn.server.date.append(dst, time.Now())
	}
	for _, v := range values {
		dst = AppendField(dst, "Date", oneLine(v))
	}
	return dst
}

// dateLine keeps the Date field of the current second.
type dateLine struct {
	last atomic.Pointer[dated]
}

type dated struct {
	second int64
	line   []byte
}

func (d *dateLine) append(dst []byte, now time.Time) []byte {
	last := d.last.Load()
	if second := now.Unix(); last == nil || last.second != second {
		last = &dated{second, AppendField(nil, "Date", now.UTC().Format(http.TimeFormat))}
		d.last.Store(last)
	}
	return append(dst, last.line...)
}
