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
type rows struct {
	shape  shape
	metric vector.Metric
	half   bool             // whether halves are in use
	codes  vector.Quantizer // of coded, if that is in use

	floats [][]float32
	halves [][]uint16
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
		return int64(2 * segments * size * dim)
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

func (r *rows) codeOf(n uint32) []byte {
	size := r.codes.CodeSize()
	i := int(n&r.shape.mask) * size
	return r.coded[n>>r.shape.shift][i : i+size]
}

// put stores v as the vector of n, under Cosine at length 1. It returns what it has
// stored, which lies in unit if v was of another length, and whether that is v.
func (r *rows) put(n uint32, v, unit []float32) (stored []float32, whole bool) {
	stored = r.sized(v, unit)
	r.set(n, stored)
	return stored, &stored[0] == &v[0]
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

// set stores v, which is normalised if the metric wants that, as the vector of n.
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
