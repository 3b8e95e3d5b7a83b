package base

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// tree is the B+tree of one bucket. The zero tree is empty.
type tree struct {
	pages *pages
	root  page
}

// top returns the tree that holds the buckets.
func (p *pages) top() tree { return tree{pages: p, root: p.page(p.root)} }

// bucket returns the tree of a bucket; ok is false if there is none.
func (p *pages) bucket(name []byte) (t tree, ok bool) {
	var w walker
	w.seek(p.top(), name)
	key, value, flags := w.at()
	if !bytes.Equal(key, name) {
		return tree{}, false
	}
	if flags&bucketFlag == 0 {
		panic(fmt.Sprintf("a value in place of bucket %q", name))
	}
	return p.open(value), true
}

// open returns the tree of the bucket whose value is given.
func (p *pages) open(value []byte) tree {
	if id := binary.NativeEndian.Uint64(value); id != 0 {
		return tree{pages: p, root: p.page(id)}
	}
	return tree{pages: p, root: page(value[bucketHeader:])}
}

// get returns the value of key, or nil.
func (t tree) get(key []byte) []byte {
	b := t.root
	if b == nil {
		return nil
	}
	var in span
	for range maxDepth {
		mid, step := in.guess(key, b.count())
		i, exact := b.searchFrom(mid, step, key)
		if b.isLeaf() {
			if !exact {
				return nil
			}
			return b.value(i)
		}
		if !exact && i > 0 {
			i--
		}
		in, _ = b.span(i, in)
		_, id := b.branch(i)
		b = t.pages.page(id)
	}
	panic(inCircles)
}

// value returns the value of element i of a leaf, nil if that is a bucket.
func (b page) value(i int) []byte {
	_, value, flags := b.leaf(i)
	if flags&bucketFlag != 0 {
		return nil
	}
	return value
}

const inCircles = "its pages go round in a circle"

// walker walks the elements of a tree in the order of their keys. It holds the
// way from the root to the leaf it is at.
type walker struct {
	tree  tree
	steps []step // none if the walker is at no element
	few   [6]step
}

// step is a page with the place of an element in it.
type step struct {
	page page
	at   int
}

// at returns the element the walker is at; a nil key if it is at none.
func (w *walker) at() (key, value []byte, flags uint32) {
	if !w.valid() {
		return nil, nil, 0
	}
	s := w.last()
	return s.page.leaf(s.at)
}

// seek moves to the first element at or after key.
func (w *walker) seek(t tree, key []byte) {
	w.descend(t, key)
	w.leaveEnd()
}

// leaveEnd moves on from behind the last element of a leaf.
func (w *walker) leaveEnd() {
	if w.valid() && w.last().at == w.last().page.count() {
		w.next()
	}
}

// seekNear is seek from where the walker is, which is found the sooner the
// nearer key is.
func (w *walker) seekNear(key []byte) {
	for len(w.steps) > 1 && !w.last().page.surrounds(key) {
		w.up()
	}
	if s := w.last(); s.page.isLeaf() {
		s.at, _ = s.page.searchFrom(s.at, 1, key)
	} else {
		s.at = s.page.childFrom(s.at, 1, key)
		w.down()
		w.search(key)
	}
	w.leaveEnd()
}

// surrounds reports whether key is surely below b, if it is anywhere.
func (b page) surrounds(key []byte) bool {
	last := b.count() - 1
	if c := bytes.Compare(key, b.key(last)); c > 0 || c == 0 && !b.isLeaf() {
		return false
	}
	return bytes.Compare(b.key(0), key) <= 0
}

// descend moves to the leaf that holds key, if any does, and there to the first
// element at or after key, or right behind the last one.
func (w *walker) descend(t tree, key []byte) {
	w.begin(t)
	w.search(key)
}

// search goes down from the last page as descend does from the root.
func (w *walker) search(key []byte) {
	for w.valid() {
		s := w.last()
		if s.page.isLeaf() {
			s.at, _ = s.page.search(key)
			return
		}
		s.at = s.page.child(key)
		w.down()
	}
}

