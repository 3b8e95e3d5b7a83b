package posting

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFormat pins the bytes that files hold.
func TestFormat(t *testing.T) {
	tests := []struct {
		name string
		kind Kind
		list []Posting
		want string // hex, spaced by what is what
	}{
		{"one", Text, []Posting{{ID: 300, TF: 1, Length: 9}},
			"01 02 01 0f00 ac02 01 01 01 09" + // header, df 1, bound
				" 09 01 01 09" + // lengths of 4 bits, bound
				" 00000000 0b00 00 00 00 04"},
		{"some", Text, []Posting{{ID: 5, TF: 2, Length: 8}, {ID: 6, TF: 1, Length: 3}, {ID: 9, TF: 2, Length: 15}},
			"01 02 01 1600 05 03 02 01 03 02 08" + // header, df 3, bound: (1, 3) and (2, 8)
				" 0801 05 380f" + // ids 0 1 4 of 3 bits, frequencies 1 0 1, lengths of 4 bits
				" 02 01 03 02 08" +
				" 04000000 0c00 02 03 01 04"},
		{"far apart", Text, []Posting{{ID: 0, TF: 1, Length: 1}, {ID: MaxID, TF: 1, Length: 1}},
			"01 06 01 1e00 00 02 01 01 01" +
				" 0000000000000000 ffffffffffffff7f 03 01 01 01" +
				" ffffffffffffff7f 0a00 01 40 00 01"},
		{"weights", Weights, []Posting{{ID: 1, Weight: -2}, {ID: 2, Weight: 0.5}},
			"01 03 01 1800 01 02 000000c0 0000003f" +
				" 02 000000c0 0000003f" +
				" 01000000 0f00 01 01 000000c0 0000003f"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := store(t, test.kind, map[string][]Posting{"b": test.list})
			require.Len(t, m, 1)
			want, err := hex.DecodeString(strings.ReplaceAll(test.want, " ", ""))
			require.NoError(t, err)
			// The checksum is that of the prefix, which is "b", and the chunk.
			sum := crc32.Checksum(append([]byte("b"), want...), crc32.MakeTable(crc32.Castagnoli))
			require.Equal(t, binary.LittleEndian.AppendUint32(want, sum), m[0].Value)
		})
	}
}

func TestPrefixes(t *testing.T) {
	require.Equal(t, "\x00", string(TermPrefix(nil, "")))
	require.Equal(t, "oak\x00", string(TermPrefix(nil, "oak")))
	require.Equal(t, "\x00\x00\x01\x02", string(IndexPrefix(nil, 258)))
}

func TestPacked(t *testing.T) {
	r := newRand(15)
	for bits := range uint(65) {
		greatest := uint64(math.MaxUint64) >> (64 - bits)
		width := widthOf(greatest)
		require.True(t, soundWidth(width))
		require.GreaterOrEqual(t, width, bits)
		want := make([]uint64, 1+r.IntN(maxBlock))
		for i := range want {
			want[i] = r.Uint64() & greatest
		}
		data := appendPacked([]byte{1, 2, 3}, len(want), width, func(i int) uint64 { return want[i] })
		require.Len(t, data, 3+packedSize(len(want), width))
		p := newPacked(append(data, "whatever"...)[3:], width)
		for i := range want {
			require.Equal(t, want[i], p.at(i))
		}
	}
}

// TestBoundsAreTight checks that a bound is no wider than need be while it has
// room.
func TestBoundsAreTight(t *testing.T) {
	var b bound
	for _, p := range []pair{{2, 20}, {1, 30}, {1, 10}, {2, 25}, {5, 80}, {3, 90}, {2, 20}} {
		b.addPair(p)
	}
	require.Equal(t, []pair{{1, 10}, {2, 20}, {5, 80}}, b.pairs[:b.n])
	b.addPair(pair{9, 100})
	b.addPair(pair{100, 101}) // (5, 80) and (9, 100) are the nearest
	require.Equal(t, []pair{{1, 10}, {2, 20}, {9, 80}, {100, 101}}, b.pairs[:b.n])
	b.addPair(pair{200, 1})
	require.Equal(t, []pair{{200, 1}}, b.pairs[:b.n])
}
