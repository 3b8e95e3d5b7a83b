package hnsw

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// Insert adds a vector, which is not kept, under an id that the graph does not
// have. The error is ErrDimension, ErrExists or ErrFull.
func (g *Graph) Insert(id uint64, v []float32) error {
	if len(v) != g.params.Dim {
		return ErrDimension
	}
	n, err := g.insert(id, v)
	if err == nil {
		g.learnAt(n)
	}
	return err
}

func (g *Graph) insert(id uint64, v []float32) (uint32, error) {
	g.cut.RLock()
	defer g.cut.RUnlock()
	level := g.levelOf(id)
	n, err := g.admit(id, level)
	if err != nil {
		return none, err
	}
	s := g.enter()
	defer g.leave(s)
	if p, ok := s.store(n, v); ok {
		s.insert(&p, n, level)
	} else {
		g.joinZeros(s.view, n)
	}
	return n, nil
}

// admit allocates a node for id, and makes it known to Delete.
func (g *Graph) admit(id uint64, level int) (uint32, error) {
	shard := g.ids.shard(id)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	shard.roomLocked(g.view.Load(), shard.count+1)
	slot, found := shard.findLocked(g.view.Load(), id)
	if found {
		return none, ErrExists
	}
	n := g.allocate(id, level)
	if n == none {
		return none, ErrFull
	}
	shard.putLocked(slot, n)
	g.live.Add(1)
	return n, nil
}

// store keeps v as the vector of n, and returns it as a probe unless n has no
// place in the graph.
func (s *scratch) store(n uint32, v []float32) (p probe, ok bool) {
	s.graph.lengthen(v)
	v, isWhole := s.rows.put(n, v, s.query)
	if isWhole {
		atomic.OrUint32(s.view.state(n), whole)
	}
	if s.graph.params.Metric == vector.Cosine && vector.Norm(v) == 0 {
		return p, false
	}
	return s.asked(v), true
}

// insert links a new node, whose vector is p, into the graph.
func (s *scratch) insert(p *probe, n uint32, level int) {
	g := s.graph
	for {
		e := s.start()
		if e == noEntry {
			if g.enterAt(s.view, e, n, level) {
				return
			}
			continue
		}
		s.seek(p, n, e, level)
		if head := s.twinOf(p, n); head != none && g.join(s.view, n, head) {
			return
		}
		// With nothing but dead nodes around, the entry is as good as none.
		if len(s.levels[0]) > 0 {
			s.connect(n, min(level, e.level()))
			atomic.OrUint32(s.view.state(n), linked)
			g.raiseEntry(n, level)
			return
		}
		if g.enterAt(s.view, e, n, level) {
			return
		}
	}
}

// seek chooses neighbours for n, whose vector is p, from the given level
// downwards, and leaves the nearest nodes of level 0 in the beam.
func (s *scratch) seek(p *probe, n uint32, e entry, level int) {
	from := s.descend(p, e, min(level, e.level()))
	for l := min(level, e.level()); l >= 0; l-- {
		s.beam.reset(s.graph.params.EFConstruction)
		_ = s.walk(context.Background(), p, from, l, false)
		from = s.beam.items[0].plain()
		s.list = s.list[:0]
		for _, x := range s.beam.items {
			if x&passing == 0 && x.node() != n {
				s.list = append(s.list, x)
			}
		}
		s.levels[l] = s.choose(s.list, s.graph.params.M, s.levels[l])
	}
}

// connect makes the chosen nodes of the given level and those below neighbours
// of n, and n one of theirs.
func (s *scratch) connect(n uint32, level int) {
	for l := level; l >= 0; l-- {
		for _, m := range s.levels[l] {
			s.link(n, m, l)
		}
	}
	for l := level; l >= 0; l-- {
		known := false
		for _, m := range s.levels[l] {
			known = s.link(m, n, l) || known
		}
		if l == 0 && !known {
			s.introduce(n)
		}
	}
}

// introduce makes n a neighbour of the nearest node in the beam that has room
// for one more, since all nodes that were chosen have found nearer ones. Without
// anybody linking to it, n could never be found.
func (s *scratch) introduce(n uint32) {
	for _, x := range s.beam.items {
		if x.node() != n && s.append(x.node(), n) {
			return
		}
	}
}

// append makes m the last neighbour of n on level 0 if there is room.
func (s *scratch) append(n, m uint32) bool {
	mu := s.graph.stripe(n)
	mu.Lock()
	defer mu.Unlock()
	list := s.view.neighbours(n, 0)
	s.old = s.view.read(list, s.old[:0])
	if len(s.old) == len(list) {
		return false
	}
	if !slices.Contains(s.old, m) {
		atomic.StoreUint32(&list[len(s.old)], m)
		s.view.mark(n)
	}
	return true
}

// link makes m a neighbour of n, if it is one of the best that n can have, and
// reports whether it is one.
func (s *scratch) link(n, m uint32, level int) bool {
	mu := s.graph.stripe(n)
	mu.Lock()
	defer mu.Unlock()
	s.see() // since others may have made n a neighbour of new nodes
	list := s.view.neighbours(n, level)
	s.old = s.view.read(list, s.old[:0])
	if slices.Contains(s.old, m) {
		return true
	}
	if count := len(s.old); count < len(list) {
		atomic.StoreUint32(&list[count], m)
		s.view.mark(n)
		return true
	}
	if len(list) == 0 {
		return false
	}
	s.old = append(s.old, m)
	s.rank(n, s.old)
	s.chosen = s.choose(s.list, len(list), s.chosen)
	write(list, s.chosen)
	s.view.mark(n)
	return slices.Contains(s.chosen, m)
}

// rank sorts nodes by their distance from n, into s.list.
func (s *scratch) rank(n uint32, nodes []uint32) {
	p := s.stored(n, aside)
	s.list = s.list[:0]
	for i, rank := range s.ranksOf(&p, nodes) {
		s.list = append(s.list, nearAt(rank, nodes[i]))
	}
	slices.Sort(s.list)
}

// enterAt makes a node without neighbours the entry if that is still old, and
// reports whether it did.
func (g *Graph) enterAt(v *view, old entry, n uint32, level int) bool {
	g.top.Lock()
	defer g.top.Unlock()
	if entry(g.entry.Load()) != old {
		return false
	}
	atomic.OrUint32(v.state(n), linked)
	g.entry.Store(uint64(entryAt(n, level)))
	return true
}

// raiseEntry makes n the entry if its level is higher than that of the entry.
func (g *Graph) raiseEntry(n uint32, level int) {
	g.top.Lock()
	defer g.top.Unlock()
	if e := entry(g.entry.Load()); e == noEntry || level > e.level() {
		g.entry.Store(uint64(entryAt(n, level)))
	}
}
