package store

import (
	"bytes"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/front"
)

// renewEvery is after how many steps in the base an iterator lets go of the
// transaction.
const renewEvery = 4096

// Iter walks the keys of one space within [lower, upper), in either direction:
// SeekGE is followed by Next, SeekLT by Prev. After an error it is not Valid
// and Err says why.
type Iter struct {
	v            *View
	space        uint32
	lower, upper []byte // nil: unbounded

	fronts  [3]*front.Iter // newest first
	nfronts int
	cur     *base.Cursor // the base's place; its Key is nil past the end
	tx      *base.Tx     // the transaction cur belongs to, nil after remember or leave
	slot    int          // in v.iters, unless tx is nil
	saved   []byte       // where cur stood, while tx is nil
	atEnd   bool         // cur is exhausted
	steps   int
	reverse bool

	at    uint // bit i: fronts[i] stands at key; bit nfronts: the base does
	key   []byte
	value []byte
	err   error
}

// Iter returns an iterator over the keys of space in [lower, upper); nil is
// unbounded. It stands nowhere until a Seek.
func (v *View) Iter(space uint32, lower, upper []byte) *Iter {
	it := &Iter{v: v, space: space, lower: lower, upper: upper}
	if v.overlay != nil {
		it.add(v.overlay.NewIter(space, lower, upper))
	}
	it.add(v.live.NewIter(space, lower, upper, v.seq))
	if v.frozen != nil {
		it.add(v.frozen.NewIter(space, lower, upper, v.seq))
	}
	return it
}

func (it *Iter) add(f *front.Iter) {
	it.fronts[it.nfronts] = f
	it.nfronts++
}

// Valid reports whether the iterator stands at a key.
func (it *Iter) Valid() bool { return it.key != nil }

// Key returns the key the iterator stands at.
func (it *Iter) Key() []byte { return it.key }

// Value returns the value the iterator stands at.
func (it *Iter) Value() []byte { return it.value }

// Err returns what ended the iteration early, or nil.
func (it *Iter) Err() error { return it.err }

// First moves to the first key of the range.
func (it *Iter) First() { it.SeekGE(it.lower) }

// Last moves to the last key of the range.
func (it *Iter) Last() { it.SeekLT(it.upper) }

// SeekGE moves to the first key at or after key, and not before the range.
func (it *Iter) SeekGE(key []byte) {
	if it.lower != nil && bytes.Compare(key, it.lower) < 0 {
		key = it.lower
	}
	it.reverse = false
	for i := range it.nfronts {
		it.fronts[i].SeekGE(key)
	}
	it.seekBase(key)
	it.settle()
}

// SeekLT moves to the last key before key; nil is past every key. It never
// leaves the range.
func (it *Iter) SeekLT(key []byte) {
	if it.upper != nil && (key == nil || bytes.Compare(key, it.upper) > 0) {
		key = it.upper
	}
	it.reverse = true
	for i := range it.nfronts {
		if key == nil {
			it.fronts[i].Last()
		} else {
			it.fronts[i].SeekLT(key)
		}
	}
	it.seekBase(key)
	it.settle()
}

// Next moves to the following key. Only after SeekGE or First.
func (it *Iter) Next() { it.advance(); it.settle() }

// Prev moves to the preceding key. Only after SeekLT or Last.
func (it *Iter) Prev() { it.advance(); it.settle() }

// advance moves every source that stands at the current key.
func (it *Iter) advance() {
	for i := range it.nfronts {
		if it.at&(1<<i) == 0 {
			continue
		}
		if it.reverse {
			it.fronts[i].Prev()
		} else {
			it.fronts[i].Next()
		}
	}
	if it.at&(1<<it.nfronts) != 0 {
		it.stepBase()
	}
}

// settle makes the nearest key of any source current, its newest version
// first, passing over keys whose newest version is a tombstone.
func (it *Iter) settle() {
	for it.err == nil {
		it.pick()
		if it.at == 0 {
			break
		}
		gone := false
		for i := range it.nfronts {
			if it.at&(1<<i) != 0 {
				it.value, gone = it.fronts[i].Value(), it.fronts[i].Tombstone()
				goto newest
			}
		}
		it.value = it.cur.Value
	newest:
		if !gone {
			return
		}
		it.advance()
	}
	it.key, it.value, it.at = nil, nil, 0
}

