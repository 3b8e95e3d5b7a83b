package front

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkLinks compares each level with the one below, and the links back.
func checkLinks(t *testing.T, l *list) {
	t.Helper()
	height := int(l.height.Load())
	for level := height; level < maxHeight; level++ {
		require.Zero(t, l.next(head, level), "level %d is not in use", level)
	}
	below := map[ref]bool{}
	for level := range height {
		nodes := map[ref]bool{}
		for p, n := head, l.next(head, level); n != 0; p, n = n, l.next(n, level) {
			require.True(t, p == head || before(l, p, n), "level %d is in order", level)
			if level == 0 {
				require.Equal(t, p, l.before(n), "link back")
			} else {
				require.True(t, below[n], "level %d has a node that the one below lacks", level)
			}
			nodes[n] = true
		}
		below = nodes
	}
}

// before compares two nodes without the help of prefixes.
func before(l *list, a, b ref) bool {
	if l.space(a) != l.space(b) {
		return l.space(a) < l.space(b)
	}
	return bytes.Compare(l.key(a), l.key(b)) < 0
}

// TestFingers leaves a run of ascending keys to rewrite a key elsewhere, and
// comes back to it or begins another.
func TestFingers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	f, m := New(), model{}
	var keys []uint64
	insert := func(key, seq uint64) {
		f.Insert(1, id(key), seq, id(seq), false)
		m.insert(place{1, string(id(key))}, written{seq: seq, value: id(seq)})
		keys = append(keys, key)
	}
	insert(0, 0)
	run := uint64(0)
	for seq := range uint64(20000) {
		switch r.IntN(20) {
		case 0:
			run = r.Uint64()
		case 1, 2, 3:
			insert(keys[r.IntN(len(keys))], seq)
		default:
			run++
			insert(run, seq)
		}
	}
	checkLinks(t, &f.list)
	checkGets(t, f, m, math.MaxUint64)
	checkFold(t, m, f.NewFoldIter(10000), 10000)
}

func TestFingersOfSpaces(t *testing.T) {
	var fs fingers
	fs.reset()
	for space := range uint32(fingerCount) {
		fs.of(space).point(3, 1000+ref(space))
	}
	for space := range uint32(fingerCount) {
		require.Equal(t, 1000+ref(space), fs.of(space).last[0], "space %d", space)
	}
	for range 2 {
		require.Equal(t, head, fs.of(100).last[0], "a finger given away")
	}
	fs.reset()
	require.Equal(t, head, fs.of(0).last[0])
	require.Equal(t, head, fs.of(1).last[0])
}

func TestHeights(t *testing.T) {
	const n = 1 << 16
	f := New()
	for i := range uint64(n) {
		f.Insert(1, id(i), i, nil, false)
	}
	for level, want := 1, float64(n)/4; want > 100; level, want = level+1, want/4 {
		nodes := 0
		for at := f.list.next(head, level); at != 0; at = f.list.next(at, level) {
			nodes++
		}
		require.InDelta(t, want, nodes, want/3, "nodes at level %d", level)
	}
	require.GreaterOrEqual(t, f.list.height.Load(), int32(7))
	require.LessOrEqual(t, f.list.height.Load(), int32(12))
}
