package hnsw

import (
	"bytes"
	"math"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// lengthSlack is by how much a length may differ from 1 to be taken for it. Vectors
// that were normalised with float32s are kept as they are.
const lengthSlack = 1e-6

// rows keeps the vectors of all nodes, one slice a segment, in one of three
// ways. The slices of the other two are empty.
//
// Under Cosine, floats are at length 1. Halves are not: rounded once more they would
// be other vectors, whose scores differ by more than those of near ones do.
type rows struct {
	shape  shape
	metric vector.Metric
	half   bool             // whether halves are in use
	codes  vector.Quantizer // of coded, if that is in use

	floats [][]float32
	halves [][]uint16
	scales [][]float32 // of halves under Cosine: 1 divided by their length, 0 for zero vectors
	coded  [][]byte
}

// grow adds segments of so many vectors each and returns their bytes.
func (r *rows) grow(segments, size int) int64 {
	switch dim := r.shape.dim; {
	case r.codes != nil:
		size *= r.codes.CodeSize()
		r.coded = cut(r.coded, memory[byte](segments*size), size)
		return int64(segments * size)
	case r.half:
		r.halves = cut(r.halves, memory[uint16](segments*size*dim), size*dim)
		held := 2 * segments * size * dim
		if r.scaled() {
			r.scales = cut(r.scales, memory[float32](segments*size), size)
			held += 4 * segments * size
		}
		return int64(held)
	default:
		r.floats = cut(r.floats, memory[float32](segments*size*dim), size*dim)
		return int64(4 * segments * size * dim)
	}
}

// cut appends m to segments in pieces of the given size.
func cut[T any](segments [][]T, m []T, size int) [][]T {
	for ; len(m) > 0; m = m[size:] {
		segments = append(segments, m[:size:size])
	}
	return segments
}

func (r *rows) floatsOf(n uint32) []float32 {
	i := int(n&r.shape.mask) * r.shape.dim
	return r.floats[n>>r.shape.shift][i : i+r.shape.dim]
}

func (r *rows) halvesOf(n uint32) []uint16 {
	i := int(n&r.shape.mask) * r.shape.dim
	return r.halves[n>>r.shape.shift][i : i+r.shape.dim]
}

// scaled reports whether vectors have a scale.
func (r *rows) scaled() bool { return r.half && r.metric == vector.Cosine }

func (r *rows) scaleOf(n uint32) *float32 { return &r.scales[n>>r.shape.shift][n&r.shape.mask] }

func (r *rows) codeOf(n uint32) []byte {
	size := r.codes.CodeSize()
	i := int(n&r.shape.mask) * size
	return r.coded[n>>r.shape.shift][i : i+size]
}

// put stores v as the vector of n. It returns it as a probe, which under Cosine is of
// length 1 and may lie in unit, and whether it is kept as it was given.
func (r *rows) put(n uint32, v, unit []float32) (probe []float32, whole bool) {
	if r.scaled() {
		return r.putScaled(n, v, unit), true
	}
	probe = r.sized(v, unit)
	r.set(n, probe)
	return probe, &probe[0] == &v[0]
}

// putScaled stores v, rounded to halves, and its scale. It returns what it has stored
// at length 1, or zero, in unit.
func (r *rows) putScaled(n uint32, v, unit []float32) []float32 {
	r.set(n, v)
	widen(unit, r.halvesOf(n))
	length, scale := vector.Norm(unit), float32(0)
	if length > 0 {
		scale = float32(1 / length)
	}
	*r.scaleOf(n) = scale
	stretch(unit, scale)
	return unit
}

// stretch multiplies v by scale.
func stretch(v []float32, scale float32) {
	for i := range v {
		v[i] *= scale
	}
}

// sized returns v, or v at length 1, in unit, if the metric wants that.
func (r *rows) sized(v, unit []float32) []float32 {
	if r.metric != vector.Cosine {
		return v
	}
	length := vector.Norm(v)
	if math.Abs(length-1) < lengthSlack {
		return v
	}
	normalise(unit, v, length)
	return unit
}

// set stores v as the vector of n.
func (r *rows) set(n uint32, v []float32) {
	switch {
	case r.codes != nil:
		r.codes.Encode(r.codeOf(n), v)
	case r.half:
		for i, h := 0, r.halvesOf(n); i < len(v); i++ {
			h[i] = vector.ToFloat16(v[i])
		}
	default:
		copy(r.floatsOf(n), v)
	}
}

// normalise sets dst to v at length 1, or to zero if v is zero. It does so a little
// less exactly and several times as fast as vector.Normalize.
func normalise(dst, v []float32, length float64) {
	scale := float32(1 / length)
	if scale < 1e-30 || scale > 1e30 {
		vector.Normalize(dst, v)
		return
	}
	dst = dst[:len(v)]
	for i, x := range v {
		dst[i] = x * scale
	}
}

// copy makes the vector of to that of from.
func (r *rows) copy(to, from uint32) {
	switch {
	case r.codes != nil:
		copy(r.codeOf(to), r.codeOf(from))
	case r.half:
		copy(r.halvesOf(to), r.halvesOf(from))
		if r.scaled() {
			*r.scaleOf(to) = *r.scaleOf(from)
		}
	default:
		copy(r.floatsOf(to), r.floatsOf(from))
	}
}

// same reports whether the vectors of two nodes are stored as the same bytes.
func (r *rows) same(a, b uint32) bool {
	switch {
	case r.codes != nil:
		return bytes.Equal(r.codeOf(a), r.codeOf(b))
	case r.half:
		return slices.Equal(r.halvesOf(a), r.halvesOf(b))
	}
	return bytes.Equal(bytesOf(r.floatsOf(a)), bytesOf(r.floatsOf(b)))
}
