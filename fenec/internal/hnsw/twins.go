package hnsw

import (
	"iter"
	"sync"
	"sync/atomic"
)

// Vectors that are stored as the same bytes share a place in the graph: the first
// has the links, and the others are a chain behind it. Thousands of equal
// vectors would otherwise fill each other's lists and be cut off from all others.
// Zero vectors under Cosine are as far from everything and have no place at all.
// They are a chain too, behind Graph.zeros.

// twinSlack is how much the ranks of equal vectors may differ by rounding.
const twinSlack = 16

// chain walks a chain, but for nodes newer than the view.
func (s *scratch) chain(first uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		size, v := s.view.size(), s.view
		for n := first; n != none; n = atomic.LoadUint32(v.next(n)) {
			if int(n) >= size {
				v = s.graph.view.Load()
			} else if !yield(n) {
				return
			}
		}
	}
}

// twinOf returns the node in the beam whose vector is stored as the same bytes as
// that of n, which is p, or none. Under Dot there may be nearer ones.
func (s *scratch) twinOf(p *probe, n uint32) uint32 {
	s.nodes = append(s.nodes[:0], n)
	rank := s.ranksOf(p, s.nodes)[0]
	for _, x := range s.beam.items[s.beam.place(nearAt(rank-min(rank, twinSlack), 0)):] {
		if x.rank() > rank && x.rank()-rank > twinSlack {
			break
		}
		if x.node() != n && s.rows.same(n, x.node()) {
			return x.node()
		}
	}
	return none
}

// join puts n in the chain of head, and reports whether it could: not if head is
// about to be freed.
func (g *Graph) join(v *view, n, head uint32) bool {
	mu := g.stripe(head)
	mu.Lock()
	defer mu.Unlock()
	if atomic.LoadUint32(v.state(head))&condemned != 0 {
		return false
	}
	write(v.neighbours(n, 0), []uint32{head})
	g.push(v, n, v.next(head))
	return true
}

// joinZeros puts n in the chain of zero vectors.
func (g *Graph) joinZeros(v *view, n uint32) {
	g.zerosMu.Lock()
	defer g.zerosMu.Unlock()
	g.push(v, n, &g.zeros)
}

// push puts n in front of a chain.
func (g *Graph) push(v *view, n uint32, first *uint32) {
	g.twins.Add(1) // before the node is in the chain, as in Delete
	atomic.OrUint32(v.state(n), twin)
	atomic.StoreUint32(v.next(n), atomic.LoadUint32(first))
	atomic.StoreUint32(first, n)
	v.mark(n)
}

// unchain takes the condemned nodes out of a chain, whose lock mu is.
func (g *Graph) unchain(mu *sync.Mutex, first *uint32) {
	if atomic.LoadUint32(first) == none {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	v := g.view.Load()
	for word := first; ; {
		n := atomic.LoadUint32(word)
		if n == none {
			return
		}
		if atomic.LoadUint32(v.state(n))&condemned != 0 {
			atomic.StoreUint32(word, atomic.LoadUint32(v.next(n)))
		} else {
			word = v.next(n)
		}
	}
}
