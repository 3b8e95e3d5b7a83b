package wal

import (
	"encoding/binary"
	"math/bits"
)

// markWord is frameMark as it appears in the first eight bytes of a frame, read
// as one number.
const (
	markWord = uint64('b')<<32 | uint64('l')<<40 | uint64('k')<<48
	markBits = uint64(0xffffff) << 32
)

// scan goes through the file from off, a multiple of frameAlign, to its end and
// calls fn with every place where the header of a frame may lie. It returns the
// offset behind the last byte that is not zero, at least off.
func (r *reader) scan(off int64, fn func(off int64, header []byte) error) (filled int64, err error) {
	win := window{file: r.file, size: r.size} // fn may move the reader's own
	filled = off
	for off < r.size {
		b, err := win.at(off, int(min(windowBytes, r.size-off)))
		if err != nil {
			return filled, err
		}
		n, nonzero, err := scanWindow(b, off, r.size-off-int64(len(b)) > 0, fn)
		if err != nil {
			return filled, err
		}
		if nonzero > 0 {
			filled = off + int64(nonzero)
		}
		off += int64(n)
	}
	return filled, nil
}

// scanWindow scans b, which lies at off in the file and is followed by more of
// it or not. It returns how many bytes are done, and the length of b without
// the zeros at the end of those.
func scanWindow(b []byte, off int64, more bool, fn func(int64, []byte) error) (n, nonzero int, err error) {
	for ; n+frameAlign <= len(b); n += frameAlign {
		word := binary.LittleEndian.Uint64(b[n:])
		if word == 0 {
			continue
		}
		if word&markBits == markWord {
			if n+frameBytes <= len(b) {
				err = fn(off+int64(n), b[n:n+frameBytes])
			} else if more {
				return n, nonzero, nil // the rest of the header is in the next window
			}
			if err != nil {
				return n, nonzero, err
			}
		}
		nonzero = n + frameAlign - bits.LeadingZeros64(word)/8
	}
	for ; n < len(b); n++ {
		if b[n] != 0 {
			nonzero = n + 1
		}
	}
	return n, nonzero, nil
}
