package value

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFloat32s writes and reads numbers as this machine does, and as one does that
// has the bytes of numbers in another order.
func TestFloat32s(t *testing.T) {
	own := littleEndian
	defer func() { littleEndian = own }()
	x := []float32{0, 1, -0.1, math.MaxFloat32, math.SmallestNonzeroFloat32, float32(math.Inf(-1))}
	for n := range len(x) + 1 {
		want := []byte("before")
		for _, f := range x[:n] {
			want = binary.LittleEndian.AppendUint32(want, math.Float32bits(f))
		}
		for _, littleEndian = range []bool{own, false} {
			got := AppendFloat32s([]byte("before"), x[:n])
			require.Equal(t, want, got)
			read := make([]float32, n)
			ReadFloat32s(read, append(got, 1)[len("before"):])
			require.Equal(t, x[:n], read)
		}
	}
}
