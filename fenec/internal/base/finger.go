package base

import "encoding/binary"

// fingerDepth is how many levels of a tree a finger remembers.
const fingerDepth = 6

// Finger finds keys near the one it last found without going through the whole
// tree, as long as they are numbers of 8 bytes; others it looks for from the
// root. The zero Finger points nowhere yet. It is for one goroutine.
type Finger struct {
	tx    *Tx
	space uint32
	tree  tree
	depth int // levels of way that are known
	way   [fingerDepth]reach
}

// reach is a page with the keys that can be below it, which for the root are
// all.
type reach struct {
	page page
	in   span
}

// Get returns the value of key in a space of t, or nil if there is none.
func (f *Finger) Get(t *Tx, space uint32, key []byte) (value []byte, err error) {
	defer endReading(t.path, catchFaults(), &err)
	if f.tx != t || f.space != space {
		f.tx, f.space, f.depth = t, space, 0
		f.tree = t.space(space)
	}
	if len(key) != idBytes || f.tree.root == nil {
		return f.tree.get(key), nil
	}
	return f.get(key), nil
}

func (f *Finger) get(key []byte) []byte {
	id := binary.BigEndian.Uint64(key)
	level := f.depth - 1
	for level > 0 && !f.way[level].in.holds(id) {
		level--
	}
	if level < 0 {
		level, f.way[0] = 0, reach{page: f.tree.root}
	}
	return f.descend(level, key)
}

// descend returns the value of key, which is below the page at a level, and
// remembers the way there.
func (f *Finger) descend(level int, key []byte) []byte {
	at := f.way[level]
	f.depth = level + 1
	for range maxDepth {
		b := at.page
		mid, step := at.in.guess(key, b.count())
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
		_, id := b.branch(i)
		known := false
		at.in, known = b.span(i, at.in)
		at.page = f.tree.pages.page(id)
		// A page whose keys are not known ends what can be remembered.
		if level++; known && f.depth == level && level < fingerDepth {
			f.way[level] = at
			f.depth++
		}
	}
	panic(inCircles)
}

// idBytes is the length of the keys that are numbers, as ids are.
const idBytes = 8

// span is between which keys those below a page lie, if they are ids. Without
// an end, which is 0 then, there is no telling how they are spread.
type span struct{ first, end uint64 }

// span returns the span of the page that element i of a branch leads to, whose
// own is in. known is false if it cannot be told.
func (b page) span(i int, in span) (of span, known bool) {
	first := b.key(i)
	if len(first) != idBytes {
		return span{}, false
	}
	in.first = binary.BigEndian.Uint64(first)
	if i+1 < b.count() {
		end := b.key(i + 1)
		if len(end) != idBytes {
			return span{}, false
		}
		in.end = binary.BigEndian.Uint64(end)
	}
	return in, true
}

// holds reports whether the key of an id, if there is one, is in the span.
func (in span) holds(id uint64) bool {
	return in.first <= id && (id < in.end || in.end == 0)
}

// guess returns where to begin the search for key among n elements, and with
// what step to go on: where it would be if they were spread evenly over the
// span, as ids without gaps are. The search then looks at hardly any other
// element, each of which is likely to be a cache miss. Where the span is not
// known it is the middle, and halves.
func (in span) guess(key []byte, n int) (mid, step int) {
	if len(key) == idBytes {
		if k := binary.BigEndian.Uint64(key); in.first <= k && k < in.end {
			return int(float64(k-in.first) / float64(in.end-in.first) * float64(n)), 1
		}
	}
	return n / 2, n
}
