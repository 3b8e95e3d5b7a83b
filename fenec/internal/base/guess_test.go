package base

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGetFindsEveryKey looks for keys spread evenly, in clumps, and of mixed
// lengths, and for those between them.
func TestGetFindsEveryKey(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	spreads := map[string]func(i int) []byte{
		"ids":    func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(2*i)) },
		"clumps": func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i%5)<<60|uint64(i*i)) },
		"random": func(int) []byte { return binary.BigEndian.AppendUint64(nil, r.Uint64()) },
		"mixed": func(i int) []byte {
			return append(binary.BigEndian.AppendUint64(nil, uint64(i)), make([]byte, i%3)...)
		},
	}
	for name, key := range spreads {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "db")
			require.NoError(t, Create(path))
			f, err := Open(path)
			require.NoError(t, err)
			defer f.Close()
			in := map[string]bool{}
			for i := range 5000 {
				in[string(key(i))] = true
			}
			fold(t, f, in)
			tx, err := f.Acquire()
			require.NoError(t, err)
			defer tx.Release()
			var finger Finger
			near := func(key []byte) ([]byte, error) { return finger.Get(tx, 1, key) }
			find := func(k string, get func(key []byte) ([]byte, error)) {
				v, err := get([]byte(k))
				require.NoError(t, err)
				require.Equal(t, k, string(v))
				for _, miss := range [][]byte{[]byte(k[:7]), append([]byte(k), 1), previous(k)} {
					v, err := get(miss)
					require.NoError(t, err)
					require.Equal(t, in[string(miss)], v != nil, "%x", miss)
				}
			}
			for k := range in { // in no order
				find(k, func(key []byte) ([]byte, error) { return tx.Get(1, key) })
				find(k, near)
			}
			for _, k := range slices.Sorted(maps.Keys(in)) {
				find(k, near)
				if r.IntN(100) == 0 {
					v, err := finger.Get(tx, 2, []byte(k)) // a space that is not there
					require.NoError(t, err)
					require.Nil(t, v)
				}
			}
		})
	}
}

// previous returns the key right before k of its length.
func previous(k string) []byte {
	b := []byte(k)
	for i := len(b) - 1; i >= 0; i-- {
		b[i]--
		if b[i] != 0xff {
			break
		}
	}
	return b
}

// fold puts every key with itself as its value.
func fold(t *testing.T, f *File, in map[string]bool) {
	t.Helper()
	keys := make([][]byte, 0, len(in))
	for k := range in {
		keys = append(keys, []byte(k))
	}
	slices.SortFunc(keys, bytes.Compare)
	i := -1
	require.NoError(t, f.Fold(1, func() (Change, bool) {
		i++
		if i == len(keys) {
			return Change{}, false
		}
		return Change{Space: 1, Key: keys[i], Value: keys[i]}, true
	}))
}
