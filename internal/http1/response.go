package http1

import "bytes"

// Response is the head of a response.
type Response struct {
	Status int
	// Reason is the text behind the status, often empty.
	Reason []byte
	// Minor is the 1 of HTTP/1.1 or the 0 of HTTP/1.0.
	Minor int
	// Fields holds the header lines in their order.
	Fields []Field
	Framing
}

// Parse reads a head as [Reader.Head] returns it. The response refers to head
// afterwards. Every error is an *Error.
func (p *Response) Parse(head []byte) error {
	*p = Response{Fields: p.Fields, Framing: Framing{Length: Unknown}}
	line, rest, err := nextLine(head)
	if err != nil {
		return err
	}
	if err := p.parseLine(line); err != nil {
		return err
	}
	if p.Fields, err = parseFields(p.Fields, &p.Framing, rest); err != nil {
		return err
	}
	return p.finish(p.Minor)
}

// parseLine reads "HTTP/1.x NNN reason".
func (p *Response) parseLine(line []byte) error {
	version, rest, ok := bytes.Cut(line, blank)
	if !ok {
		return errStatusLine
	}
	if p.Minor, ok = parseVersion(version); !ok {
		return errStatusLine
	}
	status, reason, _ := bytes.Cut(rest, blank)
	n, ok := parseLength(status)
	if !ok || len(status) != 3 || n < 100 || !all(reason, inValue) {
		return errStatusLine
	}
	p.Status, p.Reason = int(n), reason
	return nil
}

// Bodyless reports whether the response to a request with the given method has
// no body, whatever its fields say.
func (p *Response) Bodyless(m Method) bool {
	return m == HEAD || p.Status < 200 || p.Status == 204 || p.Status == 304
}
