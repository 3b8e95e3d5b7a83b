package front

import "fmt"

// The most a front holds. Whoever fills it keeps it well below MaxBytes, by
// MemoryBytes: an insert past any of these limits panics.
const (
	MaxKey   = 32 << 10   // bytes of a key
	MaxValue = lengthMask // bytes of a value
	MaxBytes = 4 << 30    // bytes of the whole front
)

// Front is a multi-version ordered map in memory. One goroutine at a time may
// insert; any number may read meanwhile, without locks.
type Front struct {
	list list
}

// New returns an empty front, of about 2 KiB.
func New() *Front {
	f := new(Front)
	f.list.reset()
	return f
}

// Insert adds a version of a key: its value, or a tombstone, which has none.
// key and value are copied. seq is at least that of every version the key has;
// of two with the same seq the later one counts. A reader at a sequence from
// seq on may see the version at once, so seq is announced only when everything
// numbered by it has been inserted.
func (f *Front) Insert(space uint32, key []byte, seq uint64, value []byte, tombstone bool) {
	l := &f.list
	value, flags := content(value, tombstone)
	t := newTarget(space, checkedKey(key))
	if n, finger := l.locate(&t); n != 0 {
		l.setNewest(n, l.laterVersion(l.newest(n), seq, value, flags))
	} else {
		l.link(&t, finger, l.firstVersion(seq, value, flags))
	}
	l.count.Add(1)
}

// Get returns the newest version of a key with a sequence of at most maxSeq. ok
// is false if there is none. value is not to be changed, and stays as it is for
// as long as it is referenced. Safe for concurrent use.
func (f *Front) Get(space uint32, key []byte, maxSeq uint64) (value []byte, tombstone, ok bool) {
	return f.list.get(space, key, maxSeq)
}

// NewIter returns an iterator over the keys of a space in [lower, upper) as
// they are at maxSeq. A nil bound is none. The bounds are kept, not copied. The
// iterator is not positioned yet. Safe for concurrent use.
func (f *Front) NewIter(space uint32, lower, upper []byte, maxSeq uint64) *Iter {
	it := new(Iter)
	f.InitIter(it, space, lower, upper, maxSeq)
	return it
}

// InitIter makes it what NewIter returns.
func (f *Front) InitIter(it *Iter, space uint32, lower, upper []byte, maxSeq uint64) {
	it.init(&f.list, space, lower, upper, maxSeq)
}

// NewFoldIter returns an iterator over the keys of all spaces as they are at
// maxSeq, before the first of them. Safe for concurrent use.
func (f *Front) NewFoldIter(maxSeq uint64) *FoldIter {
	return &FoldIter{list: &f.list, maxSeq: maxSeq, node: head}
}

// Len returns the number of versions. Safe for concurrent use.
func (f *Front) Len() int { return int(f.list.count.Load()) }

// MemoryBytes returns the memory held, used or not. Safe for concurrent use.
func (f *Front) MemoryBytes() int64 { return f.list.held.Load() }

func (l *list) get(space uint32, key []byte, maxSeq uint64) (value []byte, tombstone, ok bool) {
	t := newTarget(space, key)
	n, exact := l.seek(&t)
	if !exact {
		return nil, false, false
	}
	return l.valueAt(n, maxSeq)
}

// valueAt returns the newest visible version of n's key.
func (l *list) valueAt(n ref, maxSeq uint64) (value []byte, tombstone, ok bool) {
	v := l.visible(n, maxSeq)
	if v == 0 {
		return nil, false, false
	}
	value, tombstone = l.value(v)
	return value, tombstone, true
}

// checkedKey returns key, which must not be too long.
func checkedKey(key []byte) []byte {
	if len(key) > MaxKey {
		panic(fmt.Sprintf("front: a key of %d bytes", len(key)))
	}
	return key
}

// content returns what a version is made of.
func content(value []byte, tombstone bool) ([]byte, uint32) {
	if tombstone {
		return nil, tombstoneFlag
	}
	return value, 0
}
