package base

import "bytes"

// Cursor walks the keys of one space in order. A position past either end has
// a nil Key; moving on from there is not allowed. A walk always ends: keys that
// are out of order are ErrCorrupt. It is for one goroutine.
type Cursor struct {
	tree  tree
	walk  walker
	path  string
	Key   []byte
	Value []byte
}

// SeekGE moves to the first key at or after key.
func (c *Cursor) SeekGE(key []byte) (err error) {
	defer recoverCorrupt(c.path, &err)
	defer endFaults(catchFaults())
	c.walk.seek(c.tree, key)
	c.take()
	if c.Key != nil && bytes.Compare(c.Key, key) < 0 {
		return c.disorder()
	}
	return nil
}

// SeekLT moves to the last key before key; a nil key is past every other.
func (c *Cursor) SeekLT(key []byte) (err error) {
	defer recoverCorrupt(c.path, &err)
	defer endFaults(catchFaults())
	if key != nil {
		c.walk.seek(c.tree, key)
	}
	if key == nil || !c.walk.valid() {
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
	defer recoverCorrupt(c.path, &err)
	defer endFaults(catchFaults())
	from := c.Key
	c.walk.next()
	c.take()
	if c.Key != nil && bytes.Compare(c.Key, from) <= 0 {
		return c.disorder()
	}
	return nil
}

// Prev moves to the preceding key.
func (c *Cursor) Prev() (err error) {
	defer recoverCorrupt(c.path, &err)
	defer endFaults(catchFaults())
	from := c.Key
	c.walk.prev()
	c.take()
	if c.Key != nil && bytes.Compare(c.Key, from) >= 0 {
		return c.disorder()
	}
	return nil
}

// take makes the element the walk is at the current one.
func (c *Cursor) take() {
	c.Key, c.Value, _ = c.walk.at()
}

func (c *Cursor) disorder() error {
	c.Key, c.Value = nil, nil
	return corrupt(c.path, "keys out of order")
}
