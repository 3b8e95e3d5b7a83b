package vector

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// benchRows is how many rows a kernel of many measures in a call: about a
// neighbour list.
const benchRows = 32

func randomRows(n int) (q []float32, rows [][]float32) {
	r := rand.New(rand.NewPCG(7, 8))
	rows = make([][]float32, benchRows)
	for i := range rows {
		rows[i] = slices.Clone(randomVector(r, n)) // aligned, as in an array of rows
	}
	return slices.Clone(randomVector(r, n)), rows
}

// benchRow runs f, which measures benchRows rows of n components, and reports
// the time that one takes.
func benchRow(b *testing.B, name string, n int, f func()) {
	b.Run(fmt.Sprintf("%s/dim=%d", name, n), func(b *testing.B) {
		for b.Loop() {
			f()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		b.ReportMetric(0, "ns/op")
	})
}

func plainDot(a, b []float32) (sum float32) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

var sink float64

func BenchmarkFloat32(b *testing.B) {
	for _, n := range []int{128, 768} {
		q, slices := randomRows(n)
		rows, out := pointers(slices), make([]float32, benchRows)
		benchRow(b, "plain", n, func() {
			for i, p := range rows {
				out[i] = plainDot(q, unsafe.Slice(p, n))
			}
		})
		benchLevels(b, func(b *testing.B, level string) {
			benchRow(b, "dot/"+level, n, func() { DotMany(q, rows, out) })
			benchRow(b, "l2/"+level, n, func() { SquaredL2Many(q, rows, out) })
			benchRow(b, "portable dot/"+level, n, func() {
				for _, p := range rows {
					sink += Product(q, unsafe.Slice(p, n))
				}
			})
			benchRow(b, "portable l2/"+level, n, func() {
				for _, p := range rows {
					sink += Distance(q, unsafe.Slice(p, n))
				}
			})
		})
	}
}

func BenchmarkFloat16(b *testing.B) {
	for _, n := range []int{128, 768} {
		q, slices := randomRows(n)
		narrowed, out := make([][]uint16, benchRows), make([]float32, benchRows)
		for i, row := range slices {
			for _, f := range row {
				narrowed[i] = append(narrowed[i], ToFloat16(f))
			}
		}
		rows := pointers(narrowed)
		encoded, wide := AppendFloat16s(nil, slices[0]), make([]float32, n)
		benchLevels(b, func(b *testing.B, level string) {
			benchRow(b, "dot/"+level, n, func() { DotFloat16Many(q, rows, out) })
			benchRow(b, "l2/"+level, n, func() { SquaredL2Float16Many(q, rows, out) })
			benchRow(b, "read/"+level, n, func() {
				for range benchRows {
					ReadFloat16s(wide, encoded)
				}
			})
			benchRow(b, "append/"+level, n, func() {
				for range benchRows {
					encoded = AppendFloat16s(encoded[:0], wide)
				}
			})
		})
	}
}

func BenchmarkCodes(b *testing.B) {
	for _, n := range []int{128, 768} {
		r := rand.New(rand.NewPCG(7, 8))
		words := make([][]uint64, benchRows)
		bytes := make([]*int8, benchRows)
		for i := range words {
			words[i] = make([]uint64, n/8)
			for j := range words[i] {
				words[i][j] = r.Uint64()
			}
			bytes[i] = (*int8)(unsafe.Pointer(unsafe.SliceData(words[i])))
		}
		rows, out := pointers(words), make([]int32, benchRows)
		planes := make([][8]uint64, n/64)
		benchLevels(b, func(b *testing.B, level string) {
			benchRow(b, "int8 dot/"+level, n, func() { dotInt8Many(unsafe.Slice(bytes[0], n), bytes, out) })
			benchRow(b, "planes/"+level, n, func() { planesMany(planes, rows, out) })
		})
	}
}

func BenchmarkQuantizer(b *testing.B) {
	for _, dim := range []int{128, 768} {
		r := rand.New(rand.NewPCG(7, 8))
		vectors := clustered(r, randomVectors(r, 50, dim), 2048)
		for name, z := range quantizers(Cosine, vectors) {
			codes := encode(z, vectors[:benchRows])
			measure, out, code := z.NewMeasure(), make([]float32, benchRows), make([]byte, z.CodeSize())
			b.Run(fmt.Sprintf("%s/encode/dim=%d", name, dim), func(b *testing.B) {
				for b.Loop() {
					z.Encode(code, vectors[0])
				}
			})
			b.Run(fmt.Sprintf("%s/set vector/dim=%d", name, dim), func(b *testing.B) {
				for b.Loop() {
					measure.SetVector(vectors[0])
				}
			})
			b.Run(fmt.Sprintf("%s/set code/dim=%d", name, dim), func(b *testing.B) {
				for b.Loop() {
					measure.SetCode(codes[0])
				}
			})
			benchRow(b, name+"/distances", dim, func() { measure.Distances(codes, out) })
		}
		b.Run(fmt.Sprintf("learn bits/dim=%d", dim), func(b *testing.B) {
			for b.Loop() {
				LearnBits(vectors)
			}
		})
	}
}
