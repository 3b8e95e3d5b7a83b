package feed

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func collection(t testing.TB, text string) *catalog.Collection {
	tree, err := ql.Parse("create collection " + text)
	require.NoError(t, err)
	_, col, err := new(catalog.Catalog).Create(tree.(*ql.CreateCollection))
	require.NoError(t, err)
	return col
}

// encode returns a chunk of entries, each in a group of its own.
func encode(entries []Entry) chunk {
	c := newChunk(entries[0].Seq, nil)
	for _, e := range entries {
		var o open
		o.limit = math.MaxInt64
		o.add(e.Collection, e.Op)
		o.each(func(g group) {
			g.first, g.block, g.at = e.Seq, e.Block, e.At
			c.add(g)
		})
	}
	return c
}

func decode(first uint64, data []byte) (entries []Entry, err error) {
	w := newWalk(first, data)
	for w.next() {
		entries = append(entries, w.entry)
	}
	return entries, w.err
}

func requireEntries(t *testing.T, want, got []Entry) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Collection.Append(nil), got[i].Collection.Append(nil))
		got[i].Collection = want[i].Collection
	}
	require.Equal(t, want, got)
}

func TestChunk(t *testing.T) {
	a, b := collection(t, "a (x int)"), collection(t, "b (y text @unique)")
	for name, entries := range map[string][]Entry{
		"one":      {{Seq: 1, Block: 1, At: 1, Collection: a, Op: []byte("x")}},
		"extremes": {{Seq: math.MaxUint64, Block: 1, At: math.MinInt64, Collection: b, Op: make([]byte, 100_000)}},
		"jumps": {
			{Seq: 5, Block: 5, At: 100, Collection: a, Op: []byte{0}},
			{Seq: 6, Block: 5, At: 100, Collection: b, Op: []byte{1}},
			{Seq: 7, Block: 5, At: 100, Collection: a, Op: []byte{2}},
			{Seq: 1 << 40, Block: 1 << 40, At: math.MaxInt64, Collection: a, Op: []byte{3}},
			{Seq: 1<<40 + 1, Block: 1<<40 + 1, At: math.MinInt64, Collection: b, Op: []byte{4}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := encode(entries)
			got, err := decode(c.first, c.data)
			require.NoError(t, err)
			requireEntries(t, entries, got)

			again, err := reopenChunk(c.first, row.Seal(append([]byte{}, c.data...)))
			require.NoError(t, err)
			require.Equal(t, c.last, again.last)
			require.Equal(t, c.data, again.data)
			require.Equal(t, c.target, again.target)
			require.Equal(t, c.defBytes, again.defBytes)
		})
	}
}

func TestChunkSize(t *testing.T) {
	a := collection(t, "a (x int)")
	c := newChunk(1, nil)
	var o open
	o.limit = math.MaxInt64
	for range 1000 {
		o.add(a, []byte("op"))
	}
	o.each(func(g group) { c.add(group{1, 1, 0, g.col, g.count, g.ops}) })
	require.Len(t, c.data, len(c.defs[0].raw)+2+4+3000, "a length to each operation")
}

// The entries that fit are cut off, and at least one.
func TestCut(t *testing.T) {
	var o open
	o.limit = math.MaxInt64
	for range 5 {
		o.add(nil, make([]byte, 9))
	}
	for room, want := range map[int]uint64{-5: 1, 0: 1, 10: 1, 19: 1, 20: 2, 49: 4, 50: 5, 100: 5} {
		o.each(func(g group) {
			g.first = 7
			part := g.cut(room)
			require.Equal(t, want, part.count)
			require.EqualValues(t, 7, part.first)
			require.Len(t, part.ops, int(want)*10)
			require.Equal(t, 5-want, g.count)
			if g.count > 0 {
				require.Equal(t, 7+want, g.first)
				require.Len(t, g.ops, int(g.count)*10)
			}
		})
	}
}

// Whatever is stored: no panic, and what can be read is written as the same
// entries again.
func FuzzChunk(f *testing.F) {
	a, b := collection(f, "a (x int)"), collection(f, "b (y text @unique)")
	f.Add(uint64(1), encode([]Entry{
		{Seq: 1, Block: 1, At: 7, Collection: a, Op: []byte("put")}, {Seq: 2, Block: 1, At: 7, Collection: b, Op: []byte("del")},
		{Seq: 9, Block: 9, At: 8, Collection: b, Op: []byte("x")},
	}).data)
	f.Add(uint64(5), []byte{tagNextSeq | tagSameAt | tagSameTarget | tagOne, 1, 0})
	f.Fuzz(func(t *testing.T, first uint64, data []byte) {
		if first == 0 || len(data) == 0 {
			return
		}
		_, err := reopenChunk(first, row.Seal(append([]byte{}, data...)))
		entries, derr := decode(first, data)
		require.Equal(t, err == nil, derr == nil)
		if derr != nil {
			require.ErrorIs(t, derr, ErrCorrupt)
		}
		if len(entries) == 0 {
			return
		}
		got, err := decode(entries[0].Seq, encode(entries).data)
		require.NoError(t, err)
		requireEntries(t, entries, got)
	})
}

func TestHead(t *testing.T) {
	for _, k := range []known{{}, {2000, 10, 12345}, {math.MaxUint64, math.MaxUint64, math.MaxInt64}} {
		got, err := decodeHead(k.append(nil))
		require.NoError(t, err)
		require.Equal(t, k, got)
	}
}

func FuzzHead(f *testing.F) {
	k := known{2000, 10, 12345}
	sealed := k.append(nil)
	f.Add(sealed[:len(sealed)-4])
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := decodeHead(row.Seal(data))
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		again, err := decodeHead(k.append(nil))
		require.NoError(t, err)
		require.Equal(t, k, again)
	})
}
