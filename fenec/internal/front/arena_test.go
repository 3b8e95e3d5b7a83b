package front

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// heldBytes counts what MemoryBytes is to report.
func heldBytes(l *list) int64 {
	table := *l.table.Load()
	held := int64(cap(table)) * slotBytes
	for _, chunk := range table {
		held += int64(cap(chunk)) * wordBytes
	}
	return held
}

func TestEmptyFrontIsSmall(t *testing.T) {
	f := New()
	require.Equal(t, heldBytes(&f.list), f.MemoryBytes())
	require.LessOrEqual(t, f.MemoryBytes(), int64(2200))
	require.Zero(t, f.Len())
	require.False(t, f.NewFoldIter(1).Next())
}

// Values of every size up to several chunks let records end at, right before
// and past the end of a chunk.
func TestChunkBorders(t *testing.T) {
	for step, n := range map[int]int{1: 600, 37: 300, 9973: 60} {
		t.Run(fmt.Sprintf("step=%d", step), func(t *testing.T) {
			f := New()
			for i := range n {
				value := bytes.Repeat([]byte{byte(i)}, i*step)
				f.Insert(1, append(id(uint64(i)), value[:min(len(value), MaxKey-8)]...), uint64(i), value, false)
				require.Equal(t, heldBytes(&f.list), f.MemoryBytes())
			}
			it := f.NewFoldIter(uint64(n))
			for i := range n {
				require.True(t, it.Next())
				require.True(t, bytes.Equal(bytes.Repeat([]byte{byte(i)}, i*step), it.Value()), "value %d", i)
				require.True(t, bytes.Equal(id(uint64(i)), it.Key()[:8]), "key %d", i)
			}
			require.False(t, it.Next())
		})
	}
}

func TestChunksDouble(t *testing.T) {
	f := New()
	inserted := int64(0)
	for i := uint64(0); inserted < 20<<20; i++ {
		f.Insert(1, id(i), i, make([]byte, 300), false)
		inserted += 300
		require.Less(t, f.MemoryBytes(), 3*inserted+4096, "after %d bytes", inserted)
	}
	require.Less(t, f.MemoryBytes(), inserted+inserted/4+2<<20)
	require.Less(t, f.list.chunks, 50, "pointers for the collector")
}

func TestOversizeValueHasItsOwnChunk(t *testing.T) {
	f := New()
	before := f.MemoryBytes()
	huge := bytes.Repeat([]byte("fenec"), 9<<20)
	f.Insert(1, id(2), 1, huge, false)
	f.Insert(1, id(1), 2, []byte("small"), false)
	f.Insert(1, id(2), 3, nil, true)
	require.Less(t, f.MemoryBytes()-before, int64(len(huge)+1024), "no more than it needs, and small chunks stay in use")

	got, _, ok := f.Get(1, id(2), 2)
	require.True(t, ok)
	require.True(t, bytes.Equal(huge, got))
	_, tombstone, _ := f.Get(1, id(2), 3)
	require.True(t, tombstone)
	got, _, _ = f.Get(1, id(1), 2)
	require.Equal(t, "small", string(got))
}

func TestTableGrowsUnderReaders(t *testing.T) {
	f := New()
	it := f.NewIter(1, nil, nil, 1000)
	for i := range uint64(200) {
		f.Insert(1, id(i), i, make([]byte, 300<<10), false)
		if i == 0 {
			require.True(t, it.First())
		} else {
			require.True(t, it.Next(), "row %d", i)
		}
		require.Len(t, it.Value(), 300<<10)
	}
	require.Greater(t, len(*f.list.table.Load()), 200)
}
