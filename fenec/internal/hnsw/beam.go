package hnsw

// beam holds, nearest first, the nodes that a search has met and may still
// need: its results so far, and between them nodes that it only walks through.
// A sorted array is faster than the two heaps of the paper as long as it is
// short.
type beam struct {
	items []near
	next  int // every item before it is expanded
	live  int // items that are not passing
	width int // how many of those are wanted
}

func (b *beam) reset(width int) {
	b.items = b.items[:0]
	b.next, b.live, b.width = 0, 0, width
}

// wants reports whether a node of this rank would be among the results, or
// lead to such.
func (b *beam) wants(rank uint32) bool {
	return b.live < b.width || rank < b.items[len(b.items)-1].rank()
}

// add puts in a node that the beam wants.
func (b *beam) add(x near) {
	i := b.place(x)
	b.items = append(b.items, 0)
	copy(b.items[i+1:], b.items[i:])
	b.items[i] = x
	b.next = min(b.next, i)
	if x&passing == 0 {
		b.live++
		b.trim()
	}
}

// place returns where x belongs. Which way a step of the search goes cannot be
// foreseen, so the loop is written for the compiler to do without a branch.
func (b *beam) place(x near) int {
	items := b.items
	low := 0
	for count := len(items); count > 0; {
		half := (count + 1) / 2
		next := low + half
		if items[next-1] < x {
			low = next
		}
		count -= half
	}
	return low
}

// trim drops the farthest result if there is one too many, and what is farther
// than the last one that stays.
//
// Invariant: with live = width, the last item is a result.
func (b *beam) trim() {
	if b.live < b.width {
		return
	}
	last := len(b.items) - 1
	for b.live > b.width || b.items[last]&passing != 0 {
		if b.items[last]&passing == 0 {
			b.live--
		}
		last--
	}
	b.items = b.items[:last+1]
}

// expand returns the nearest node that is not expanded and marks it.
func (b *beam) expand() (node uint32, ok bool) {
	for ; b.next < len(b.items); b.next++ {
		if x := b.items[b.next]; x&expanded == 0 {
			b.items[b.next] = x | expanded
			b.next++
			return x.node(), true
		}
	}
	return 0, false
}

// waiting returns the nearest two nodes that are not expanded, or none.
func (b *beam) waiting() (first, second uint32) {
	first = none
	for _, x := range b.items[b.next:] {
		switch {
		case x&expanded != 0:
		case first == none:
			first = x.node()
		default:
			return first, x.node()
		}
	}
	return first, none
}
