package store_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// layered is a block that is open over a store with keys in its base and in both
// its fronts, some of which hide or take away those below, and what it sees:
// numbers of 8 bytes.
type layered struct {
	block *store.Block
	keys  []uint64
}

func openLayered(t *testing.T, r *rand.Rand) layered {
	s := open(t, newDisk(t).path, store.Options{NoCheckpoint: true})
	there := map[uint64]bool{}
	change := func(n int, to uint64) (ops []op) {
		for range n {
			id := r.Uint64N(to)
			o := op{space: 1, key: string(id64(id)), val: id64(id)}
			if there[id] = r.IntN(3) > 0; !there[id] {
				o.val = nil
			}
			ops = append(ops, o)
		}
		return ops
	}
	write(t, s, change(20_000, 30_000)...)
	require.NoError(t, s.Checkpoint(ctx))
	held, err := s.Snapshot() // keeps in a front what comes now
	require.NoError(t, err)
	t.Cleanup(held.Close)
	write(t, s, change(r.IntN(3000), 1+r.Uint64N(30_000))...)
	require.NoError(t, s.Checkpoint(ctx))
	write(t, s, change(r.IntN(100), 30_100)...)
	b, err := s.Begin(ctx, nil)
	require.NoError(t, err)
	t.Cleanup(b.Rollback)
	require.NoError(t, fill(b, change(r.IntN(50), 30_100)...))
	l := layered{block: b}
	for id, is := range there {
		if is {
			l.keys = append(l.keys, id)
		}
	}
	slices.Sort(l.keys)
	return l
}

func id64(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// One iterator that walks over many ranges sees what there is, and counts are
// those of its walks.
func TestSpans(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 21))
		l := openLayered(t, r)
		it := l.block.Iter(1, nil, nil)
		at := uint64(0)
		for range 600 {
			// Short and long ranges, most of them near the one before.
			if at += r.Uint64N(100); r.IntN(20) == 0 || at > 30_100 {
				at = r.Uint64N(30_100)
			}
			end := at + r.Uint64N(1<<r.IntN(12))
			lower, upper := id64(at), id64(end)
			if r.IntN(100) == 0 {
				lower, at = nil, 0
			}
			if r.IntN(100) == 0 {
				upper, end = nil, 1<<62
			}
			first, _ := slices.BinarySearch(l.keys, at)
			last, _ := slices.BinarySearch(l.keys, end)
			want := l.keys[first:last]

			n, err := l.block.Count(1, lower, upper)
			require.NoError(t, err)
			require.EqualValues(t, len(want), n, "%d to %d", at, end)
			it.Reset(lower, upper)
			require.False(t, it.Valid())
			requireSpan(t, it, want, r)
		}
	}
}

// requireSpan walks over the iterator's range or a part of it, either way.
func requireSpan(t *testing.T, it *store.Iter, want []uint64, r *rand.Rand) {
	t.Helper()
	start, step := it.First, it.Next
	if r.IntN(2) == 0 {
		start, step = it.Last, it.Prev
		want = slices.Clone(want)
		slices.Reverse(want)
	}
	most := len(want)
	if r.IntN(4) == 0 {
		most = r.IntN(most + 1)
	}
	start()
	for _, id := range want[:most] {
		require.True(t, it.Valid())
		require.Equal(t, id64(id), it.Key())
		require.Equal(t, id64(id), it.Value())
		step()
	}
	require.Equal(t, most < len(want), it.Valid())
	require.NoError(t, it.Err())
}

// Gets find the same near the last one as anywhere, in every space.
func TestGetNear(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 22))
		l := openLayered(t, r)
		id := uint64(0)
		for range 20_000 {
			if id += r.Uint64N(20); r.IntN(100) == 0 || id > 30_100 {
				id = r.Uint64N(30_100)
			}
			_, there := slices.BinarySearch(l.keys, id)
			val, err := l.block.Get(1, id64(id))
			require.NoError(t, err)
			require.Equal(t, there, val != nil, id)
			if there {
				require.Equal(t, id64(id), val)
			}
			if r.IntN(50) == 0 {
				val, err := l.block.Get(2+r.Uint32N(8), id64(id))
				require.NoError(t, err)
				require.Nil(t, val)
			}
		}
	}
}

// A view that is read again after its Release, and one of a Read that is used
// again, remember nothing of before.
func TestGetAfterRelease(t *testing.T) {
	s := open(t, newDisk(t).path, store.Options{})
	for round := range 10 {
		var ops []op
		for id := range uint64(300) {
			ops = append(ops, op{1, string(id64(id)), []byte{byte(round)}})
		}
		write(t, s, ops...)
		if round%2 == 0 {
			require.NoError(t, s.Checkpoint(ctx))
		}
		read, err := s.Read()
		require.NoError(t, err)
		for range 2 {
			for id := range uint64(300) {
				val, err := read.Get(1, id64(id))
				require.NoError(t, err)
				require.Equal(t, []byte{byte(round)}, val)
			}
			read.Release()
		}
		read.End()
	}
}
