package http1

import "bytes"

// Method is one of the methods that are served.
type Method uint8

// The methods. Any other is answered 501.
const (
	GET Method = iota + 1
	HEAD
	POST
	PUT
	PATCH
	DELETE
	OPTIONS
)

var methodNames = [...]string{GET: "GET", HEAD: "HEAD", POST: "POST", PUT: "PUT", PATCH: "PATCH", DELETE: "DELETE", OPTIONS: "OPTIONS"}

// Safe reports whether a request of the method changes nothing (RFC 9110, 9.2.1).
func (m Method) Safe() bool { return m == GET || m == HEAD || m == OPTIONS }

func (m Method) String() string {
	if int(m) < len(methodNames) {
		return methodNames[m]
	}
	return ""
}

// ParseMethod returns the method of the given name, or 0.
func ParseMethod(name []byte) Method {
	for m := GET; int(m) < len(methodNames); m++ {
		if string(name) == methodNames[m] {
			return m
		}
	}
	return 0
}

// Request is the head of a request.
type Request struct {
	Method Method
	// Target is what stands in the request line, untouched.
	Target []byte
	// Minor is the 1 of HTTP/1.1 or the 0 of HTTP/1.0.
	Minor int
	// Fields holds the header lines in their order.
	Fields []Field
	// Expect tells that the client waits for 100 Continue before it sends
	// its body.
	Expect bool
	Framing
}

// HasBody reports whether bytes follow the head.
func (q *Request) HasBody() bool { return q.Chunked || q.Length > 0 }

// Parse reads a head as [Reader.Head] returns it. The request refers to head
// afterwards. Every error is an *Error.
func (q *Request) Parse(head []byte) error {
	*q = Request{Fields: q.Fields, Framing: Framing{Length: Unknown}}
	line, rest, err := nextLine(head)
	if err != nil {
		return err
	}
	if err := q.parseLine(line); err != nil {
		return err
	}
	if q.Fields, err = parseFields(q.Fields, &q.Framing, rest); err != nil {
		return err
	}
	if err := q.finish(q.Minor); err != nil {
		return err
	}
	if q.Minor == 1 && !q.hosted {
		return errNoHost
	}
	expect, _ := Find(q.Fields, "expect")
	q.Expect = q.Minor == 1 && EqualFold(expect, "100-continue")
	return nil
}

// parseLine reads "METHOD target HTTP/1.x", with one blank between the parts.
func (q *Request) parseLine(line []byte) error {
	method, rest, ok := bytes.Cut(line, blank)
	if !ok || !isToken(method) {
		return errRequestLine
	}
	target, version, ok := bytes.Cut(rest, blank)
	if !ok || !ValidTarget(target) {
		return errRequestLine
	}
	if q.Minor, ok = parseVersion(version); !ok {
		return errRequestLine
	}
	if q.Method = ParseMethod(method); q.Method == 0 {
		return errMethod
	}
	q.Target = target
	return nil
}

var blank = []byte{' '}
