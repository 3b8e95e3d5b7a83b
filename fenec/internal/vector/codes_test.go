package vector

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInt8Many compares every kind of kernel with the obvious sum, also of the
// least and greatest components, with few and many others to fetch.
func TestInt8Many(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(15, 16))
		component := [...]func() int8{
			func() int8 { return int8(r.Uint32()) },
			func() int8 { return -128 },
			func() int8 { return 127 },
		}
		for n := range 600 {
			q, rows := make([]int8, n), make([][]int8, 1+n%4)
			want, got := make([]int32, len(rows)), make([]int32, len(rows))
			for j := range q {
				q[j] = component[n/7%3]()
			}
			for i := range rows {
				rows[i] = make([]int8, n)
				for j := range rows[i] {
					rows[i][j] = component[n%3]()
					want[i] += int32(rows[i][j]) * int32(q[j])
				}
			}
			dotInt8Many(q, slices.Repeat(pointers(rows), 1+n%5), got)
			require.Equal(t, want, got, "%d components", n)
		}
	})
}

// TestPlanesMany compares every kind of kernel over bits with counting bit by bit,
// with few and many others to fetch.
func TestPlanesMany(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(17, 18))
		for n := range 40 {
			planes := make([][8]uint64, n)
			for j := range planes {
				for p := range planes[j] {
					planes[j][p] = r.Uint64() | -uint64(n&1)
				}
			}
			rows := make([][]uint64, 1+n%4)
			want, got := make([]int32, len(rows)), make([]int32, len(rows))
			for i := range rows {
				rows[i] = make([]uint64, n)
				for j := range rows[i] {
					rows[i][j] = r.Uint64() | -uint64(n&2/2)
					for bit := range 64 {
						for p, plane := range planes[j] {
							want[i] += int32((rows[i][j]&plane)>>bit&1) << p
						}
					}
				}
			}
			planesMany(planes, slices.Repeat(pointers(rows), 1+n%5), got)
			require.Equal(t, want, got, "%d words", n)
		}
	})
}
