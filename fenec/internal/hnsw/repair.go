package hnsw

import (
	"context"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	// mendNodes is how many nodes a goroutine of Repair takes at once.
	mendNodes = 256

	// mendDead is behind how many dead nodes is looked for the new neighbours of
	// one node, if there are few behind the nearest.
	mendDead = 1024

	// A node that has lost at least one in mendShare of its neighbours is given new
	// ones by a search. For others it does to look behind those that are lost;
	// always doing so alone costs recall with every turn, always searching
	// costs twice the time and gains little.
	mendShare = 16
)

// Repair frees the nodes of deleted ids. Each node that had one as a neighbour
// gets new neighbours, chosen among those it has and those of its dead ones. (The
// consolidation of FreshDiskANN, Singh et al., arXiv:2105.09613; here the new
// neighbours are told of it too, so that nothing is cut off.) It uses all cores and
// runs beside searches and changes; it waits for the searches that are going on,
// so that Query.Accept must not call it. With an error, which is the context's,
// what was not freed waits for the next Repair.
func (g *Graph) Repair(ctx context.Context) error {
	g.repairing.Lock()
	defer g.repairing.Unlock()
	doomed := g.condemn()
	if len(doomed) == 0 {
		return ctx.Err()
	}
	// Changes that began before may still make doomed nodes somebody's neighbours;
	// later ones do not.
	if err := g.scratches.quiesce(ctx); err != nil {
		return err
	}
	g.moveEntry()
	g.unchain(&g.zerosMu, &g.zeros)
	if err := g.sweep(ctx, (*scratch).mend); err != nil {
		return err
	}
	if err := g.rejoin(ctx); err != nil {
		return err
	}
	// Searches that began before the sweep may still stand on doomed nodes.
	if err := g.scratches.quiesce(ctx); err != nil {
		return err
	}
	g.free(doomed)
	return nil
}

// condemn marks and returns the nodes that can be freed: all that are dead, but
// those with living twins behind them.
func (g *Graph) condemn() (doomed []uint32) {
	for n := range g.marked(dead) {
		g.condemnOne(n)
	}
	// Those that an interrupted Repair has left are among them, and twins that were
	// made since the loop before began.
	return slices.Collect(g.marked(condemned))
}

// marked gives the nodes that have the mark, of those there are now.
func (g *Graph) marked(mark uint32) iter.Seq[uint32] {
	g.alloc.mu.Lock()
	count, v := g.alloc.count, g.view.Load()
	g.alloc.mu.Unlock()
	return func(yield func(uint32) bool) {
		for n := range count {
			if atomic.LoadUint32(v.state(n))&mark != 0 && !yield(n) {
				return
			}
		}
	}
}

// condemnOne marks a dead node, unless it has living twins behind it. Its dead twins
// go with it: one that died after its turn had come would be left behind none.
func (g *Graph) condemnOne(n uint32) {
	mu := g.stripe(n)
	mu.Lock()
	defer mu.Unlock()
	v := g.view.Load()
	chain := uint32(none)
	if atomic.LoadUint32(v.state(n))&twin == 0 {
		chain = atomic.LoadUint32(v.next(n))
	}
	for t := chain; t != none; t = atomic.LoadUint32(v.next(t)) {
		if atomic.LoadUint32(v.state(t))&dead == 0 {
			return
		}
	}
	atomic.OrUint32(v.state(n), condemned)
	for t := chain; t != none; t = atomic.LoadUint32(v.next(t)) {
		atomic.OrUint32(v.state(t), condemned)
	}
}

// moveEntry makes a living node the entry if the entry is to be freed, one of
// the highest there are.
func (g *Graph) moveEntry() {
	g.top.Lock()
	defer g.top.Unlock()
	e := entry(g.entry.Load())
	v := g.view.Load()
	if e == noEntry || atomic.LoadUint32(v.state(e.node()))&condemned == 0 {
		return
	}
	best := entry(noEntry)
	for n := range uint32(v.size()) {
		state := atomic.LoadUint32(v.state(n))
		level := int(state & levelMask)
		if state&(linked|condemned) == linked && (best == noEntry || level > best.level()) {
			best = entryAt(n, level)
		}
	}
	g.entry.Store(uint64(best))
}

