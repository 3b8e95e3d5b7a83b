package plan

import "bytes"

// Arena gives out memory for copies of many short pieces of bytes, which live
// as long as the last of them.
type Arena struct {
	piece []byte // the last piece of memory
	used  int    // bytes of it; not 0 once something was copied
}

const (
	firstPiece = 1 << 10
	lastPiece  = 256 << 10
	keptPiece  = 16 << 10 // the largest that Reset keeps
)

// Copy returns a copy of b without room to grow. The first copy, which often is
// the only one, takes no more memory than it needs.
func (a *Arena) Copy(b []byte) []byte {
	if a.piece == nil && a.used == 0 {
		a.used = 1
		return bytes.Clone(b)
	}
	if len(b) > len(a.piece)-a.used {
		if len(b) > lastPiece/4 {
			return bytes.Clone(b)
		}
		size := max(firstPiece, min(2*len(a.piece), lastPiece))
		a.piece, a.used = make([]byte, max(size, len(b))), 0
	}
	end := a.used + len(b)
	out := a.piece[a.used:end:end]
	copy(out, b)
	a.used = end
	return out
}

// Reset takes all copies back, whose memory those to come get.
func (a *Arena) Reset() {
	if a.piece == nil || len(a.piece) > keptPiece {
		a.piece = make([]byte, firstPiece)
	}
	a.used = 0
}