// inLastLeaf reports whether no leaf follows the one the walker is in.
func (w *walker) inLastLeaf() bool {
	for i := range len(w.steps) - 1 {
		if s := &w.steps[i]; s.at+1 < s.page.count() {
			return false
		}
	}
	return true
}

// end moves to the last element.
func (w *walker) end(t tree) {
	w.begin(t)
	w.settle(true)
}

// begin moves to the root; a tree without elements is left at once.
func (w *walker) begin(t tree) {
	w.tree, w.steps = t, w.few[:0]
	if t.root != nil && t.root.count() > 0 {
		w.push(t.root)
	} else if t.root != nil && !t.root.isLeaf() {
		panic("a branch without elements")
	}
}

// valid reports whether the walker is at an element, or right behind the last
// one of a leaf.
func (w *walker) valid() bool { return len(w.steps) > 0 }

func (w *walker) last() *step { return &w.steps[len(w.steps)-1] }

// up forgets the last step.
func (w *walker) up() { w.steps = w.steps[:len(w.steps)-1] }

func (w *walker) push(b page) {
	if len(w.steps) == maxDepth {
		panic(inCircles)
	}
	w.steps = append(w.steps, step{page: b})
}

// down goes to the child at which the last step is.
func (w *walker) down() {
	_, id := w.last().page.branch(w.last().at)
	w.push(w.tree.pages.child(id))
}

// settle goes down to a leaf, along the last elements or the first ones.
func (w *walker) settle(last bool) {
	for w.valid() {
		s := w.last()
		if last {
			s.at = s.page.count() - 1
		}
		if s.page.isLeaf() {
			return
		}
		w.down()
	}
}

// next moves to the following element. The walker is at one, or right behind
// the last one of its leaf.
func (w *walker) next() {
	for ; w.valid(); w.up() {
		s := w.last()
		if s.at+1 >= s.page.count() {
			continue
		}
		s.at++
		if !s.page.isLeaf() {
			w.down()
			w.settle(false)
		}
		return
	}
}

// prev moves to the preceding element. The walker is at one.
func (w *walker) prev() {
	for ; w.valid(); w.up() {
		s := w.last()
		if s.at == 0 {
			continue
		}
		s.at--
		if !s.page.isLeaf() {
			w.down()
			w.settle(true)
		}
		return
	}
}

// search returns the first element with a key at or after the given one, or
// the count, and whether it has that very key.
func (b page) search(key []byte) (i int, exact bool) {
	n := b.count()
	return b.searchFrom(n/2, n, key)
}

// searchFrom is search beginning with element mid. From there it takes steps
// that double until it has passed the key, and then halves what is left; with a
// step of the count it halves at once.
func (b page) searchFrom(mid, step int, key []byte) (i int, exact bool) {
	size := uint(4) // where an element says how long its key is, behind where
	if b.isLeaf() {
		size = 8
	}
	lo, hi := 0, b.count()
	for lo < hi {
		mid = min(max(mid, lo), hi-1)
		e := b.element(mid)
		pos, n := binary.NativeEndian.Uint32(e[size-4:]), binary.NativeEndian.Uint32(e[size:])
		switch c := bytes.Compare(cut(e, pos, n), key); {
		case c < 0:
			lo = mid + 1
		case c > 0:
			hi = mid
		default:
			return mid, true
		}
		if mid = (lo + hi) / 2; lo == 0 {
			mid = max(mid, hi-step)
		} else if hi == b.count() {
			mid = min(mid, lo+step-1)
		}
		step *= 2
	}
	return lo, false
}

// child returns the element of a branch below which key is, if anywhere: the
// last one that begins at or before it.
func (b page) child(key []byte) int {
	n := b.count()
	return b.childFrom(n/2, n, key)
}

// childFrom is child with the search that searchFrom makes.
func (b page) childFrom(mid, step int, key []byte) int {
	i, exact := b.searchFrom(mid, step, key)
	if !exact && i > 0 {
		i--
	}
	return i
}
