package plan

import (
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// keyRoom is memory for the keys that a run looks for. What its methods return
// is good until clear, and has no room to grow.
type keyRoom struct{ b []byte }

// value returns the key of a value under a collation.
func (k *keyRoom) value(v value.Value, by collation.Collation) (whole []byte, cut bool) {
	start := len(k.b)
	k.b, cut = key.AppendCollated(k.b, v, by)
	return k.since(start), cut
}

// prefix returns what the keys of all values equal to v begin with.
func (k *keyRoom) prefix(v value.Value) []byte {
	start := len(k.b)
	k.b = key.AppendPrefix(k.b, v)
	return k.since(start)
}

// next returns the least bytes above all that begin with the key k returned: a
// key begins with a tag, above which there are others.
func (k *keyRoom) next(of []byte) []byte {
	for of[len(of)-1] == 0xff {
		of = of[:len(of)-1]
	}
	start := len(k.b)
	k.b = append(k.b, of...)
	k.b[len(k.b)-1]++
	return k.since(start)
}

// withID returns a key followed by an id, as an index entry is.
func (k *keyRoom) withID(of []byte, id uint64) []byte {
	start := len(k.b)
	k.b = key.AppendID(append(k.b, of...), id)
	return k.since(start)
}

func (k *keyRoom) since(start int) []byte { return k.b[start:len(k.b):len(k.b)] }

// clear lets go of what was returned.
func (k *keyRoom) clear() {
	k.b = k.b[:0]
	if cap(k.b) > keptKeys {
		k.b = nil
	}
}
