package row_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// TestVectorBytes checks what the components of a vector are stored as: 2 or 4
// bytes each, little endian.
func TestVectorBytes(t *testing.T) {
	r := valuetest.Rand(3)
	for n := 1; n < 70; n++ {
		x := make([]float32, n)
		for i := range x {
			x[i] = vector.FromFloat16(uint16(r.IntN(0x7c00) | r.IntN(2)<<15))
		}
		for _, half := range []bool{false, true} {
			typ := value.VectorType(n, half)
			doc, err := row.Parse(row.Encode(nil, []value.Type{typ}, []value.Value{value.Vector(x)}))
			require.NoError(t, err)
			var want []byte
			for _, f := range x {
				if half {
					want = binary.LittleEndian.AppendUint16(want, vector.ToFloat16(f))
				} else {
					want = binary.LittleEndian.AppendUint32(want, math.Float32bits(f))
				}
			}
			raw, err := doc.Raw(0)
			require.NoError(t, err)
			require.Equal(t, want, raw)
			got, ok, err := doc.AppendVector([]float32{7}, 0, typ)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, append([]float32{7}, x...), got)
		}
	}
}

// BenchmarkVector reads and writes a row of one vector of 128 components.
func BenchmarkVector(b *testing.B) {
	x := make([]float32, 128)
	for i := range x {
		x[i] = float32(i-64) / 8
	}
	for _, half := range []bool{false, true} {
		types := []value.Type{value.VectorType(len(x), half)}
		vals := []value.Value{value.Vector(x)}
		stored := row.Encode(nil, types, vals)
		b.Run(fmt.Sprintf("read/f16=%t", half), func(b *testing.B) {
			r, err := row.Parse(stored)
			require.NoError(b, err)
			out := make([]float32, 0, len(x))
			for b.Loop() {
				if _, ok, err := r.AppendVector(out, 0, types[0]); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
		b.Run(fmt.Sprintf("write/f16=%t", half), func(b *testing.B) {
			var dst []byte
			for b.Loop() {
				dst = row.Encode(dst[:0], types, vals)
			}
		})
	}
}
