package front

import "math"

// OverlayEntry is the least number of bytes that an overlay takes for a key beside
// those of the key and of its value.
const OverlayEntry = (1 + nodeKey + laterVersionWords) * wordBytes

// Overlay is an ordered map in memory that holds one version of a key: what a
// block has written so far, before it has a sequence. It is for one goroutine
// at a time. Its iterators may be used while it is written; they see what is
// written ahead of them.
type Overlay struct {
	list list
}

// NewOverlay returns an empty overlay, of about 2 KiB.
func NewOverlay() *Overlay {
	o := new(Overlay)
	o.list.reset()
	return o
}

// Replace sets a key to a value, or to a tombstone, which has none. key and
// value are copied. A value no longer than one the key has had before takes
// that one's place, so a slice of the old one must not be used any more.
func (o *Overlay) Replace(space uint32, key, value []byte, tombstone bool) {
	l := &o.list
	value, flags := content(value, tombstone)
	t := newTarget(space, checkedKey(key))
	n, finger := l.locate(&t)
	if n == 0 {
		l.link(&t, finger, l.roomyVersion(value, flags, len(value)))
		l.count.Add(1)
		return
	}
	if !l.overwrite(l.newest(n), value, flags) {
		l.setNewest(n, l.roomyVersion(value, flags, len(value)+len(value)/2))
	}
}

// Get returns what a key was last set to. ok is false if it never was. value
// is good until the key's next Replace, and not to be changed.
func (o *Overlay) Get(space uint32, key []byte) (value []byte, tombstone, ok bool) {
	return o.list.get(space, key, math.MaxUint64)
}

// NewIter returns an iterator over the keys of a space in [lower, upper), as
// Front.NewIter does.
func (o *Overlay) NewIter(space uint32, lower, upper []byte) *Iter {
	it := new(Iter)
	o.InitIter(it, space, lower, upper)
	return it
}

// InitIter makes it what NewIter returns.
func (o *Overlay) InitIter(it *Iter, space uint32, lower, upper []byte) {
	it.init(&o.list, space, lower, upper, math.MaxUint64)
}

// NewFoldIter returns an iterator over the keys of all spaces, before the first
// of them. All sequences are 0.
func (o *Overlay) NewFoldIter() *FoldIter {
	return &FoldIter{list: &o.list, maxSeq: math.MaxUint64, node: head}
}

// Len returns the number of keys.
func (o *Overlay) Len() int { return int(o.list.count.Load()) }

// MemoryBytes returns the memory held, used or not.
func (o *Overlay) MemoryBytes() int64 { return o.list.held.Load() }

// Reset empties the overlay. It keeps at most 32 KiB; keys, values and
// iterators of before must not be used any more.
func (o *Overlay) Reset() { o.list.reset() }

// versionRoom is where the only version of an overlay's key, which has none
// before it, has the number of bytes there are for its value.
const versionRoom = versionBefore

// roomyVersion returns a version with room for longer values.
func (l *list) roomyVersion(value []byte, flags uint32, room int) ref {
	v := l.newVersion(laterVersionWords, room, 0, value, flags)
	c, i := l.at(v)
	c[i+versionRoom] = uint32(room)
	return v
}

// overwrite gives v another content, if there is room for it.
func (l *list) overwrite(v ref, value []byte, flags uint32) bool {
	c, i := l.at(v)
	if len(value) > int(c[i+versionRoom]) {
		return false
	}
	c[i+versionLen] = uint32(len(value)) | flags
	copy(bytesOf(c[i+laterVersionWords:], len(value)), value)
	return true
}
