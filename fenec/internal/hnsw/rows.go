package hnsw

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

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

// grow adds a segment for that many vectors and returns its bytes.
func (r *rows) grow(size int) (held int64) {
	switch {
	case r.codes != nil:
		r.coded = append(r.coded, make([]byte, size*r.codes.CodeSize()))
		held = int64(size * r.codes.CodeSize())
	case r.half:
		r.halves = append(r.halves, make([]uint16, size*r.shape.dim))
		held = int64(2 * size * r.shape.dim)
	default:
		r.floats = append(r.floats, make([]float32, size*r.shape.dim))
		held = int64(4 * size * r.shape.dim)
	}
	return held
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

// bytesOf returns the bytes that numbers lie in.
func bytesOf[T float32 | uint16](numbers []T) []byte {
	size := len(numbers) * int(unsafe.Sizeof(numbers[0]))
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), size)
}
