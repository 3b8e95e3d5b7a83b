package text

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSortNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 2, fewNumbers, fewNumbers + 1, 100, 5000} {
		for _, mask := range []uint64{^uint64(0), 0xffff, 0xff << 56, 0xffff_0000_0000_0001} {
			numbers := make([]uint64, n)
			for i := range numbers {
				numbers[i] = r.Uint64()&mask<<1 | uint64(i)<<20
			}
			slices.Sort(numbers)
			want := slices.Compact(numbers)
			got := slices.Clone(want)
			r.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
			sortNumbers(got, make([]uint64, len(got)))
			require.Equal(t, want, got)
		}
	}
}
