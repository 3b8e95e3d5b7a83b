package front

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"sync/atomic"
)

// A node is one key. Its tower stands below the place its ref names, so that
// everything else is at a fixed distance:
//
//	-h … -1  the next node at levels h-1 … 0 (atomic)
//	 0       space
//	 1       length of the key in bytes
//	 2       the newest version (atomic)
//	 3       the node before (atomic)
//	 4 …     the key, filled up with zeros to eight bytes
const (
	nodeSpace   = 0
	nodeKeyLen  = 1
	nodeVersion = 2
	nodeBefore  = 3
	nodeKey     = 4

	prefixBytes = 8
	maxHeight   = 16 // one node in four is a level higher: enough for 4^16

	head = ref(maxHeight) // the node before all others; it has no key
)

// target is a place in the order of keys. Its space is wider than a node's, so
// that the end of the last space has a place too.
type target struct {
	space  uint64
	prefix uint64 // of the key
	key    []byte
}

func newTarget(space uint32, key []byte) target {
	return target{space: uint64(space), prefix: prefixOf(key), key: key}
}

// withKey returns the place of another key in the same space.
func (t *target) withKey(key []byte) target {
	return target{space: t.space, prefix: prefixOf(key), key: key}
}

// endOf returns the place behind all keys of a space.
func endOf(space uint32) target { return target{space: uint64(space) + 1} }

// prefixOf returns the first eight bytes as a number that orders as they do. A
// shorter key is filled up with zeros.
func prefixOf(key []byte) uint64 {
	if len(key) >= prefixBytes {
		return binary.BigEndian.Uint64(key)
	}
	var p [prefixBytes]byte
	copy(p[:], key)
	return binary.BigEndian.Uint64(p[:])
}

// compare orders the key of node n, which is not the head, against t.
func (l *list) compare(n ref, t *target) int {
	c, i := l.at(n)
	return compareAt(c, i, t)
}

// compareAt is compare for the node at c[i].
func compareAt(c []uint32, i int, t *target) int {
	h := (*[nodeKey + prefixBytes/wordBytes]uint32)(c[i:])
	if s := uint64(h[nodeSpace]); s != t.space {
		return order(s < t.space)
	}
	if p := binary.BigEndian.Uint64(bytesOf(h[nodeKey:], prefixBytes)); p != t.prefix {
		return order(p < t.prefix)
	}
	size := int(h[nodeKeyLen])
	if min(size, len(t.key)) <= prefixBytes {
		return cmp.Compare(size, len(t.key)) // one begins with the other
	}
	return bytes.Compare(bytesOf(c[i+nodeKey:], size), t.key)
}

func order(less bool) int {
	if less {
		return -1
	}
	return 1
}

// next returns the node after n at a level, or 0.
func (l *list) next(n ref, level int) ref {
	c, i := l.at(n)
	return ref(atomic.LoadUint32(&c[i-1-level]))
}

// before returns the node before n, or the head. While a node is being linked
// between them it may already be passed by next and not yet by before.
func (l *list) before(n ref) ref {
	c, i := l.at(n)
	return ref(atomic.LoadUint32(&c[i+nodeBefore]))
}

// newest returns the newest version of n's key.
func (l *list) newest(n ref) ref {
	c, i := l.at(n)
	return ref(atomic.LoadUint32(&c[i+nodeVersion]))
}

func (l *list) setNewest(n, version ref) {
	c, i := l.at(n)
	atomic.StoreUint32(&c[i+nodeVersion], uint32(version))
}

func (l *list) space(n ref) uint32 {
	c, i := l.at(n)
	return c[i+nodeSpace]
}

func (l *list) key(n ref) []byte {
	c, i := l.at(n)
	return bytesOf(c[i+nodeKey:], int(c[i+nodeKeyLen]))
}
