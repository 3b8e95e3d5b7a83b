package ql

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGather(t *testing.T) {
	for _, n := range []int{0, 1, gatherBlock - 1, gatherBlock, gatherBlock + 1, 3*gatherBlock + 7} {
		var (
			g    gather[int]
			want []int
		)
		for i := range n {
			g.add(i)
			want = append(want, i)
		}
		require.Equal(t, want, g.items())
	}
}
