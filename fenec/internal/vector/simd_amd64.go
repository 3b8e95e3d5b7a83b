//go:build !purego

package vector

import "golang.org/x/sys/cpu"

// level is the widest instructions the kernels use.
type level uint8

const (
	levelGo     level = iota
	levelAVX2         // AVX2, FMA and F16C: every x86 server since 2013
	levelAVX512       // AVX-512 F, BW, DQ and VL
	levelVNNI         // and also VNNI and VPOPCNTDQ
)

// simd is the level of this processor. Only tests change it.
var simd = detect()

func detect() level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA || !x.HasF16C:
		return levelGo
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL:
		return levelAVX2
	case !x.HasAVX512VNNI || !x.HasAVX512VPOPCNTDQ:
		return levelAVX512
	}
	return levelVNNI
}

// product and squared are bound by widening components, for which AVX-512 is
// no faster than AVX2.

func product(a, b []float32) float64 {
	if simd >= levelAVX2 {
		return productAVX2(a, b)
	}
	return productGo(a, b)
}

func squared(a, b []float32) float64 {
	if simd >= levelAVX2 {
		return squaredAVX2(a, b)
	}
	return squaredGo(a, b)
}

func dotMany(q []float32, rows []*float32, out []float32) {
	switch {
	case simd >= levelAVX512:
		dotManyAVX512(q, rows, out)
	case simd >= levelAVX2:
		dotManyAVX2(q, rows, out)
	default:
		dotManyGo(q, rows, out)
	}
}

func squaredL2Many(q []float32, rows []*float32, out []float32) {
	switch {
	case simd >= levelAVX512:
		squaredL2ManyAVX512(q, rows, out)
	case simd >= levelAVX2:
		squaredL2ManyAVX2(q, rows, out)
	default:
		squaredL2ManyGo(q, rows, out)
	}
}

func dotFloat16Many(q []float32, rows []*uint16, out []float32) {
	switch {
	case simd >= levelAVX512:
		dotFloat16ManyAVX512(q, rows, out)
	case simd >= levelAVX2:
		dotFloat16ManyAVX2(q, rows, out)
	default:
		dotFloat16ManyGo(q, rows, out)
	}
}

func squaredL2Float16Many(q []float32, rows []*uint16, out []float32) {
	switch {
	case simd >= levelAVX512:
		squaredL2Float16ManyAVX512(q, rows, out)
	case simd >= levelAVX2:
		squaredL2Float16ManyAVX2(q, rows, out)
	default:
		squaredL2Float16ManyGo(q, rows, out)
	}
}

// readFloat16s reads the first n components of x and returns n, a multiple of 8.
func readFloat16s(x []float32, b []byte) (n int) {
	if simd < levelAVX2 {
		return 0
	}
	n = len(x) &^ 7
	readFloat16sF16C(x[:n], b)
	return n
}

// writeFloat16s writes the first n components of x and returns n, a multiple of 8.
func writeFloat16s(b []byte, x []float32) (n int) {
	if simd < levelAVX2 {
		return 0
	}
	n = len(x) &^ 7
	writeFloat16sF16C(b, x[:n])
	return n
}

func dotInt8Many(q []int8, rows []*int8, out []int32) {
	switch {
	case simd >= levelVNNI:
		dotInt8ManyVNNI(q, rows, out)
	case simd >= levelAVX2:
		dotInt8ManyAVX2(q, rows, out)
	default:
		dotInt8ManyGo(q, rows, out)
	}
}

func planesMany(q [][8]uint64, rows []*uint64, out []int32) {
	switch {
	case simd >= levelVNNI:
		planesManyVPOPCNT(q, rows, out)
	case simd >= levelAVX2:
		planesManyAVX2(q, rows, out)
	default:
		planesManyGo(q, rows, out)
	}
}
