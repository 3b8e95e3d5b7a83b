package front

// FoldIter goes once over the keys of all spaces, by space and key, each with
// its newest visible version. It is for one goroutine at a time, and may be
// kept for any time between two steps.
type FoldIter struct {
	list          *list
	maxSeq        uint64
	node, version ref
}

// Next moves to the next key and reports whether there is one. The methods
// below may be called only then.
func (it *FoldIter) Next() bool {
	for it.node != 0 {
		it.node = it.list.next(it.node, 0)
		if it.node == 0 {
			return false
		}
		if it.version = it.list.visible(it.node, it.maxSeq); it.version != 0 {
			return true
		}
	}
	return false
}

// Skip passes over the keys of all spaces before one. Nothing may be written
// meanwhile.
func (it *FoldIter) Skip(space uint32) {
	t := newTarget(space, nil)
	if it.node, _ = it.list.seek(&t); it.node != 0 {
		it.node = it.list.before(it.node)
	}
}

// Space returns the space the key is in.
func (it *FoldIter) Space() uint32 { return it.list.space(it.node) }

// Key returns the key. It is not to be changed; it stays good as a value does.
func (it *FoldIter) Key() []byte { return it.list.key(it.node) }

// Seq returns the sequence of the version.
func (it *FoldIter) Seq() uint64 { return it.list.seq(it.version) }

// Value returns the value, nil for a tombstone. It is not to be changed.
func (it *FoldIter) Value() []byte {
	value, _ := it.list.value(it.version)
	return value
}

// Tombstone reports whether the key is deleted.
func (it *FoldIter) Tombstone() bool {
	_, tombstone := it.list.value(it.version)
	return tombstone
}
