package vector

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRotation checks that products stay and that one component spreads over all.
func TestRotation(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, dim := range []int{1, 2, 3, 7, 8, 100, 128, 784} {
		rotation := newRotation(dim)
		a, b := randomVector(r, dim), randomVector(r, dim)
		want, square := Product(a, b), Product(a, a)
		rotation.apply(a)
		rotation.apply(b)
		require.InDelta(t, want, Product(a, b), 1e-3, dim)
		require.InDelta(t, square, Product(a, a), 1e-3, dim)
		for i := range dim {
			one := make([]float32, dim)
			one[i] = 1
			rotation.apply(one)
			for _, x := range one {
				require.Less(t, x*x, 4*4/float32(dim)+0.01, "component %d of %d", i, dim)
			}
		}
	}
}

// TestRotationStays pins a rotation: codes of stored centroids rest on it.
func TestRotationStays(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5}
	newRotation(5).apply(x)
	require.Equal(t, []float32{1.25, -4.375, -0.125, -1.625, 5.625}, x)
}

// TestHadamard compares with the definition: the sign at row i and column j is
// the parity of i&j.
func TestHadamard(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	for n := 1; n <= 128; n *= 2 {
		x := randomVector(r, n)
		want := make([]float32, n)
		for i := range want {
			for j, f := range x {
				want[i] += f * float32(1-bits.OnesCount(uint(i&j))%2*2)
			}
		}
		hadamard(x)
		require.InDeltaSlice(t, want, x, 1e-4, n)
	}
}
