package base

import (
	"bytes"
	"encoding/binary"
)

// Cursor walks the keys of one space in order. A position past either end has
// a nil Key; moving on from there is not allowed. A walk always ends: keys that
// are out of order are ErrCorrupt. It is for one goroutine, and must not be
// copied.
type Cursor struct {
	tree  tree
	walk  walker
	path  string
	Key   []byte
	Value []byte

	leaf page // that holds Key
	at   int  // the place of Key there
	run  int  // how many more elements Step may go to

	lower, upper []byte
	inner        *byte // a branch that is known to be within them
	goesOn       bool  // the cursor has moved on since it was sought for
}

// SeekGE moves to the first key at or after key. It is found soonest near where
// the cursor stands.
func (c *Cursor) SeekGE(key []byte) (err error) {
	defer endReading(c.path, catchFaults(), &err)
	c.goesOn = false
	c.seek(key)
	c.take()
	if c.Key != nil && bytes.Compare(c.Key, key) < 0 {
		return c.disorder()
	}
	return nil
}

// SeekLT moves to the last key before key; a nil key is past every other.
func (c *Cursor) SeekLT(key []byte) (err error) {
	defer endReading(c.path, catchFaults(), &err)
	c.goesOn = false
	if key != nil {
		c.seek(key)
	}
	if key == nil || !c.walk.valid() {
		c.settle()
		c.walk.end(c.tree)
	} else {
		c.walk.prev()
	}
	c.take()
	if key != nil && c.Key != nil && bytes.Compare(c.Key, key) >= 0 {
		return c.disorder()
	}
	return nil
}

// Next moves to the following key.
func (c *Cursor) Next() (err error) {
	defer endReading(c.path, catchFaults(), &err)
	from := c.Key
	c.settle()
	c.goesOn = true
	c.walk.next()
	c.take()
	if c.Key != nil && bytes.Compare(c.Key, from) <= 0 {
		return c.disorder()
	}
	return nil
}

// Prev moves to the preceding key.
func (c *Cursor) Prev() (err error) {
	defer endReading(c.path, catchFaults(), &err)
	from := c.Key
	c.settle()
	c.goesOn = true
	c.walk.prev()
	c.take()
	if c.Key != nil && bytes.Compare(c.Key, from) >= 0 {
		return c.disorder()
	}
	return nil
}

// Limit sets what bounds a run that is given no bound: [lower, upper), of which
// nil is unbounded. They are kept.
func (c *Cursor) Limit(lower, upper []byte) {
	c.lower, c.upper, c.inner = lower, upper, nil
}

// Run lets Step go on to the keys of this page before bound or, if that is nil,
// before the upper limit, and returns how many those are. It and Step are for a
// caller that reads keys and values under Guard, or else a fault in the map ends
// the process.
func (c *Cursor) Run(bound []byte) int {
	c.run = c.leaf.count() - 1 - c.at
	if bound == nil && c.upper != nil && !c.inside() {
		bound = c.upper
	}
	if bound != nil && c.run > 0 && !c.within(c.at+c.run, bound, false) {
		c.run = c.gallop(bound, false)
	}
	return c.run
}

// RunBack is Run for StepBack: it may go on to the keys at or after bound or the
// lower limit.
func (c *Cursor) RunBack(bound []byte) int {
	c.run = c.at
	if bound == nil && c.lower != nil && !c.inside() {
		bound = c.lower
	}
	if bound != nil && c.run > 0 && !c.within(0, bound, true) {
		c.run = c.gallop(bound, true)
	}
	return c.run
}

