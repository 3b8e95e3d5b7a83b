package replication

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRings(t *testing.T) {
	r := NewRings(2)
	names, next, ok := r.Since(0)
	require.True(t, ok)
	require.Empty(t, names)
	require.Zero(t, next)

	r.Ring("a")
	r.Ring("b")
	r.Ring("a")
	names, next, ok = r.Since(0)
	require.True(t, ok)
	require.Equal(t, []string{"a", "b"}, names)
	require.EqualValues(t, 3, next)
	names, _, _ = r.Since(2)
	require.Equal(t, []string{"a"}, names)

	r.Ring("c") // for which b is forgotten, the second ring
	_, next, ok = r.Since(1)
	require.False(t, ok)
	require.EqualValues(t, 4, next)
	names, _, ok = r.Since(2)
	require.True(t, ok)
	require.Equal(t, []string{"c", "a"}, names)
	_, _, ok = r.Since(5)
	require.False(t, ok, "no such ring was given")

	r.Forget("c")
	r.Forget("nobody")
	names, next, ok = r.Since(2)
	require.True(t, ok)
	require.Equal(t, []string{"a"}, names)
	require.Equal(t, r.Last(), next)
}

// Whoever listens now and then hears of every name that was rung.
func TestNoRingIsMissed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		r := NewRings(1 + rnd.IntN(6))
		var cursor uint64
		rung := map[string]bool{}
		for range 100 {
			if name := fmt.Sprint(rnd.IntN(8)); rnd.IntN(4) > 0 {
				r.Ring(name)
				rung[name] = true
				continue
			}
			names, next, ok := r.Since(cursor)
			cursor = next
			if ok {
				want := []string{}
				for name := range rung {
					want = append(want, name)
				}
				require.ElementsMatch(t, want, names)
				require.Len(t, slices.Compact(slices.Sorted(slices.Values(names))), len(names))
			}
			clear(rung)
		}
	}
}