// pick finds the nearest key and which sources stand at it.
func (it *Iter) pick() {
	it.at, it.key = 0, nil
	for i := range it.nfronts {
		if it.fronts[i].Valid() {
			it.consider(it.fronts[i].Key(), 1<<i)
		}
	}
	if !it.atEnd {
		if it.tx == nil && !it.restore() {
			return
		}
		if !it.atEnd {
			it.consider(it.cur.Key, 1<<it.nfronts)
		}
	}
}

func (it *Iter) consider(key []byte, bit uint) {
	if it.at == 0 {
		it.key, it.at = key, bit
		return
	}
	c := bytes.Compare(key, it.key)
	if it.reverse {
		c = -c
	}
	switch {
	case c < 0:
		it.key, it.at = key, bit
	case c == 0:
		it.at |= bit
	}
}

// seekBase places the base's cursor for the direction at hand.
func (it *Iter) seekBase(key []byte) {
	it.atEnd, it.steps = false, 0
	if !it.open() {
		return
	}
	var err error
	if it.reverse {
		err = it.cur.SeekLT(key)
	} else {
		err = it.cur.SeekGE(key)
	}
	it.check(err)
}

// open makes cur a cursor of the view's transaction.
func (it *Iter) open() bool {
	tx, err := it.v.base()
	if err != nil {
		it.check(err)
		return false
	}
	if it.tx == tx {
		return true
	}
	if it.cur, err = tx.Cursor(it.space); err != nil {
		it.check(err)
		return false
	}
	it.tx = tx
	it.slot = len(it.v.iters)
	it.v.iters = append(it.v.iters, it)
	return true
}

// leave takes an iterator that has come to the end of the base off the view's
// list, so that a view of many short iterations keeps none of them.
func (it *Iter) leave() {
	v := it.v
	if it.tx == nil || it.slot >= len(v.iters) || v.iters[it.slot] != it {
		return
	}
	last := len(v.iters) - 1
	v.iters[it.slot] = v.iters[last]
	v.iters[it.slot].slot = it.slot
	v.iters[last] = nil
	v.iters = v.iters[:last]
	it.tx = nil
}

func (it *Iter) stepBase() {
	if it.steps++; it.steps >= renewEvery {
		it.steps = 0
		it.v.renew()
	}
	if it.tx == nil {
		if !it.restore() || it.atEnd || !bytes.Equal(it.cur.Key, it.saved) {
			return
		}
	}
	if it.reverse {
		it.check(it.cur.Prev())
	} else {
		it.check(it.cur.Next())
	}
}

// check takes note of where a move of the base's cursor ended.
func (it *Iter) check(err error) {
	if err != nil {
		it.err, it.atEnd = err, true
		it.leave()
		return
	}
	k := it.cur.Key
	it.atEnd = k == nil ||
		it.reverse && it.lower != nil && bytes.Compare(k, it.lower) < 0 ||
		!it.reverse && it.upper != nil && bytes.Compare(k, it.upper) >= 0
	if it.atEnd {
		it.leave()
	}
}

// remember keeps the base's place while no transaction is open.
func (it *Iter) remember() {
	if !it.atEnd && it.tx != nil {
		it.saved = append(it.saved[:0], it.cur.Key...)
	}
	it.tx = nil
}

// restore opens a transaction and returns to the place remembered. The key
// may have been folded away or in meanwhile; then a front holds it too, and
// the merge does not mind where the base stands beside it.
func (it *Iter) restore() bool {
	if !it.open() {
		return false
	}
	var err error
	if it.reverse {
		err = it.cur.SeekLT(append(it.saved, 0)) // the last key at or before saved
	} else {
		err = it.cur.SeekGE(it.saved)
	}
	it.check(err)
	return it.err == nil
}
