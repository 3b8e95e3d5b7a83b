package hnsw

import (
	"context"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// ctxSteps is after how many expanded nodes a search looks at its context.
const ctxSteps = 64

// descend returns the nearest node it meets on the way from the entry down to
// the level before to, going to the nearest neighbour as long as there is a
// nearer one.
func (s *scratch) descend(p *probe, e entry, to int) near {
	s.nodes = append(s.nodes[:0], e.node())
	best := nearAt(s.ranksOf(p, s.nodes)[0], e.node())
	for level := e.level(); level > to; level-- {
		best = s.greedy(p, best, level)
	}
	return best
}

func (s *scratch) greedy(p *probe, best near, level int) near {
	for {
		from := best
		s.nodes = s.view.read(s.view.neighbours(from.node(), level), s.nodes[:0])
		for i, rank := range s.ranksOf(p, s.nodes) {
			best = min(best, nearAt(rank, s.nodes[i]))
		}
		if best == from {
			return best
		}
	}
}

// walk fills the beam, which has been reset, with the nodes of a level that are
// nearest to p, beginning from one of them. Twins of nodes are among the results
// if withTwins is true.
func (s *scratch) walk(ctx context.Context, p *probe, from near, level int, withTwins bool) error {
	s.forget()
	s.visit(from.node())
	s.meet(from, withTwins)
	for steps := 1; ; steps++ {
		n, ok := s.beam.expand()
		if !ok {
			return nil
		}
		if steps%ctxSteps == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		nodes := s.unvisited(n, level)
		for i, rank := range s.ranksWhile(p, nodes, s.upcoming(level)) {
			if s.beam.wants(rank) {
				s.meet(nearAt(rank, nodes[i]), withTwins)
			}
		}
	}
}

// unvisited returns the neighbours of n that have not been visited, and marks
// them. The result is good until the next call.
func (s *scratch) unvisited(n uint32, level int) []uint32 {
	s.nodes = s.pick(s.view.neighbours(n, level), s.nodes, true)
	return s.nodes
}

// upcoming returns the neighbours to be measured of the node that is expanded next
// if no nearer one comes between, and has the list of the one after that fetched.
// The result is good until the next call.
func (s *scratch) upcoming(level int) []uint32 {
	next, after := s.beam.waiting()
	if after != none {
		vector.Fetch(s.view.neighbours(after, level))
	}
	if next == none {
		return nil
	}
	s.soon = s.pick(s.view.neighbours(next, level), s.soon, false)
	return s.soon
}

// pick returns, in nodes, which may be made longer, those of a list that have not
// been visited, and marks them if visit is true.
func (s *scratch) pick(list, nodes []uint32, visit bool) []uint32 {
	if len(list) > cap(nodes) {
		nodes = make([]uint32, len(list))
	}
	nodes, visited, stamp := nodes[:len(list)], s.visited, s.stamp
	count := 0
	for i := range list {
		m := atomic.LoadUint32(&list[i])
		if uint64(m) >= uint64(len(visited)) {
			if m == none {
				break
			}
			continue
		}
		// Whether a node was visited is as good as random, so this does not branch.
		nodes[count] = m
		count += int((uint32(visited[m]^stamp) + 255) >> 8)
		if visit {
			visited[m] = stamp
		}
	}
	return nodes[:count]
}

// meet puts a node that the beam wants in it.
func (s *scratch) meet(x near, withTwins bool) {
	if !s.careful {
		s.beam.add(x)
		return
	}
	n := x.node()
	if atomic.LoadUint32(s.view.state(n))&dead != 0 {
		x |= passing
	}
	s.beam.add(x)
	if withTwins {
		s.meetChain(atomic.LoadUint32(s.view.next(n)), x.rank())
	}
}

// meetChain puts the twins of a chain in the beam, as far as it wants them. They
// have no neighbours of their own.
func (s *scratch) meetChain(first, rank uint32) {
	for n := range s.chain(first) {
		if !s.beam.wants(rank) {
			return
		}
		if atomic.LoadUint32(s.view.state(n))&dead == 0 {
			s.beam.add(nearAt(rank, n) | expanded)
		}
	}
}
