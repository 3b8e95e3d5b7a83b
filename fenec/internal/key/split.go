package key

import (
	"bytes"
	"encoding/binary"
	"math"
)

// idLen is the number of bytes of a document's id in an index entry.
const idLen = 8

// maxDepth is how deep Skip follows lists and objects, deeper than any value
// that a field holds.
const maxDepth = 160

// AppendID appends the id of a document, which makes the key of its value an
// index entry: entries of one key are in order of their ids.
func AppendID(dst []byte, id uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, id)
}

// Split returns the key and the id of an index entry. It looks at nothing but
// the length. The key lies in b.
func Split(b []byte) (key []byte, id uint64, err error) {
	n := len(b) - idLen
	if n < 1 || n > MaxLen+1 {
		return nil, 0, ErrCorrupt
	}
	return b[:n:n], binary.BigEndian.Uint64(b[n:]), nil
}

// Skip returns the number of bytes of the key that b begins with.
func Skip(b []byte) (n int, err error) {
	window := b[:min(len(b), MaxLen)]
	n, err = skip(window, 0)
	if err != nil && len(b) > MaxLen && b[MaxLen] == cutMark {
		return MaxLen + 1, nil
	}
	return n, err
}

// skip returns the number of bytes of the uncut key that b begins with, which
// lies in depth lists and objects.
func skip(b []byte, depth int) (n int, err error) {
	if len(b) == 0 || depth > maxDepth {
		return 0, ErrCorrupt
	}
	n = 1
	switch b[0] {
	case tagNull, tagFalse, tagTrue:
	case tagNumber:
		n = numberLen(b)
	case tagText:
		n += textEnd(b[1:])
	case tagVector:
		n = vectorLen(b)
	case tagSparse:
		n = sparseLen(b)
	case tagList, tagObject:
		return skipElements(b, depth)
	default:
		return 0, ErrCorrupt
	}
	if n <= 0 || n > len(b) {
		return 0, ErrCorrupt
	}
	return n, nil
}

// numberLen returns the length of the number's key that b begins with.
func numberLen(b []byte) int {
	if f, ok := floatOf(b); ok && math.Abs(f) < exactLimit {
		return 9
	}
	return 11
}

// floatOf returns the float64 of the number's key that b begins with.
func floatOf(b []byte) (f float64, ok bool) {
	if len(b) < 9 || b[0] != tagNumber {
		return 0, false
	}
	n := binary.BigEndian.Uint64(b[1:])
	if n>>63 != 0 {
		return math.Float64frombits(n &^ (1 << 63)), true
	}
	return math.Float64frombits(^n), true
}

// textEnd returns where the text that b begins with ends, its terminator
// included, or a negative number when it does not.
func textEnd(b []byte) int {
	const none = -2
	for i := 0; ; i += 2 {
		n := bytes.IndexByte(b[i:], 0)
		if n < 0 || i+n+1 >= len(b) {
			return none
		}
		i += n
		switch b[i+1] {
		case terminator:
			return i + 2
		case escaped:
		default:
			return none
		}
	}
}

// vectorLen returns the length of the vector's key that b begins with, or 0
// when it does not end.
func vectorLen(b []byte) int {
	for n := 5; n <= len(b); n += 4 {
		if binary.BigEndian.Uint32(b[n-4:]) == 0 {
			return n
		}
	}
	return 0
}

// sparseLen returns the length of the key of a sparse vector that b begins with,
// or 0 when it does not end.
func sparseLen(b []byte) int {
	for n := 9; n <= len(b); n += 8 {
		if binary.BigEndian.Uint32(b[n-8:]) == 0 {
			return n
		}
	}
	return 0
}

func skipElements(b []byte, depth int) (n int, err error) {
	n = 1
	for n < len(b) && b[n] != tagEnd {
		if b[0] == tagObject {
			if b[n] != tagMember {
				return 0, ErrCorrupt
			}
			end := textEnd(b[n+1:])
			if end < 0 {
				return 0, ErrCorrupt
			}
			n += 1 + end
		}
		size, err := skip(b[n:], depth+1)
		if err != nil {
			return 0, err
		}
		n += size
	}
	if n >= len(b) {
		return 0, ErrCorrupt
	}
	return n + 1, nil
}

// Int returns the int or the milliseconds that the key of an int or a timestamp
// stands for, and false for the key of anything that is no whole number of 64
// bits.
func Int(key []byte) (int64, bool) {
	f, ok := floatOf(key)
	if !ok || len(key) != numberLen(key) || f != math.Trunc(f) || f < -1<<63 || f > 1<<63 {
		return 0, false
	}
	if len(key) == 9 {
		return int64(f), true
	}
	above := int64(binary.BigEndian.Uint16(key[9:])) - 0x8000
	if f == 1<<63 {
		return math.MaxInt64 + above + 1, above < 0
	}
	return int64(f) + above, true
}
