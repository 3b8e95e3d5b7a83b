package front

import "fmt"

// A version is what a key is from one sequence on:
//
//	0, 1  sequence, low word first
//	2     length of the value in bytes, and two flags
//	3     the version before             (absent in a key's first version)
//	4     one further back, to jump to   (likewise)
//	5     how many versions are before   (likewise)
//	3, 6… the value
//
// The versions of a key are a list from new to old that only grows at its new
// end. The jumps are those of a skew-binary list (Myers 1983), by which any
// version is found in a logarithmic number of steps; a counter may have
// hundreds of thousands.
const (
	versionSeq    = 0
	versionLen    = 2
	versionBefore = 3
	versionJump   = 4
	versionDepth  = 5

	firstVersionWords = 3
	laterVersionWords = 6

	tombstoneFlag = 1 << 31
	firstFlag     = 1 << 30 // a key's first version
	lengthMask    = firstFlag - 1
)

// newVersion returns a version with its sequence, length and value. header is
// the number of words before the value, room the bytes there are to be for it.
func (l *list) newVersion(header, room int, seq uint64, value []byte, flags uint32) ref {
	if len(value) > MaxValue {
		panic(fmt.Sprintf("front: a value of %d bytes", len(value)))
	}
	v := l.alloc(&l.versions, header+wordsFor(room))
	c, i := l.at(v)
	c[i+versionSeq] = uint32(seq)
	c[i+versionSeq+1] = uint32(seq >> 32)
	c[i+versionLen] = uint32(len(value)) | flags
	copy(bytesOf(c[i+header:], len(value)), value)
	return v
}

// firstVersion returns the version a new key starts with.
func (l *list) firstVersion(seq uint64, value []byte, flags uint32) ref {
	return l.newVersion(firstVersionWords, len(value), seq, value, flags|firstFlag)
}

// laterVersion returns a version to follow the given one.
func (l *list) laterVersion(before ref, seq uint64, value []byte, flags uint32) ref {
	if newest := l.seq(before); seq < newest {
		panic(fmt.Sprintf("front: sequence %d after %d of one key", seq, newest))
	}
	v := l.newVersion(laterVersionWords, len(value), seq, value, flags)
	depth := l.depth(before)
	jump := l.jump(before)
	further := l.jump(jump)
	c, i := l.at(v)
	c[i+versionBefore] = uint32(before)
	c[i+versionDepth] = depth + 1
	if at := l.depth(jump); depth-at == at-l.depth(further) {
		c[i+versionJump] = uint32(further)
	} else {
		c[i+versionJump] = uint32(before)
	}
	return v
}

// visible returns the newest version of n's key at or below maxSeq, or 0.
func (l *list) visible(n ref, maxSeq uint64) ref {
	v := l.newest(n)
	for l.seq(v) > maxSeq {
		c, i := l.at(v)
		if c[i+versionLen]&firstFlag != 0 {
			return 0
		}
		v = ref(c[i+versionJump])
		if l.seq(v) <= maxSeq {
			v = ref(c[i+versionBefore])
		}
	}
	return v
}

func (l *list) seq(v ref) uint64 {
	c, i := l.at(v)
	return uint64(c[i+versionSeq]) | uint64(c[i+versionSeq+1])<<32
}

// depth returns how many versions are before v.
func (l *list) depth(v ref) uint32 {
	c, i := l.at(v)
	if c[i+versionLen]&firstFlag != 0 {
		return 0
	}
	return c[i+versionDepth]
}

// jump returns the version to jump to from v; the first jumps to itself.
func (l *list) jump(v ref) ref {
	c, i := l.at(v)
	if c[i+versionLen]&firstFlag != 0 {
		return v
	}
	return ref(c[i+versionJump])
}

// value returns v's value and whether v is a tombstone.
func (l *list) value(v ref) (value []byte, tombstone bool) {
	c, i := l.at(v)
	size := c[i+versionLen]
	if size&tombstoneFlag != 0 {
		return nil, true
	}
	header := laterVersionWords
	if size&firstFlag != 0 {
		header = firstVersionWords
	}
	return bytesOf(c[i+header:], int(size&lengthMask)), false
}
