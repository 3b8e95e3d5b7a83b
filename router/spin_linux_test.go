package router

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// without counts the waits until the next spin, which it takes.
func without(s *spinner) (n int) {
	for !s.wanted() {
		n++
	}
	return n
}

func TestSpinnerMisses(t *testing.T) {
	var s spinner
	for range maxMisses - 1 {
		require.Zero(t, without(&s))
		s.miss()
	}
	for range 100 {
		require.Zero(t, without(&s), "one miss for one hit is borne")
		s.hit()
		require.Zero(t, without(&s))
		s.miss()
	}
	s.miss()
	require.Equal(t, missRest, without(&s))
	require.Zero(t, without(&s))
}

func TestSpinnerCrowd(t *testing.T) {
	var s spinner
	for _, rest := range []int{16, 64, 256, 1024, 4096, 4096} {
		s.crowd()
		require.Equal(t, rest, without(&s))
	}
	for range 64 {
		s.hit()
	}
	s.crowd()
	require.Equal(t, maxRest, without(&s), "not forgotten soon")
	hits := 0
	for ; s.penalty > 0; hits++ {
		s.hit()
	}
	require.Less(t, hits, 1000)
	s.crowd()
	require.Equal(t, minRest, without(&s), "but in the end")
}
