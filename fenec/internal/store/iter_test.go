package store_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// TestIterClose opens iterators, moves them, and closes some of them so that others
// get their memory, in any order.
func TestIterClose(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	l := openLayered(t, r)
	type walk struct {
		it   *store.Iter
		left []uint64 // what it has still to come to
	}
	var open []walk
	for range 3000 {
		if len(open) < 5 {
			from := r.Uint64N(l.keys[len(l.keys)-1])
			at, _ := slices.BinarySearch(l.keys, from)
			it := l.block.Iter(1, id64(from), nil)
			it.First()
			open = append(open, walk{it, l.keys[at:]})
		}
		i := r.IntN(len(open))
		w := &open[i]
		require.Equal(t, len(w.left) > 0, w.it.Valid())
		if len(w.left) > 0 {
			require.Equal(t, w.left[0], binary.BigEndian.Uint64(w.it.Key()))
			w.left = w.left[1:]
			w.it.Next()
		}
		if r.IntN(4) == 0 || len(w.left) == 0 {
			w.it.Close()
			open = slices.Delete(open, i, i+1)
		}
	}
}

// A closed iterator's memory is the next one's.
func TestIterCloseAllocations(t *testing.T) {
	l := openLayered(t, rand.New(rand.NewPCG(2, 71)))
	from := id64(l.keys[7])
	scan := func() {
		it := l.block.Iter(1, from, nil)
		it.First()
		if binary.BigEndian.Uint64(it.Key()) != l.keys[7] {
			panic("it is not at its first key")
		}
		it.Close()
	}
	scan()
	require.Zero(t, testing.AllocsPerRun(100, scan))
}
