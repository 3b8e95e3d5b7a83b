package http1

import "bytes"

// Field is one header line. Both parts are slices of the head they were parsed
// from; the value is without the white space around it.
type Field struct {
	Name, Value []byte
}

// Is reports whether the field has the given name, which must be in lower case.
func (f *Field) Is(lower string) bool { return EqualFold(f.Name, lower) }

// Valid reports whether the field can stand in a head.
func (f *Field) Valid() bool { return isToken(f.Name) && all(f.Value, inValue) }

// Find returns the first field of the given name, which must be in lower case.
func Find(fields []Field, lower string) (value []byte, ok bool) {
	for i := range fields {
		if fields[i].Is(lower) {
			return fields[i].Value, true
		}
	}
	return nil, false
}

// EqualFold reports whether b is the text lower, which must be in lower case,
// in any mixture of cases. Only ASCII letters have two cases.
func EqualFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i, c := range b {
		if lowerByte(c) != lower[i] {
			return false
		}
	}
	return true
}

// SameName reports whether two names are the same but for their case.
func SameName(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i, c := range a {
		if lowerByte(c) != lowerByte(b[i]) {
			return false
		}
	}
	return true
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// hasToken reports whether the comma-separated list holds the token lower,
// which must be in lower case.
func hasToken(list []byte, lower string) bool {
	for len(list) > 0 {
		var item []byte
		item, list = NextToken(list)
		if EqualFold(item, lower) {
			return true
		}
	}
	return false
}

// NextToken cuts the first item off a comma-separated list. Items may be empty.
func NextToken(list []byte) (item, rest []byte) {
	item, rest, _ = bytes.Cut(list, comma)
	return trim(item), rest
}

var comma = []byte{','}

// trim cuts the blanks and tabs off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// parseField splits a header line, whose end is already cut off.
func parseField(line []byte) (Field, error) {
	if isBlank(line[0]) {
		return Field{}, errFolded
	}
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !isToken(line[:colon]) {
		return Field{}, errFieldName
	}
	value := trim(line[colon+1:])
	if !all(value, inValue) {
		return Field{}, errFieldValue
	}
	return Field{Name: line[:colon], Value: value}, nil
}

func isToken[B []byte | string](b B) bool { return len(b) > 0 && all(b, inToken) }

// Classes of bytes, one bit each.
const (
	inToken  = 1 << iota // RFC 9110 tchar
	inTarget             // anything but blanks and controls
	inValue              // inTarget, blank and tab
	inPath               // what package net/url leaves alone in a path
)

var classes = func() (t [256]byte) {
	for c := range t {
		if c > ' ' && c != 0x7f {
			t[c] |= inTarget | inValue
		}
	}
	t[' '] |= inValue
	t['\t'] |= inValue
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		t[c] |= inToken
	}
	for _, c := range "/$&+,:;=@-._~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		t[c] |= inPath
	}
	return t
}()

func all[B []byte | string](b B, class byte) bool {
	for i := range len(b) {
		if classes[b[i]]&class == 0 {
			return false
		}
	}
	return true
}
