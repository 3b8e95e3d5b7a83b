package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMany compares every kind of kernel with the portable sums, for every
// length, for few and many rows, and with few and many others to fetch.
func TestMany(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for n := range 201 {
			q := randomVector(r, n)
			rows := make([][]float32, n%7+n%11)
			for i := range rows {
				rows[i] = randomVector(r, n)
			}
			all := make([]float32, len(rows)+1)
			all[n%7] = 77
			out := all[:n%7]

			DotMany(q, pointers(rows), out)
			for i, x := range out {
				require.InDelta(t, Product(q, rows[i]), x, 1e-4, "%d components", n)
			}
			SquaredL2Many(q, pointers(rows), out)
			for i, x := range out {
				require.InDelta(t, squared(q, rows[i]), x, 1e-3, "%d components", n)
			}
			require.Equal(t, float32(77), all[n%7])
		}
	})
}

// TestManyOneComponent finds a kernel that leaves a component out, or counts it
// twice, or reads beside the row.
func TestManyOneComponent(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		var got [2]float32
		for n := 1; n <= 200; n++ {
			q, around := make([]float32, n), make([]float32, n+2)
			around[0], around[n+1] = float32(math.NaN()), float32(math.NaN())
			row := around[1 : n+1]
			for i := range n {
				q[i], row[i] = 3, 2
				rows := pointers([][]float32{row, row})
				DotMany(q, rows, got[:])
				require.Equal(t, [2]float32{6, 6}, got, "component %d of %d", i, n)
				SquaredL2Many(q, rows, got[:])
				require.Equal(t, [2]float32{1, 1}, got, "component %d of %d", i, n)
				q[i], row[i] = 0, 0
			}
		}
	})
}

func TestManyOverflow(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := 2; n <= 70; n++ {
			q, a, b := make([]float32, n), make([]float32, n), make([]float32, n)
			q[0], q[n-1] = huge, huge
			a[0], a[n-1] = huge, -huge
			b[0], b[n-1] = -huge, -1
			out := make([]float32, 3)
			DotMany(q, pointers([][]float32{a, b, q}), out)
			require.Equal(t, []float32{0, -huge, huge}, out, n)
			SquaredL2Many(q, pointers([][]float32{a, b, q}), out)
			require.Equal(t, []float32{huge, huge, 0}, out, n)
		}
	})
}
