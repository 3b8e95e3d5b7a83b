package history

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

func encode(entries []Entry) chunk {
	c := newChunk(entries[0].Seq, nil)
	for _, e := range entries {
		c.add(e)
	}
	return c
}

func decode(c chunk) (entries []Entry, err error) {
	c.last = Entry{Seq: c.first - 1}
	for len(c.data) > 0 {
		e, err := c.next()
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func TestChunk(t *testing.T) {
	for name, entries := range map[string][]Entry{
		"one":      {{Seq: 1, ID: 1, Collection: 1, At: 1}},
		"zero":     {{Seq: 9}},
		"extremes": {{Seq: math.MaxUint64, At: math.MinInt64, Collection: math.MaxUint32, Op: Drop, Internal: true, ID: math.MaxUint64}},
		"jumps": {
			{Seq: 5, At: 100, Collection: 7, ID: 1 << 52},
			{Seq: 6, At: -100, Collection: 3, ID: 1, Op: Del, Internal: true},
			{Seq: 1 << 40, At: math.MaxInt64, Collection: 3, ID: math.MaxUint64},
			{Seq: 1<<40 + 1, At: math.MinInt64, Collection: 3, ID: 0, Op: Alter},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decode(encode(entries))
			require.NoError(t, err)
			require.Equal(t, entries, got)
		})
	}
	c := newChunk(1, nil)
	for i := range uint64(1000) {
		c.add(Entry{Seq: i + 1, Collection: 1, ID: i + 1})
	}
	require.Len(t, c.data, 1001, "what is as expected takes a byte")
}

func TestChunkOfRandomEntries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var entries []Entry
		seq := 1 + r.Uint64N(1<<r.UintN(60))
		for range 1 + r.IntN(50) {
			entries = append(entries, Entry{
				Seq: seq, At: r.Int64() >> r.UintN(64), Collection: r.Uint32() >> r.UintN(32),
				Op: Op(r.UintN(5)), Internal: r.IntN(2) == 0, ID: r.Uint64() >> r.UintN(64),
			})
			seq += 1 + r.Uint64N(2)*r.Uint64N(1000)
		}
		got, err := decode(encode(entries))
		require.NoError(t, err)
		require.Equal(t, entries, got)
	}
}

// Whatever is stored: no panic, and what can be read is written as the same
// entries again.
func FuzzChunk(f *testing.F) {
	f.Add(uint64(1), encode([]Entry{{Seq: 1, At: 7, Collection: 3, ID: 9}, {Seq: 8, Op: Drop}}).data)
	f.Add(uint64(5), []byte{0xf0, 0xf8, 5, 0})
	f.Fuzz(func(t *testing.T, first uint64, data []byte) {
		if first == 0 || len(data) == 0 {
			return
		}
		c, err := openChunk(first, row.Seal(data))
		require.NoError(t, err)
		entries, err := decode(c)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
		}
		if len(entries) == 0 {
			return
		}
		again := newChunk(first, nil)
		for _, e := range entries {
			again.add(e)
		}
		got, err := decode(again)
		require.NoError(t, err)
		require.Equal(t, entries, got)
	})
}

func TestHead(t *testing.T) {
	k := known{upTo: 2000, horizon: 10, bytes: 12345}
	k.add(15, 5)
	k.add(20, 5)
	k.add(1000, 100)
	k.drop(dropped{17, 3, "some"})
	k.drop(dropped{1050, 4, ""})
	got, err := decodeHead(k.append(nil))
	require.NoError(t, err)
	require.Equal(t, k, got)
	require.EqualValues(t, 110, got.entries)
	require.Equal(t, []span{{15, 24}, {1000, 1099}}, got.ranges)

	part := k.until(1050)
	require.Equal(t, []span{{15, 24}, {1000, 1050}}, part.ranges)
	require.Len(t, part.dropped, 2)
	require.Len(t, k.until(1049).dropped, 1)
	require.Equal(t, known{upTo: 5, horizon: 5, bytes: 12345}, k.until(5))

	k.pushOut(1010)
	require.Equal(t, []span{{1011, 1099}}, k.ranges)
	require.EqualValues(t, 89, k.entries)
	require.Equal(t, []dropped{{1050, 4, ""}}, k.dropped)
}

func FuzzHead(f *testing.F) {
	k := known{upTo: 2000, horizon: 10, bytes: 12345}
	k.add(15, 5)
	k.drop(dropped{17, 3, "some"})
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
		require.Equal(t, k.ranges, again.ranges)
		require.Equal(t, k.dropped, again.dropped)
		require.Equal(t, k.horizon, again.horizon)
	})
}