// inside reports whether this page lies between others of a branch that is
// within the limits. Its own far keys, which are likely to be cache misses, need
// not be looked at then; where they are not what the branch says, the next page
// will not follow on them.
func (c *Cursor) inside() bool {
	depth := len(c.walk.steps)
	if depth < 2 {
		return false
	}
	branch := &c.walk.steps[depth-2]
	last := branch.page.count() - 1
	if branch.at == 0 || branch.at >= last {
		return false
	}
	if c.inner != &branch.page[0] {
		first, ok := branch.page.separator(0)
		end, sound := branch.page.separator(last)
		if !ok || !sound || bytes.Compare(first, c.lower) < 0 || c.upper != nil && bytes.Compare(end, c.upper) > 0 {
			return false
		}
		c.inner = &branch.page[0]
	}
	return true
}

// Halt takes back what Run has allowed.
func (c *Cursor) Halt() { c.run = 0 }

// gallop returns how many keys there are from here to bound, of which there is
// one in the page. It is the sooner done the fewer they are.
func (c *Cursor) gallop(bound []byte, back bool) int {
	place := func(n int) int {
		if back {
			return c.at - n
		}
		return c.at + n
	}
	// Invariant: the key lo steps on is before the bound, the one hi steps on is not.
	lo, hi := 0, 1
	for hi < c.run && c.within(place(hi), bound, back) {
		lo, hi = hi, 2*hi
	}
	for hi = min(hi, c.run); hi-lo > 1; {
		if mid := (lo + hi) / 2; c.within(place(mid), bound, back) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// within reports whether the key of element i is on this side of bound. One
// that is damaged is not.
func (c *Cursor) within(i int, bound []byte, back bool) bool {
	key, _, ok := c.leaf.sound(i)
	return ok && (bytes.Compare(key, bound) >= 0) == back
}

// Step moves to the following key, if Run has allowed for it and there is
// nothing wrong with it, and reports whether it has.
func (c *Cursor) Step() bool {
	if c.run == 0 {
		return false
	}
	key, value, ok := c.leaf.sound(c.at + 1)
	if !ok || !ascends(c.Key, key) {
		return false
	}
	c.Key, c.Value = key, value
	c.at++
	c.run--
	return true
}

// StepBack is Step to the preceding key, after RunBack.
func (c *Cursor) StepBack() bool {
	if c.run == 0 {
		return false
	}
	key, value, ok := c.leaf.sound(c.at - 1)
	if !ok || !ascends(key, c.Key) {
		return false
	}
	c.Key, c.Value = key, value
	c.at--
	c.run--
	return true
}

// Hop is Step, or StepBack, beyond any bound, and allows for no more steps.
func (c *Cursor) Hop(back bool) (moved bool) {
	switch {
	case back && c.at > 0:
		c.run = 1
		moved = c.StepBack()
	case !back && c.at+1 < c.leaf.count():
		c.run = 1
		moved = c.Step()
	}
	c.run = 0
	return moved
}

// seek moves the walk to the first element at or after key.
func (c *Cursor) seek(key []byte) {
	if c.leaf == nil {
		c.walk.seek(c.tree, key)
		return
	}
	c.settle()
	c.walk.seekNear(key)
}

// settle brings the walk to where steps have led. From there on until take the
// cursor has no place that it knows to be good.
func (c *Cursor) settle() {
	if c.leaf != nil {
		c.walk.last().at = c.at
	}
	c.leaf, c.run = nil, 0
}

// take makes the element the walk is at the current one.
func (c *Cursor) take() {
	c.Key, c.Value, _ = c.walk.at()
	if c.walk.valid() {
		s := c.walk.last()
		c.leaf, c.at = s.page, s.at
	}
}

func (c *Cursor) disorder() error {
	c.Key, c.Value, c.leaf, c.run = nil, nil, nil, 0
	return corrupt(c.path, "keys out of order")
}

// ascends reports whether a is before b.
func ascends(a, b []byte) bool {
	if len(a) >= idBytes && len(b) >= idBytes {
		if x, y := binary.BigEndian.Uint64(a), binary.BigEndian.Uint64(b); x != y {
			return x < y
		}
	}
	return bytes.Compare(a, b) < 0
}
