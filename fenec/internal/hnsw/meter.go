package hnsw

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// batch is how many vectors are measured by one call of a kernel at most.
const batch = 64

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// probe is what vectors are measured against: a query, or a vector of the graph.
type probe struct {
	floats []float32      // where vectors are kept as such
	codes  vector.Measure // where codes are
}

// meter measures the distances from a probe to nodes. It is for one goroutine.
type meter struct {
	rows    *rows
	halves  [2][]float32      // what probes of stored halves hold
	measure [2]vector.Measure // what probes of codes hold
	made    vector.Quantizer  // which measure is for

	listed []uint32            // nodes to measure, and to fetch after them
	ptrs   [2 * batch]*float32 // where their vectors are
	out    [batch]float32
	around []uint32 // ranks, as last returned by ranksOf
}

// A meter has room for two probes at once: a goal of searches, and one to use
// aside.
const (
	goal = iota
	aside
)

// asked returns v, normalised if the metric wants that, as the probe for a goal.
// It is good until the next one, and as long as v is.
func (m *meter) asked(v []float32) probe {
	if m.rows.codes == nil {
		return probe{floats: v}
	}
	measure := m.measureFor(goal)
	measure.SetVector(v)
	return probe{codes: measure}
}

// stored returns the vector of n as a probe, which is good until the next one for
// the same use.
func (m *meter) stored(n uint32, use int) (p probe) {
	r := m.rows
	if r.codes != nil {
		p.codes = m.measureFor(use)
		p.codes.SetCode(unsafe.SliceData(r.codeOf(n)))
		return p
	}
	p.floats = m.vectorOf(n, use)
	if r.scaled() {
		stretch(p.floats, *r.scaleOf(n))
	}
	return p
}

// vectorOf returns the vector of n as it is kept, where no codes are, which is good
// until the next one for the same use.
func (m *meter) vectorOf(n uint32, use int) []float32 {
	r := m.rows
	if !r.half {
		return r.floatsOf(n)
	}
	if m.halves[use] == nil {
		m.halves[use] = make([]float32, r.shape.dim)
	}
	widen(m.halves[use], r.halvesOf(n))
	return m.halves[use]
}

func (m *meter) measureFor(use int) vector.Measure {
	if m.made != m.rows.codes {
		m.made = m.rows.codes
		m.measure = [2]vector.Measure{m.made.NewMeasure(), m.made.NewMeasure()}
	}
	return m.measure[use]
}

func widen(floats []float32, halves []uint16) {
	if littleEndian {
		vector.ReadFloat16s(floats, bytesOf(halves))
		return
	}
	for i, h := range halves {
		floats[i] = vector.FromFloat16(h)
	}
}

// ranksOf returns the ranks of the distances between p and nodes. They are good
// until the next call.
func (m *meter) ranksOf(p *probe, nodes []uint32) []uint32 { return m.ranksWhile(p, nodes, nil) }

// ranksWhile is ranksOf while the vectors of some of the nodes in soon are fetched,
// for a call to come: measuring takes less time than they take from memory.
func (m *meter) ranksWhile(p *probe, nodes, soon []uint32) []uint32 {
	if len(nodes) > len(m.around) {
		m.around = make([]uint32, max(batch, 2*len(nodes)))
	}
	ranks := m.around[:len(nodes)]
	for i := 0; i < len(nodes); i += batch {
		j := min(i+batch, len(nodes))
		m.some(p, nodes[i:j], soon, ranks[i:j])
		soon = nil
	}
	return ranks
}

// some sets ranks for no more than batch nodes.
func (m *meter) some(p *probe, nodes, soon, ranks []uint32) {
	out := m.out[:len(nodes)]
	m.listed = append(append(m.listed[:0], nodes...), soon[:min(batch, len(soon))]...)
	m.distances(p, m.listed, out)
	ranks = ranks[:len(out)]
	for i, x := range out {
		ranks[i] = rankOf(x)
	}
}

// distances sets each out[i] to the distance between p and nodes[i]: the squared one
// under L2, else 1 less the similarity, or the negative product. The vectors of
// further nodes are fetched.
func (m *meter) distances(p *probe, nodes []uint32, out []float32) {
	r := m.rows
	ptrs := m.ptrs[:len(nodes)]
	shift, mask, dim := r.shape.shift, r.shape.mask, r.shape.dim
	switch {
	case r.codes != nil:
		size := r.codes.CodeSize()
		codes := pointers[byte](ptrs)
		for i, n := range nodes {
			codes[i] = &r.coded[n>>shift][int(n&mask)*size]
		}
		p.codes.Distances(codes, out)
		return
	case r.half:
		halves := pointers[uint16](ptrs)
		for i, n := range nodes {
			halves[i] = &r.halves[n>>shift][int(n&mask)*dim]
		}
		if r.metric == vector.L2 {
			vector.SquaredL2Float16Many(p.floats, halves, out)
			return
		}
		vector.DotFloat16Many(p.floats, halves, out)
		if r.scaled() {
			for i := range out {
				out[i] *= *r.scaleOf(nodes[i])
			}
		}
	default:
		for i, n := range nodes {
			ptrs[i] = &r.floats[n>>shift][int(n&mask)*dim]
		}
		if r.metric == vector.L2 {
			vector.SquaredL2Many(p.floats, ptrs, out)
			return
		}
		vector.DotMany(p.floats, ptrs, out)
	}
	for i, x := range out {
		out[i] = 0 - x // and not -x, which would make a product of 0 a score of -0
	}
}

// pointers returns the place of some pointers as one for pointers to something
// else.
func pointers[T any](p []*float32) []*T {
	return unsafe.Slice((**T)(unsafe.Pointer(unsafe.SliceData(p))), len(p))
}

// zeroRank returns the rank of zero vectors under Cosine, which score 0.
func (m *meter) zeroRank() uint32 {
	if m.rows.codes != nil {
		return rankOf(1)
	}
	return rankOf(0)
}

// score returns the metric's score for the rank of a query's distance.
func (m *meter) score(rank uint32) float32 {
	d := distanceOf(rank)
	switch {
	case m.rows.metric == vector.L2:
		return float32(math.Sqrt(float64(max(d, 0))))
	case m.rows.metric == vector.Cosine && m.rows.codes != nil:
		return 1 - d
	}
	return 0 - d
}
