package hnsw

import (
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// learnFrom is from how many vectors the codes are learnt. Until there are as
// many, vectors are kept whole.
const learnFrom = 2048

// learnAt makes the graph keep codes, if it wants to and n is the last node that
// it takes to learn them.
func (g *Graph) learnAt(n uint32) {
	if g.params.Storage >= Int8 && n >= learnFrom-1 && g.view.Load().rows.codes == nil {
		g.learn()
	}
}

// learn turns all vectors into codes. Inserts wait meanwhile; searches that are
// going on keep the vectors that they began with.
func (g *Graph) learn() {
	g.cut.Lock()
	defer g.cut.Unlock()
	g.alloc.mu.Lock()
	defer g.alloc.mu.Unlock()
	old := g.view.Load()
	if old.rows.codes != nil {
		return
	}
	// Of nodes that have been freed, the vectors are still there.
	sample := make([][]float32, learnFrom)
	for n := range sample {
		sample[n] = old.rows.floatsOf(uint32(n))
	}
	v := *old
	v.rows, g.alloc.held = old.rows.coding(g.quantizer(sample), g.alloc.held)
	for n := range g.alloc.count {
		v.rows.codes.Encode(v.rows.codeOf(n), old.rows.floatsOf(n))
	}
	g.codesChanged = true
	g.view.Store(&v)
	g.scratches.forget()
}

func (g *Graph) quantizer(sample [][]float32) vector.Quantizer {
	if g.params.Storage == Bits {
		return vector.LearnBits(sample)
	}
	return vector.LearnInt8(g.params.Metric, g.params.Dim, sample)
}

// coding returns room for the codes of as many vectors as r has room for, and
// what becomes of held, the bytes of all segments.
func (r *rows) coding(codes vector.Quantizer, held int64) (rows, int64) {
	coded := rows{shape: r.shape, metric: r.metric, codes: codes}
	size := 1 << r.shape.shift
	held += coded.grow(len(r.floats), size) - int64(len(r.floats)*4*size*r.shape.dim)
	return coded, held
}

// forget drops the idle scratches, which may refer to vectors that are no longer
// kept.
func (p *scratchPool) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = nil
}
