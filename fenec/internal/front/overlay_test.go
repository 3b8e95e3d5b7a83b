package front

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOverlayAgainstModel(t *testing.T) {
	o := NewOverlay()
	for seed := range uint64(30) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			o.Reset()
			m := model{}
			for range 1 + r.IntN(1000) {
				p := place{testSpaces[r.IntN(len(testSpaces))], string(randomKey(r))}
				w := written{0, bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(60)), r.IntN(4) == 0}
				o.Replace(p.space, []byte(p.key), w.value, w.tombstone)
				m.insert(p, w)
			}
			require.Equal(t, len(m), o.Len())
			checkOverlay(t, r, o, m)
		})
	}
}

func checkOverlay(t *testing.T, r *rand.Rand, o *Overlay, m model) {
	t.Helper()
	checkLinks(t, &o.list)
	checkFold(t, m, o.NewFoldIter(), 0)
	for p := range m {
		want, _ := m.get(p, 0)
		value, tombstone, ok := o.Get(p.space, []byte(p.key))
		require.True(t, ok)
		require.Equal(t, want.tombstone, tombstone)
		require.True(t, bytes.Equal(want.value, value), "value of %v", p)
	}
	_, _, ok := o.Get(2, nil)
	require.False(t, ok)
	lower, upper := randomBound(r), randomBound(r)
	w := walker{t: t, m: m, space: 7, at: -1, it: o.NewIter(7, lower, upper), keys: m.keys(7, lower, upper, 0)}
	for range 100 {
		w.step(r.IntN(6), randomKey(r))
	}
}

func TestOverlayRewritesInPlace(t *testing.T) {
	o := NewOverlay()
	key, value := []byte("rows"), make([]byte, 500)
	o.Replace(0, key, value, false)
	before := o.MemoryBytes()
	for i := range 10000 {
		o.Replace(0, key, value[:i%len(value)], i%7 == 0)
	}
	require.Equal(t, before, o.MemoryBytes(), "values that fit take the place of the one before")
	require.Equal(t, 1, o.Len())
}

func TestOverlayGrowingValue(t *testing.T) {
	const last = 100_000
	o := NewOverlay()
	key, value := []byte("list"), bytes.Repeat([]byte{7}, last)
	for n := range last {
		o.Replace(0, key, value[:n], false)
	}
	got, _, _ := o.Get(0, key)
	require.True(t, bytes.Equal(value[:last-1], got))
	require.Less(t, o.MemoryBytes(), int64(16*last), "room is added in proportion")
}

func TestOverlayIterSeesLaterWrites(t *testing.T) {
	o := NewOverlay()
	o.Replace(1, []byte("b"), []byte("1"), false)
	it := o.NewIter(1, nil, nil)
	require.True(t, it.First())
	o.Replace(1, []byte("a"), nil, false)
	o.Replace(1, []byte("c"), []byte("2"), false)
	require.True(t, it.Next())
	require.Equal(t, "c", string(it.Key()))
	require.False(t, it.Next())
}

// No key takes less than is said.
func TestOverlayEntry(t *testing.T) {
	for _, size := range []int{9, 10, 40, 200} {
		o := NewOverlay()
		for i := range 5000 {
			key := binary.BigEndian.AppendUint32(make([]byte, size-4), uint32(i))
			o.Replace(1, key, nil, i%2 == 0)
			require.GreaterOrEqual(t, o.MemoryBytes(), int64(i+1)*int64(OverlayEntry+size))
		}
	}
}

func TestOverlayReset(t *testing.T) {
	o := NewOverlay()
	for _, rows := range []uint64{10000, 0, 10000, 1} {
		for i := range rows {
			o.Replace(uint32(1+i%20), id(mix(i)), make([]byte, 300), false)
		}
		o.Replace(1, []byte("huge"), make([]byte, 3<<20), false)
		require.Greater(t, o.MemoryBytes(), int64(3<<20))
		o.Reset()
		require.LessOrEqual(t, o.MemoryBytes(), int64(3<<10), "after %d rows", rows)
		require.Equal(t, o.MemoryBytes(), heldBytes(&o.list), "nothing else is referenced")
		require.Zero(t, o.Len())
		require.False(t, o.NewFoldIter().Next())
		require.False(t, o.NewIter(1, nil, nil).First())
		require.False(t, o.NewIter(1, nil, nil).Last())
	}
}

func TestOverlayResetKeepsSmallChunks(t *testing.T) {
	o := NewOverlay()
	key, value := id(0), make([]byte, 2000)
	write := func() {
		o.Reset()
		for space := range uint32(4) {
			o.Replace(space, key, value, false)
		}
	}
	for range 5 {
		write() // a kept chunk may have to double once or twice more
	}
	held := o.MemoryBytes()
	require.LessOrEqual(t, held, int64(20<<10))
	require.Zero(t, testing.AllocsPerRun(10, write), "blocks of one size need no more memory")
	require.Equal(t, held, o.MemoryBytes())
}
