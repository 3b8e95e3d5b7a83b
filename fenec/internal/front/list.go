package front

import (
	"math/bits"
	"sync/atomic"
)

// list is the skip list (Pugh 1990) of keys. Nodes are never unlinked. A node
// is complete before it is linked, from the lowest level up.
type list struct {
	arena
	height atomic.Int32 // levels in use
	count  atomic.Int64 // versions

	// The fields below are the writer's own.
	nodes    stream
	versions stream
	random   uint64
	fingers  fingers
}

// reset makes the list empty. Nobody may refer to a node of before any more.
func (l *list) reset() {
	l.arena.reset(&l.nodes, &l.versions)
	l.count.Store(0)
	l.height.Store(1)
	l.random = 0x9e3779b97f4a7c15
	l.fingers.reset()
	start := l.alloc(&l.nodes, maxHeight+nodeKey)
	clear(l.nodes.words[start:l.nodes.used])
}

// seek returns the first node at or after t, or 0, and whether it is at t.
func (l *list) seek(t *target) (n ref, exact bool) {
	p := head
	for level := int(l.height.Load()) - 1; level >= 0 && !exact; level-- {
		p, n, exact = l.walk(p, n, level, t)
	}
	return n, exact
}

// walk goes along one level from p, which is before t, and returns the last
// node before t, the first at or after it, and whether that one is at t. past
// is a node known to be after t, or 0, which spares comparing with it again.
func (l *list) walk(p, past ref, level int, t *target) (last, first ref, exact bool) {
	c, i := l.at(p)
	for {
		n := ref(atomic.LoadUint32(&c[i-1-level]))
		if n == past {
			return p, past, false
		}
		nc, ni := l.at(n)
		if o := compareAt(nc, ni, t); o >= 0 {
			return p, n, o == 0
		}
		p, c, i = n, nc, ni
	}
}

// locate returns the node at t, or 0 with the finger by which link adds it.
func (l *list) locate(t *target) (ref, *finger) {
	f := l.fingers.of(uint32(t.space))
	if n, exact := l.seekNear(f, t); exact {
		return n, f
	}
	return 0, f
}

// seekNear returns the first node at or after t, or 0, and whether it is at t.
// The finger, by which it is found the sooner the nearer it is, points there
// then or, if none is at t, right before it.
func (l *list) seekNear(f *finger, t *target) (n ref, exact bool) {
	level, n, exact := l.climb(f, t)
	if exact {
		return n, true
	}
	return l.descend(f, level, n, t)
}

// descend is seekNear where at a level the finger is right before t and n the
// first node at or after it, or 0.
func (l *list) descend(f *finger, level int, n ref, t *target) (first ref, exact bool) {
	for p := f.last[level]; level >= 0; level-- {
		if p, n, exact = l.walk(p, n, level, t); exact {
			f.point(level, n)
			return n, true
		}
		f.last[level] = p
	}
	return n, false
}

// climb returns the lowest level at which the finger is right before t, and the
// first node there at or after t. If exact, that one, or the finger's, is at t.
func (l *list) climb(f *finger, t *target) (level int, n ref, exact bool) {
	top := int(l.height.Load()) - 1
	for level = range top {
		p := f.last[level]
		if p != head {
			if o := l.compare(p, t); o == 0 {
				f.point(level, p)
				return level, p, true
			} else if o > 0 {
				continue
			}
		}
		if n = l.next(p, level); n == 0 || l.compare(n, t) > 0 {
			return level, n, false
		}
	}
	f.last[top] = head
	return top, 0, false
}

// link adds the node of a key that locate has not found.
func (l *list) link(t *target, f *finger, version ref) {
	height := l.drawHeight()
	n := l.newNode(t, height, version)
	c, i := l.at(n)
	for level := range height {
		p, next, _ := l.walk(f.last[level], 0, level, t)
		f.last[level] = p
		c[i-1-level] = uint32(next)
	}
	c[i+nodeBefore] = uint32(f.last[0])
	after := ref(c[i-1])
	for level, p := range f.last[:height] {
		pc, pi := l.at(p)
		atomic.StoreUint32(&pc[pi-1-level], uint32(n))
	}
	if after != 0 {
		ac, ai := l.at(after)
		atomic.StoreUint32(&ac[ai+nodeBefore], uint32(n))
	}
	f.point(height-1, n)
	if height > int(l.height.Load()) {
		l.height.Store(int32(height))
	}
}

// newNode returns a node that lacks its links.
func (l *list) newNode(t *target, height int, version ref) ref {
	size := max(prefixBytes, len(t.key))
	n := l.alloc(&l.nodes, height+nodeKey+wordsFor(size)) + ref(height)
	c, i := l.at(n)
	c[i+nodeSpace] = uint32(t.space)
	c[i+nodeKeyLen] = uint32(len(t.key))
	c[i+nodeVersion] = uint32(version)
	b := bytesOf(c[i+nodeKey:], size)
	clear(b[copy(b, t.key):])
	return n
}

// drawHeight returns 1 to maxHeight, each a quarter as likely as the one
// before: xorshift64* of Vigna 2016, whose high bits are its good ones.
func (l *list) drawHeight() int {
	x := l.random
	x ^= x >> 12
	x ^= x << 25
	x ^= x >> 27
	l.random = x
	return min(maxHeight, 1+bits.LeadingZeros64(x*0x2545f4914f6cdd1d)/2)
}
