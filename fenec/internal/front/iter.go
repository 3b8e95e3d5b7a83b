package front

import "bytes"

// Iter moves over the keys of one space, each once, with its newest visible
// version; a tombstone is yielded as such. The methods that move it return
// whether it is at a key then. From where it is at none, only First, Last and
// the seeks move it. Keys inserted meanwhile at sequences it does not see make
// no difference to it. An Iter is for one goroutine at a time.
type Iter struct {
	list         *list
	lower, upper target
	maxSeq       uint64
	node         ref // 0 if at no key
	version      ref
	near         reader
}

// init is apart from the constructors so that these are inlined and an iterator
// that its caller does not keep needs no allocation.
func (it *Iter) init(l *list, space uint32, lower, upper []byte, maxSeq uint64) {
	it.list, it.maxSeq, it.near.set = l, maxSeq, false
	it.lower.space = uint64(space)
	it.Reset(lower, upper)
}

// Reset gives the iterator other bounds in the same space, and leaves it at no
// key. What it is moved to then is found the sooner the nearer it is.
func (it *Iter) Reset(lower, upper []byte) {
	space := uint32(it.lower.space)
	it.lower, it.upper = newTarget(space, lower), endOf(space)
	if upper != nil {
		it.upper = newTarget(space, upper)
	}
	it.node = 0
}

// First moves to the first key.
func (it *Iter) First() bool { return it.atOrAfter(&it.lower) }

// Last moves to the last key.
func (it *Iter) Last() bool { return it.before(&it.upper) }

// SeekGE moves to the first key that is not less than the given one.
func (it *Iter) SeekGE(key []byte) bool {
	if bytes.Compare(key, it.lower.key) <= 0 {
		return it.First()
	}
	t := it.lower.withKey(key)
	return it.atOrAfter(&t)
}

// SeekLT moves to the last key that is less than the given one.
func (it *Iter) SeekLT(key []byte) bool {
	if it.upper.space == it.lower.space && bytes.Compare(key, it.upper.key) >= 0 {
		return it.Last()
	}
	t := it.lower.withKey(key)
	return it.before(&t)
}

func (it *Iter) atOrAfter(t *target) bool {
	n, _ := it.near.seek(it.list, t)
	return it.forward(n)
}

func (it *Iter) before(t *target) bool {
	if n, exact := it.near.seek(it.list, t); exact {
		return it.backward(it.list.before(n))
	}
	return it.backward(it.near.last[0])
}

// Next moves to the key after.
func (it *Iter) Next() bool {
	return it.node != 0 && it.forward(it.list.next(it.node, 0))
}

// Prev moves to the key before.
func (it *Iter) Prev() bool {
	return it.node != 0 && it.backward(it.list.before(it.node))
}

// Valid reports whether the iterator is at a key. The methods below may be
// called only then.
func (it *Iter) Valid() bool { return it.node != 0 }

// Key returns the key. It is not to be changed; it stays good as a value does.
func (it *Iter) Key() []byte { return it.list.key(it.node) }

// Value returns the value, nil for a tombstone. It is not to be changed.
func (it *Iter) Value() []byte {
	value, _ := it.list.value(it.version)
	return value
}

// Tombstone reports whether the key is deleted.
func (it *Iter) Tombstone() bool {
	_, tombstone := it.list.value(it.version)
	return tombstone
}

// forward stops at n or at the first visible key after it.
func (it *Iter) forward(n ref) bool {
	for n != 0 && it.list.compare(n, &it.upper) < 0 {
		if v := it.list.visible(n, it.maxSeq); v != 0 {
			it.node, it.version = n, v
			return true
		}
		n = it.list.next(n, 0)
	}
	it.node = 0
	return false
}

// backward stops at n or at the first visible key before it.
func (it *Iter) backward(n ref) bool {
	for n != head && it.list.compare(n, &it.lower) >= 0 {
		if v := it.list.visible(n, it.maxSeq); v != 0 {
			it.node, it.version = n, v
			return true
		}
		n = it.list.before(n)
	}
	it.node = 0
	return false
}
