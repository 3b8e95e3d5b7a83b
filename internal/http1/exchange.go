package http1

import (
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
)

// exchange is a request and its answer. Exchanges are pooled, so that an idle
// connection has none.
type exchange struct {
	conn    *serverConn
	head    Request // refers to the connection's buffer, for begin only
	request http.Request
	url     url.URL
	header  http.Header
	values  []string // of header, one for each field
	body    requestBody
	answer  answer
}

var exchanges = sync.Pool{New: func() any {
	return &exchange{header: http.Header{}, answer: answer{header: http.Header{}}}
}}

const (
	// keepFields is the most header lines whose storage is kept for the next
	// request.
	keepFields = 64
	// keepOutput is the largest buffer of an answer that is kept, in bytes.
	keepOutput = 32 << 10
)

// begin makes the request of a head. Nothing refers to head afterwards: what the
// handler gets are pieces of one string.
func (x *exchange) begin(c *serverConn, head []byte) error {
	x.conn = c
	if err := x.head.Parse(head); err != nil {
		return err
	}
	q := &x.head
	x.body.begin(c, q)
	x.answer.begin(c, q, &x.body)
	x.request = *c.newRequest(q.HasBody())
	text := string(head)
	part := func(b []byte) string {
		// What was cut from head ends where head's storage ends.
		from := cap(head) - cap(b)
		return text[from : from+len(b)]
	}
	return x.fill(q, part)
}

// fill fills in the request as package net/http would.
func (x *exchange) fill(q *Request, part func([]byte) string) error {
	r := &x.request
	r.Method = q.Method.String()
	r.RequestURI = part(q.Target)
	if err := parseURL(&x.url, q.Method, r.RequestURI); err != nil {
		return err
	}
	r.URL, r.Header, r.Host, r.Close = &x.url, x.header, x.url.Host, q.Close
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, q.Minor
	if q.Minor == 0 {
		r.Proto = "HTTP/1.0"
	}
	switch {
	case q.Chunked:
		r.ContentLength, r.TransferEncoding, r.Body = Unknown, chunkedCoding, &x.body
	case q.HasBody():
		r.ContentLength, r.Body = q.Length, &x.body
	default:
		r.Body = http.NoBody
	}
	x.addFields(q.Fields, part)
	return nil
}

var chunkedCoding = []string{"chunked"}

// addFields fills in the header. The host, and the coding, are no part of it.
func (x *exchange) addFields(fields []Field, part func([]byte) string) {
	if cap(x.values) < len(fields) {
		x.values = make([]string, 0, max(len(fields), 8))
	}
	for i := range fields {
		f := &fields[i]
		switch {
		case f.Is("host"):
			if x.request.Host == "" {
				x.request.Host = part(f.Value)
			}
			continue
		case f.Is("transfer-encoding"):
			continue
		}
		name := textproto.CanonicalMIMEHeaderKey(part(f.Name))
		if before, ok := x.header[name]; ok {
			x.header[name] = append(before, part(f.Value))
			continue
		}
		n := len(x.values)
		x.values = append(x.values, part(f.Value))
		x.header[name] = x.values[n : n+1 : n+1]
	}
}

// reset makes the exchange fit for the next request and lets go of this one.
func (x *exchange) reset() {
	if cap(x.values) > keepFields || len(x.header) > keepFields || cap(x.head.Fields) > keepFields {
		x.values, x.header, x.head.Fields = nil, http.Header{}, nil
	}
	clear(x.values)
	clear(x.header)
	clear(x.head.Fields)
	x.values, x.conn, x.request, x.url = x.values[:0], nil, http.Request{}, url.URL{}
	x.body = requestBody{}
	x.answer.reset()
}

// parseURL reads the target of a request. A percent sign that begins no sequence
// stands for itself.
func parseURL(u *url.URL, m Method, target string) error {
	path, query, _ := strings.Cut(target, "?")
	if path != "" && path[0] == '/' && all(path, inPath) {
		*u = url.URL{Path: path, RawQuery: query, ForceQuery: query == "" && len(path) < len(target)}
		return nil
	}
	if target == "*" && m == OPTIONS {
		*u = url.URL{Path: "*"}
		return nil
	}
	parsed, err := url.ParseRequestURI(escapeStray(path) + target[len(path):])
	if err != nil || target[0] != '/' && (parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https") {
		return errTarget
	}
	*u = *parsed
	return nil
}

// escapeStray escapes the percent signs of a path that begin no sequence.
func escapeStray(path string) string {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(path, "%")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteByte('%')
		if len(after) < 2 || !isHex(after[0]) || !isHex(after[1]) {
			out.WriteString("25")
		}
		path = after
	}
}
