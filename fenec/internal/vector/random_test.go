package vector

import (
	"math/rand/v2"
	"unsafe"
)

// randomVector returns n normally distributed components that do not begin at a
// multiple of the processor's vectors.
func randomVector(r *rand.Rand, n int) []float32 {
	v := make([]float32, n+3)[3:]
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// pointers returns where each of the slices begins.
func pointers[T any](rows [][]T) []*T {
	out := make([]*T, len(rows))
	for i, row := range rows {
		out[i] = unsafe.SliceData(row)
	}
	return out
}
