package plan

import "bytes"

// Arena gives out memory for copies of many short pieces of bytes, which live
// as long as the last of them.
type Arena struct {
	free []byte
	size int // of the piece of memory that free is the rest of
}

const (
	firstPiece = 1 << 10
	lastPiece  = 256 << 10
)

// Copy returns a copy of b without room to grow. The first copy, which often is
// the only one, takes no more memory than it needs.
func (a *Arena) Copy(b []byte) []byte {
	if a.size == 0 {
		a.size = firstPiece / 2
		return bytes.Clone(b)
	}
	if len(b) > len(a.free) {
		if len(b) > lastPiece/4 {
			return bytes.Clone(b)
		}
		a.size = max(min(2*a.size, lastPiece), len(b))
		a.free = make([]byte, a.size)
	}
	out := a.free[:len(b):len(b)]
	copy(out, b)
	a.free = a.free[len(b):]
	return out
}
