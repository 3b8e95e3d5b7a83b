package store

import (
	"bytes"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// renewEvery is after how many steps in the base an iterator lets go of the
// transaction.
const renewEvery = 4096

// Iter walks the keys of one space within [lower, upper), in either direction:
// SeekGE is followed by Next, SeekLT by Prev. After an error it is not Valid
// and Err says why.
//
// Values lie in the base's map: a fault there ends the process unless the caller
// has base.Guard set.
type Iter struct {
	merge        // with the base, whose bit is nfronts
	v            *View
	space        uint32
	lower, upper []byte // nil: unbounded

	cur   base.Cursor // the base's place; its Key is nil past the end
	of    *base.Tx    // the transaction that cur reads, or did last
	tx    *base.Tx    // of, or nil after remember or leave
	slot  int         // in v.iters, unless tx is nil
	saved []byte      // where cur stood, while tx is nil
	past  []byte      // a bound that leaves out the key it is made of
	atEnd bool        // cur is exhausted
	steps int

	value []byte
	err   error
}

// Iter returns an iterator over the keys of space in [lower, upper); nil is
// unbounded. It stands nowhere until a Seek. The bounds are kept.
func (v *View) Iter(space uint32, lower, upper []byte) *Iter {
	it := v.spareIter()
	it.v, it.space, it.lower, it.upper = v, space, lower, upper
	it.merge.open(v, space, lower, upper)
	return it
}

// spareIters is how many closed iterators a view keeps for the next ones.
const spareIters = 2

// spareIter returns a new iterator, or the memory of one that was closed.
func (v *View) spareIter() *Iter {
	last := len(v.spare) - 1
	if last < 0 {
		return new(Iter)
	}
	it := v.spare[last]
	v.spare = v.spare[:last]
	return it
}

// Close gives the iterator's memory to the next one of its view. It must not be
// used afterwards. One that is not closed is left to the collector.
func (it *Iter) Close() {
	v := it.v
	it.leave()
	*it = Iter{}
	if len(v.spare) < spareIters {
		v.spare = append(v.spare, it)
	}
}

// Reset gives the iterator other bounds. It stands nowhere until a Seek, which
// costs the less the nearer it is to where the iterator stood.
func (it *Iter) Reset(lower, upper []byte) {
	it.lower, it.upper = lower, upper
	it.reset(lower, upper)
	it.cur.Limit(lower, upper)
	it.value, it.atEnd = nil, true
	it.leave()
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
	it.seekGE(key)
	it.seekBase(key)
	it.settle()
}

// SeekLT moves to the last key before key; nil is past every key. It never
// leaves the range.
func (it *Iter) SeekLT(key []byte) {
	if it.upper != nil && (key == nil || bytes.Compare(key, it.upper) > 0) {
		key = it.upper
	}
	it.seekLT(key)
	it.seekBase(key)
	it.settle()
}

// Next moves to the following key. Only after SeekGE or First.
func (it *Iter) Next() {
	if it.cur.Step() {
		it.key, it.value = it.cur.Key, it.cur.Value
		return
	}
	it.advance()
	it.settle()
}

// Prev moves to the preceding key. Only after SeekLT or Last.
func (it *Iter) Prev() {
	if it.cur.StepBack() {
		it.key, it.value = it.cur.Key, it.cur.Value
		return
	}
	it.advance()
	it.settle()
}

// advance moves every source that stands at the current key.
func (it *Iter) advance() {
	it.merge.advance()
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
		f := it.newest()
		if f == nil {
			it.value = it.cur.Value
			return
		}
		if !f.Tombstone() {
			it.value = f.Value()
			return
		}
		it.advance()
	}
	it.key, it.value, it.at = nil, nil, 0
}

// pick finds the nearest key and which sources stand at it.
func (it *Iter) pick() {
	it.nearest()
	if it.atEnd || it.tx == nil && !it.restore() || it.atEnd {
		return
	}
	bound := it.key
	if it.consider(it.cur.Key, 1<<it.nfronts); it.at == 1<<it.nfronts {
		it.run(bound)
	}
}

// run lets the base's cursor go on by itself through the keys of the range that
// come before the nearest one of the fronts, if there is one.
func (it *Iter) run(nearest []byte) {
	switch {
	case !it.reverse:
		it.steps += it.cur.Run(nearest)
	case nearest == nil:
		it.steps += it.cur.RunBack(nil)
	default:
		it.past = append(append(it.past[:0], nearest...), 0) // nearest itself is the front's
		it.steps += it.cur.RunBack(it.past)
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
	if it.of != tx {
		if err := tx.Point(&it.cur, it.space); err != nil {
			it.check(err)
			return false
		}
		it.cur.Limit(it.lower, it.upper)
		it.of = tx
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
	switch {
	case it.cur.Hop(it.reverse):
		it.check(nil)
	case it.reverse:
		it.check(it.cur.Prev())
	default:
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
	it.cur.Halt()
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
		it.past = append(append(it.past[:0], it.saved...), 0)
		err = it.cur.SeekLT(it.past) // the last key at or before saved
	} else {
		err = it.cur.SeekGE(it.saved)
	}
	it.check(err)
	return it.err == nil
}
