//go:build !purego

package vector

// The assembly takes slices that are as long as their Go callers checked: at least
// one out, and as many rows or more.

// Fetch has the processor load the memory of words into its cache, if it can, and
// does not wait for it.
//
//go:noescape
func Fetch(words []uint32)

//go:noescape
func productAVX2(a, b []float32) float64

//go:noescape
func squaredAVX2(a, b []float32) float64

//go:noescape
func dotManyAVX2(q []float32, rows []*float32, out []float32)

//go:noescape
func dotManyAVX512(q []float32, rows []*float32, out []float32)

//go:noescape
func squaredL2ManyAVX2(q []float32, rows []*float32, out []float32)

//go:noescape
func squaredL2ManyAVX512(q []float32, rows []*float32, out []float32)

//go:noescape
func dotFloat16ManyAVX2(q []float32, rows []*uint16, out []float32)

//go:noescape
func dotFloat16ManyAVX512(q []float32, rows []*uint16, out []float32)

//go:noescape
func squaredL2Float16ManyAVX2(q []float32, rows []*uint16, out []float32)

//go:noescape
func squaredL2Float16ManyAVX512(q []float32, rows []*uint16, out []float32)

//go:noescape
func readFloat16sF16C(x []float32, b []byte)

//go:noescape
func writeFloat16sF16C(b []byte, x []float32)

//go:noescape
func dotInt8ManyAVX2(q []int8, rows []*int8, out []int32)

//go:noescape
func dotInt8ManyVNNI(q []int8, rows []*int8, out []int32)

//go:noescape
func planesManyAVX2(q [][8]uint64, rows []*uint64, out []int32)

//go:noescape
func planesManyVPOPCNT(q [][8]uint64, rows []*uint64, out []int32)
