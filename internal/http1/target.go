package http1

import (
	"bytes"
	"unicode/utf8"
)

// ValidTarget reports whether a target can stand in a request line.
func ValidTarget(target []byte) bool { return len(target) > 0 && all(target, inTarget) }

// Path returns the path of a request target: what stands before the first
// question mark, without the scheme and the host of the absolute form. Nothing
// is decoded.
func Path(target []byte) []byte {
	if len(target) > 0 && target[0] != '/' {
		target = cutOrigin(target)
	}
	path, _, _ := bytes.Cut(target, question)
	return path
}

var (
	question = []byte{'?'}
	origin   = []byte("://")
)

// cutOrigin removes "http://host" from the absolute form. Other targets that do
// not begin with a slash, such as the star of OPTIONS, have no path.
func cutOrigin(target []byte) []byte {
	scheme, rest, ok := bytes.Cut(target, origin)
	if !ok || !EqualFold(scheme, "http") && !EqualFold(scheme, "https") {
		return nil
	}
	end := bytes.IndexAny(rest, "/?")
	if end < 0 {
		return nil
	}
	return rest[end:]
}

// NextSegment cuts the first segment that is not empty off a path. The segment
// is nil when there is none. It is not decoded, so a slash that was written %2F
// is part of a segment and never splits one.
func NextSegment(path []byte) (segment, rest []byte) {
	for len(path) > 0 && path[0] == '/' {
		path = path[1:]
	}
	if len(path) == 0 {
		return nil, nil
	}
	if i := bytes.IndexByte(path, '/'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, nil
}

// Segments returns the decoded segments of a target's path, without empty ones.
func Segments(target []byte) []string {
	var out []string
	for segment, rest := NextSegment(Path(target)); segment != nil; segment, rest = NextSegment(rest) {
		out = append(out, string(Unescape(nil, segment)))
	}
	return out
}

// Unescape percent-decodes a segment, or a key or value of a query. A plus sign
// is a blank, an invalid percent sequence stays as it is, and bytes that are not
// UTF-8 become U+FFFD. The result is the segment itself if there is nothing to
// decode; otherwise it is put into buf, which may be nil.
func Unescape(buf, segment []byte) []byte {
	if bytes.IndexByte(segment, '%') < 0 && bytes.IndexByte(segment, '+') < 0 && utf8.Valid(segment) {
		return segment
	}
	out := buf[:0]
	for i := 0; i < len(segment); i++ {
		switch c := segment[i]; {
		case c == '+':
			out = append(out, ' ')
		case c == '%' && i+2 < len(segment) && isHex(segment[i+1]) && isHex(segment[i+2]):
			hi, _ := unhex(segment[i+1])
			lo, _ := unhex(segment[i+2])
			out = append(out, hi<<4|lo)
			i += 2
		default:
			out = append(out, c)
		}
	}
	return bytes.ToValidUTF8(out, replacement)
}

var replacement = []byte("\uFFFD")

func isHex(c byte) bool { _, ok := unhex(c); return ok }

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
