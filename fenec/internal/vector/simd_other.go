//go:build !amd64 || purego

package vector

// Fetch has the processor load the memory of words into its cache, if it can, and
// does not wait for it.
func Fetch([]uint32) {}

func product(a, b []float32) float64 { return productGo(a, b) }

func squared(a, b []float32) float64 { return squaredGo(a, b) }

func dotMany(q []float32, rows []*float32, out []float32) { dotManyGo(q, rows, out) }

func squaredL2Many(q []float32, rows []*float32, out []float32) { squaredL2ManyGo(q, rows, out) }

func dotFloat16Many(q []float32, rows []*uint16, out []float32) { dotFloat16ManyGo(q, rows, out) }

func squaredL2Float16Many(q []float32, rows []*uint16, out []float32) {
	squaredL2Float16ManyGo(q, rows, out)
}

func readFloat16s([]float32, []byte) (n int) { return 0 }

func writeFloat16s([]byte, []float32) (n int) { return 0 }

func dotInt8Many(q []int8, rows []*int8, out []int32) { dotInt8ManyGo(q, rows, out) }

func planesMany(q [][8]uint64, rows []*uint64, out []int32) { planesManyGo(q, rows, out) }
