package store

import (
	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/front"
)

// MergedSpaces is where the spaces begin that the base holds in a form which a
// Merger gives them. Fronts hold them as blocks wrote them. A view reads the two
// apart: Fresh has what is newer than the base, or as new, and Folded the base.
const MergedSpaces uint32 = 1 << 31

// Merger keeps the spaces from MergedSpaces on in the base.
type Merger interface {
	// Merge returns what becomes of the base, which tx reads, when it takes up
	// changes of one space. They ascend by key, as what is returned must. It may
	// be about another space, but of each space there is one Merge a fold.
	Merge(tx *base.Tx, space uint32, next func() (base.Change, bool)) ([]base.Change, error)
}

// Owner keeps something in the base that is in no front, in spaces of its own.
type Owner interface {
	// Fold returns what a fold up to upTo changes in those spaces, keys of each
	// ascending. tx is the base before it.
	Fold(tx *base.Tx, upTo uint64) ([]base.Change, error)

	// Folded says that the changes last returned are in the base.
	Folded(upTo uint64)

	// Waits reports whether Fold would change something though no block was written
	// since the last.
	Waits() bool
}

// merged yields what f holds of the merged spaces, of the sequences in
// (after, upTo].
func merged(f *front.Front, after, upTo uint64) func() (base.Change, bool) {
	drops := droppedSpaces(f, upTo)
	it := f.NewFoldIter(upTo)
	it.Skip(MergedSpaces)
	return func() (base.Change, bool) {
		for it.Next() && it.Space() != dropped {
			if it.Seq() > after && !drops.has(it.Space()) {
				return change(it), true
			}
		}
		return base.Change{}, false
	}
}

// mergeSpaces has m merge changes of any number of spaces.
func mergeSpaces(m Merger, tx *base.Tx, next func() (base.Change, bool)) (out []base.Change, err error) {
	c, more := next()
	for more {
		space := c.Space
		list, err := m.Merge(tx, space, func() (base.Change, bool) {
			if !more || c.Space != space {
				return base.Change{}, false
			}
			given := c
			c, more = next()
			return given, true
		})
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
		for more && c.Space == space {
			c, more = next() // what m did not ask for
		}
	}
	return out, nil
}

// Fresh walks the keys of a merged space in [lower, upper), as a view's fronts
// hold them; nil is unbounded. For each it has the newest version, which may say
// that the key is gone. It is good for as long as the view's sequence is read,
// and in a Block until the next write.
type Fresh struct {
	m     merge
	begun bool
	value []byte
	gone  bool
}

// Fresh returns a walk over what is in the fronts, before the first key.
func (v *View) Fresh(space uint32, lower, upper []byte) *Fresh {
	f := new(Fresh)
	f.m.open(v, space, lower, upper)
	f.m.seekGE(lower)
	return f
}

// Next moves to the next key and reports whether there is one.
func (f *Fresh) Next() bool {
	if f.begun {
		f.m.advance()
	}
	f.begun = true
	f.m.nearest()
	if f.m.at == 0 {
		return false
	}
	newest := f.m.newest()
	f.value, f.gone = newest.Value(), newest.Tombstone()
	return true
}

// Key returns the key.
func (f *Fresh) Key() []byte { return f.m.key }

// Value returns the value; nil if the key is gone.
func (f *Fresh) Value() []byte { return f.value }

// Gone reports whether the key was deleted.
func (f *Fresh) Gone() bool { return f.gone }

// Folded walks the keys of a space of the base, as a Merger left them. It stands
// nowhere until a seek. Of the same View no Iter may go on while it is in use,
// which may exchange the transaction that it reads. Values lie in the base's map:
// a fault there ends the process unless the caller has base.Guard set.
type Folded struct {
	cur base.Cursor
	err error
}

// Folded returns a walk over a space of the base.
func (v *View) Folded(space uint32) (*Folded, error) {
	tx, err := v.base()
	if err != nil {
		return nil, err
	}
	return FoldedIn(tx, space)
}

// FoldedIn returns a walk over a space of a base, for a Merger.
func FoldedIn(tx *base.Tx, space uint32) (*Folded, error) {
	f := new(Folded)
	return f, tx.Point(&f.cur, space)
}

// SeekGE moves to the first key at or after key.
func (f *Folded) SeekGE(key []byte) {
	if f.err == nil {
		f.err = f.cur.SeekGE(key)
	}
}

// SeekLT moves to the last key before key.
func (f *Folded) SeekLT(key []byte) {
	if f.err == nil {
		f.err = f.cur.SeekLT(key)
	}
}

// Next moves to the following key.
func (f *Folded) Next() {
	if f.err == nil {
		f.err = f.cur.Next()
	}
}

// Valid reports whether the walk stands at a key.
func (f *Folded) Valid() bool { return f.err == nil && f.cur.Key != nil }

// Key returns the key the walk stands at.
func (f *Folded) Key() []byte { return f.cur.Key }

// Value returns the value the walk stands at.
func (f *Folded) Value() []byte { return f.cur.Value }

// Err returns what ended the walk early, or nil.
func (f *Folded) Err() error { return f.err }