// sweep calls visit for each node that is in use, from as many goroutines as
// there are cores, each with a scratch of its own. A change may wait for one call
// at most.
func (g *Graph) sweep(ctx context.Context, visit func(s *scratch, n uint32)) error {
	g.alloc.mu.Lock()
	count := g.alloc.count
	g.alloc.mu.Unlock()
	var next atomic.Uint32
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for ctx.Err() == nil {
				first := next.Add(mendNodes) - mendNodes
				if first >= count {
					return
				}
				g.sweepSome(first, min(first+mendNodes, count), visit)
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// sweepSome visits the nodes in [first, end).
func (g *Graph) sweepSome(first, end uint32, visit func(s *scratch, n uint32)) {
	s := g.enter()
	defer g.leave(s)
	for n := first; n < end; n++ {
		g.cut.RLock()
		s.see()
		if state := atomic.LoadUint32(s.view.state(n)); state&used != 0 && state&condemned == 0 {
			visit(s, n)
		}
		g.cut.RUnlock()
	}
}

// mend gives n new neighbours for its condemned ones, on all its levels, and
// takes those out of the chain behind it.
func (s *scratch) mend(n uint32) {
	state := atomic.LoadUint32(s.view.state(n))
	if state&linked == 0 {
		return
	}
	s.graph.unchain(s.graph.stripe(n), s.view.next(n))
	for level := range int(state&levelMask) + 1 {
		if !s.anyCondemned(s.view.neighbours(n, level)) {
			continue
		}
		added, lonely := s.mendLevel(n, level)
		for _, m := range added {
			s.link(m, n, level)
		}
		if lonely && level == 0 {
			s.relink(n)
		}
	}
}

// mendLevel returns the neighbours that n got on one level, and whether there
// were few to choose from.
func (s *scratch) mendLevel(n uint32, level int) (added []uint32, lonely bool) {
	mu := s.graph.stripe(n)
	mu.Lock()
	defer mu.Unlock()
	s.begin()
	s.visit(n)
	list := s.view.neighbours(n, level)
	s.old = s.view.read(list, s.old[:0])
	candidates, lost := s.near(s.old, level)
	s.rank(n, candidates)
	if lost*mendShare >= len(s.old) && len(s.list) > 0 {
		s.lookAround(n, level)
	}
	chosen := s.choose(s.list, len(list), s.levels[0])
	write(list, chosen)
	s.view.mark(n)
	s.levels[0] = chosen
	known := func(m uint32) bool { return slices.Contains(s.old, m) }
	return slices.DeleteFunc(chosen, known), len(s.list) < s.graph.params.M/2
}

// lookAround adds to s.list what a search for n finds, starting from the first
// there.
func (s *scratch) lookAround(n uint32, level int) {
	p := s.stored(n, goal)
	s.beam.reset((s.graph.params.EFConstruction + 1) / 2)
	_ = s.walk(context.Background(), &p, s.list[0], level, false)
	s.forget()
	s.visit(n)
	for _, x := range s.list {
		s.visit(x.node())
	}
	for _, x := range s.beam.items {
		if x&passing == 0 && s.visit(x.node()) {
			s.list = append(s.list, x.plain())
		}
	}
	slices.Sort(s.list)
}

func (s *scratch) anyCondemned(list []uint32) bool {
	for i := range list {
		m := atomic.LoadUint32(&list[i])
		if m == none {
			return false
		}
		if int(m) < s.view.size() && s.condemned(m) {
			return true
		}
	}
	return false
}

func (s *scratch) condemned(n uint32) bool {
	return atomic.LoadUint32(s.view.state(n))&condemned != 0
}

// near returns those of the neighbours that stay and those that are found behind
// the condemned ones: next to them, or further on where there are few. They are
// good until the next call. It also returns how many are condemned.
func (s *scratch) near(neighbours []uint32, level int) (candidates []uint32, lost int) {
	s.nodes, s.doomed = s.nodes[:0], s.doomed[:0]
	s.part(neighbours)
	lost = len(s.doomed)
	enough := s.graph.params.width(level)
	for i := 0; i < len(s.doomed) && (i < lost || i < mendDead && len(s.nodes) < enough); i++ {
		s.chosen = s.view.read(s.view.neighbours(s.doomed[i], level), s.chosen[:0])
		s.part(s.chosen)
	}
	return s.nodes, lost
}

// part adds the nodes that are not visited yet to s.doomed if they are condemned,
// and to s.nodes if not.
func (s *scratch) part(nodes []uint32) {
	for _, n := range nodes {
		switch {
		case !s.visit(n):
		case s.condemned(n):
			s.doomed = append(s.doomed, n)
		default:
			s.nodes = append(s.nodes, n)
		}
	}
}

// free gives back nodes that nobody knows of any more.
func (g *Graph) free(doomed []uint32) {
	g.cut.RLock()
	defer g.cut.RUnlock()
	for _, n := range doomed {
		g.release(n)
	}
	g.gone.Add(-int64(len(doomed)))
}
