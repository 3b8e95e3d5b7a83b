package hnsw

import (
	"context"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// keptScratches is how many idle scratches a pool keeps.
const keptScratches = 64

// scratch is what one search or change needs for itself.
type scratch struct {
	meter
	graph *Graph
	view  *view

	// careful is false if there were neither dead nodes nor twins when the search
	// began. It need not look for them then, each time somewhere else in memory.
	careful bool

	// visited has a mark for each node the view has room for. A node has been
	// visited if its mark equals stamp. Nodes beyond are newer than the search
	// and passed over.
	visited []uint8
	stamp   uint8

	nodes   []uint32 // neighbours to be measured
	soon    []uint32 // those that are likely to be next
	beam    beam
	front   heap // of a filtered search: nodes to expand
	results heap // of a filtered search: complements, so that the farthest comes first

	query  []float32     // the vector looked for, if the metric wants it at length 1 and it is not
	scorer vector.Scorer // of the vector looked for, as it was given
	slack  slack         // of distances from it
	limit  uint32        // of Exhaust and Among: the highest rank that may be among the best
	list   []near        // candidates for the neighbours of one node
	doomed []uint32      // condemned nodes around one that is mended
	chosen []uint32      // the neighbours chosen of them
	old    []uint32      // what a list held
	levels [][]uint32    // neighbours chosen for a new node, by level

	era uint64 // of the pool, when the scratch was handed out
}

// begin makes s ready for a search that sees all nodes there are now.
func (s *scratch) begin() {
	s.see()
	s.careful = s.graph.gone.Load() > 0 || s.graph.twins.Load() > 0
	if size := s.view.size(); size <= cap(s.visited) {
		s.visited = s.visited[:size]
	} else {
		s.visited = make([]uint8, size, size+size/4)
		s.stamp = 0
	}
	s.forget()
}

// see makes s know all nodes there are now.
func (s *scratch) see() {
	s.view = s.graph.view.Load()
	s.rows = &s.view.rows
}

// forget makes every node one that has not been visited.
func (s *scratch) forget() {
	s.stamp++
	if s.stamp == 0 {
		clear(s.visited[:cap(s.visited)])
		s.stamp = 1
	}
}

// visit marks n and reports whether it was not marked and may be looked at.
func (s *scratch) visit(n uint32) bool {
	if int(n) >= len(s.visited) || s.visited[n] == s.stamp {
		return false
	}
	s.visited[n] = s.stamp
	return true
}

// ask returns the probe of a query.
func (s *scratch) ask(query []float32) probe {
	s.scorer = vector.NewScorer(s.graph.params.Metric, query)
	s.slack = s.slackOf(query)
	return s.asked(s.rows.sized(query, s.query))
}

// start returns where a search begins, once s sees that node.
func (s *scratch) start() entry {
	e := entry(s.graph.entry.Load())
	if e != noEntry && int(e.node()) >= s.view.size() {
		s.begin()
	}
	return e
}

// scratchPool hands out scratches, and thereby knows when everything that was
// going on has ended.
type scratchPool struct {
	mu   sync.Mutex // guards the fields below
	idle []*scratch
	// inside counts the scratches handed out, by the parity of the era in which
	// they were. There are none of an era before the last.
	inside  [2]int
	era     uint64
	drained chan struct{} // closed when there are no scratches of the last era
}

// enter returns a scratch that sees the graph as it is.
func (g *Graph) enter() *scratch {
	p := &g.scratches
	p.mu.Lock()
	var s *scratch
	if last := len(p.idle) - 1; last >= 0 {
		s = p.idle[last]
		p.idle = p.idle[:last]
	}
	era := p.era
	p.inside[era&1]++
	p.mu.Unlock()
	if s == nil {
		s = newScratch(g)
	}
	s.era = era
	s.begin()
	return s
}

// leave gives a scratch back.
func (g *Graph) leave(s *scratch) {
	s.scorer = vector.Scorer{} // which refers to the caller's vector
	p := &g.scratches
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inside[s.era&1]--
	if p.inside[s.era&1] == 0 && s.era != p.era && p.drained != nil {
		close(p.drained)
		p.drained = nil
	}
	// One that points to vectors as they were before codes were learnt is dropped.
	if len(p.idle) < keptScratches && s.rows.codes == g.view.Load().rows.codes {
		p.idle = append(p.idle, s)
	}
}

// quiesce waits until everything has ended that had a scratch when it was
// called. Only one goroutine does so at a time.
func (p *scratchPool) quiesce(ctx context.Context) error {
	// A wait that was given up may have left scratches of an earlier era.
	if err := p.drain(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	p.era++
	p.mu.Unlock()
	return p.drain(ctx)
}

// drain waits until there are no scratches of the last era.
func (p *scratchPool) drain(ctx context.Context) error {
	p.mu.Lock()
	if p.inside[(p.era+1)&1] == 0 {
		p.mu.Unlock()
		return nil
	}
	if p.drained == nil {
		p.drained = make(chan struct{})
	}
	drained := p.drained
	p.mu.Unlock()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func newScratch(g *Graph) *scratch {
	p := &g.params
	return &scratch{
		graph:  g,
		query:  make([]float32, p.Dim),
		levels: make([][]uint32, maxLevel+1),
	}
}

// bytes returns about how much memory the idle scratches hold.
func (p *scratchPool) bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum int64
	for _, s := range p.idle {
		sum += int64(cap(s.visited) + 4*len(s.query))
		sum += int64(8 * (cap(s.beam.items) + cap(s.front) + cap(s.results) + cap(s.list)))
	}
	return sum
}
