package replication

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHistoryBytes(t *testing.T) {
	for _, c := range []struct {
		history      History
		body, record string
	}{
		{History{}, "0000", "0800020000"},
		{History{Following: true, Incomplete: true}, "0200", "0800020200"},
		{
			History{Following: true, Lineage: Lineage{{0x0102, 300}}},
			"01010201000000000000ac02",
			"08000c01010201000000000000ac02",
		},
	} {
		require.Equal(t, c.body, hex.EncodeToString(c.history.Append(nil)))
		require.Equal(t, c.record, hex.EncodeToString(c.history.AppendRecord(nil)))
		got, err := DecodeRecord(c.history.AppendRecord(nil))
		require.NoError(t, err)
		require.Equal(t, c.history, got)
	}
}

func TestRefusedHistories(t *testing.T) {
	whole := History{Lineage: Lineage{{1, 2}, {3, 400}}}.AppendRecord(nil)
	for n := range len(whole) {
		_, err := DecodeRecord(whole[:n])
		require.ErrorIs(t, err, ErrCorrupt, "cut at %d", n)
	}
	for name, b := range map[string][]byte{
		"another kind":       append([]byte{7}, whole[1:]...),
		"another collection": append([]byte{8, 1}, whole[2:]...),
		"something after it": append(whole[:len(whole):len(whole)], 0),
	} {
		_, err := DecodeRecord(b)
		require.ErrorIs(t, err, ErrCorrupt, name)
	}
}

func FuzzHistory(f *testing.F) {
	f.Add(History{}.Append(nil))
	f.Add(History{Following: true, Lineage: Lineage{{1, 2}, {3, 1 << 40}}}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeHistory(b)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		require.Equal(t, b, h.Append([]byte{}))
	})
}
