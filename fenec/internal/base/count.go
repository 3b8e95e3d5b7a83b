package base

import (
	"bytes"
	"fmt"
)

// Count returns how many keys of space are in [lower, upper); nil is unbounded.
// Of the pages between the bounds it looks at the heads and first keys only, so
// that it says nothing about the other keys in them.
func (t *Tx) Count(space uint32, lower, upper []byte) (n int64, err error) {
	defer endReading(t.path, catchFaults(), &err)
	in := t.space(space)
	if in.root == nil || lower != nil && upper != nil && bytes.Compare(lower, upper) >= 0 {
		return 0, nil
	}
	return in.count(in.root, bounds{lower, upper}, bounds{}, 0), nil
}

// bounds are those of keys in [lower, upper); nil is unbounded.
type bounds struct{ lower, upper []byte }

func (in bounds) hold(key []byte) bool {
	return bytes.Compare(key, in.lower) >= 0 && (in.upper == nil || bytes.Compare(key, in.upper) < 0)
}

// count returns how many keys below b are in the bounds. The keys of b must be
// within what its parents have told, reach, so that a page that several lead to
// is found out.
func (t tree) count(b page, in, reach bounds, depth int) (n int64) {
	if b.isLeaf() {
		return int64(b.rank(in, reach))
	}
	if depth == maxDepth {
		panic(inCircles)
	}
	if b.count() == 0 {
		panic("a branch without elements")
	}
	first, last := 0, b.count()-1
	if in.lower != nil {
		first = b.child(in.lower)
	}
	if in.upper != nil {
		last = b.child(in.upper)
	}
	key := b.key(first)
	if !reach.hold(key) {
		panic(b.disorder())
	}
	for i := first; i <= last; i++ {
		next := reach.upper
		if i+1 < b.count() {
			next = b.key(i + 1)
		}
		if next != nil && bytes.Compare(key, next) >= 0 {
			panic(b.disorder())
		}
		_, id := b.branch(i)
		part := bounds{}
		if i == first {
			part.lower = in.lower
		}
		if i == last {
			part.upper = in.upper
		}
		n += t.count(t.pages.child(id), part, bounds{key, next}, depth+1)
		key = next
	}
	return n
}

// rank returns how many keys of a leaf are in the bounds.
func (b page) rank(in, reach bounds) int {
	first, end := 0, b.count()
	if pageHeader+elementBytes*end > len(b) {
		panic(fmt.Sprintf("page %d has no room for %d elements", b.id(), end))
	}
	if end > 0 && !reach.hold(b.key(0)) {
		panic(b.disorder())
	}
	if in.lower != nil {
		first, _ = b.search(in.lower)
	}
	if in.upper != nil {
		end, _ = b.search(in.upper)
	}
	return max(end-first, 0)
}
