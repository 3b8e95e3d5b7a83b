package hnsw

import (
	"context"
	"sync/atomic"
)

// reach marks the nodes that searches get to on the lowest level.
type reach struct {
	v     *view
	seen  []uint64 // a bit a node
	queue []uint32
}

func (r *reach) add(n uint32) {
	if n < uint32(64*len(r.seen)) && r.seen[n/64]>>(n%64)&1 == 0 {
		r.seen[n/64] |= 1 << (n % 64)
		r.queue = append(r.queue, n)
	}
}

// spread marks all that is reached from n.
func (r *reach) spread(n uint32) {
	r.add(n)
	for len(r.queue) > 0 {
		last := len(r.queue) - 1
		n, r.queue = r.queue[last], r.queue[:last]
		list := r.v.neighbours(n, 0)
		for i := range list {
			m := atomic.LoadUint32(&list[i])
			if m == none {
				break
			}
			r.add(m)
		}
	}
}

func (r *reach) has(n uint32) bool { return r.seen[n/64]>>(n%64)&1 != 0 }

// rejoin links the nodes that searches no longer get to into the rest of the
// graph again.
func (g *Graph) rejoin(ctx context.Context) error {
	for _, n := range g.unreached() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		g.rejoinOne(n)
	}
	return nil
}

// unreached returns nodes that searches do not get to: of each group that is cut
// off, one from which the rest can be reached, or several.
func (g *Graph) unreached() (cut []uint32) {
	v := g.view.Load()
	var nodes []uint32 // that were linked before the walk began
	for n := range uint32(v.size()) {
		if atomic.LoadUint32(v.state(n))&(linked|condemned) == linked {
			nodes = append(nodes, n)
		}
	}
	e := entry(g.entry.Load())
	if e == noEntry {
		return nil
	}
	r := reach{v: v, seen: make([]uint64, (v.size()+63)/64)}
	r.spread(e.node())
	for _, n := range nodes {
		if !r.has(n) {
			cut = append(cut, n)
			r.spread(n)
		}
	}
	return cut
}

func (g *Graph) rejoinOne(n uint32) {
	g.cut.RLock()
	defer g.cut.RUnlock()
	s := g.enter()
	defer g.leave(s)
	s.relink(n)
}

// relink links n to the nearest nodes that searches find, as if it were new. It
// keeps the neighbours it has.
func (s *scratch) relink(n uint32) {
	e := s.start()
	if e == noEntry {
		return
	}
	p := s.stored(n, goal)
	level := int(atomic.LoadUint32(s.view.state(n)) & levelMask)
	s.seek(&p, n, e, level)
	s.connect(n, min(level, e.level()))
}
