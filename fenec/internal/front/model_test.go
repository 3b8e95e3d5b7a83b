package front

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

// place is a key in its space.
type place struct {
	space uint32
	key   string
}

// written is a version of a key, as the model keeps it.
type written struct {
	seq       uint64
	value     []byte
	tombstone bool
}

// model is the obvious front: for each key its versions, oldest first.
type model map[place][]written

func (m model) insert(p place, w written) {
	if w.tombstone {
		w.value = nil
	}
	m[p] = append(m[p], w)
}

// get returns the newest version at or below maxSeq.
func (m model) get(p place, maxSeq uint64) (written, bool) {
	for _, w := range slices.Backward(m[p]) {
		if w.seq <= maxSeq {
			return w, true
		}
	}
	return written{}, false
}

// at returns the places with a version at or below maxSeq, in order.
func (m model) at(maxSeq uint64) []place {
	var places []place
	for p := range m {
		if _, ok := m.get(p, maxSeq); ok {
			places = append(places, p)
		}
	}
	sort.Slice(places, func(i, j int) bool {
		if places[i].space != places[j].space {
			return places[i].space < places[j].space
		}
		return places[i].key < places[j].key
	})
	return places
}

// keys returns those of at which are in a space and within bounds.
func (m model) keys(space uint32, lower, upper []byte, maxSeq uint64) []string {
	var keys []string
	for _, p := range m.at(maxSeq) {
		if p.space == space && p.key >= string(lower) && (upper == nil || p.key < string(upper)) {
			keys = append(keys, p.key)
		}
	}
	return keys
}

// versions counts them all.
func (m model) versions() int {
	n := 0
	for _, versions := range m {
		n += len(versions)
	}
	return n
}

var testSpaces = []uint32{0, 1, 7, math.MaxUint32}

// randomKey draws from few letters and lengths around eight, the inline prefix,
// so that keys repeat and are prefixes of one another.
func randomKey(r *rand.Rand) []byte {
	const letters = "\x00\x00a\xff"
	key := make([]byte, r.IntN(4)+r.IntN(2)*7)
	for i := range key {
		key[i] = letters[0]
		if i < 2 || i > 6 {
			key[i] = letters[r.IntN(len(letters))]
		}
	}
	return key
}

// randomBound is a key or nil.
func randomBound(r *rand.Rand) []byte {
	if r.IntN(3) == 0 {
		return nil
	}
	return randomKey(r)
}

// checkFold compares a pass over all spaces with the model.
func checkFold(t *testing.T, m model, it *FoldIter, maxSeq uint64) {
	t.Helper()
	for _, p := range m.at(maxSeq) {
		want, _ := m.get(p, maxSeq)
		require.True(t, it.Next(), "fold ends before %v", p)
		require.Equal(t, p, place{it.Space(), string(it.Key())})
		require.Equal(t, want.seq, it.Seq(), "sequence of %v", p)
		require.Equal(t, want.tombstone, it.Tombstone(), "tombstone of %v", p)
		require.True(t, bytes.Equal(want.value, it.Value()), "value of %v", p)
	}
	require.False(t, it.Next(), "fold goes on at the end")
	require.False(t, it.Next(), "fold goes on after the end")
}

// walker moves an iterator and an index into the model's keys together.
type walker struct {
	t      *testing.T
	m      model
	it     *Iter
	space  uint32
	maxSeq uint64
	keys   []string
	at     int // -1 if at no key
}

// step makes one of six moves, with key as what a seek looks for.
func (w *walker) step(move int, key []byte) {
	w.t.Helper()
	var got bool
	switch move {
	case 0:
		w.at, got = 0, w.it.First()
	case 1:
		w.at, got = len(w.keys)-1, w.it.Last()
	case 2:
		w.at, got = sort.SearchStrings(w.keys, string(key)), w.it.SeekGE(key)
	case 3:
		w.at, got = sort.SearchStrings(w.keys, string(key))-1, w.it.SeekLT(key)
	case 4:
		if w.at >= 0 {
			w.at++
		}
		got = w.it.Next()
	case 5:
		if w.at >= 0 {
			w.at--
		}
		got = w.it.Prev()
	}
	if w.at >= len(w.keys) {
		w.at = -1
	}
	require.Equal(w.t, w.at >= 0, got, "move %d to %q", move, key)
	require.Equal(w.t, got, w.it.Valid())
	if got {
		w.check()
	}
}

func (w *walker) check() {
	w.t.Helper()
	p := place{w.space, w.keys[w.at]}
	require.Equal(w.t, p.key, string(w.it.Key()))
	want, _ := w.m.get(p, w.maxSeq)
	require.Equal(w.t, want.tombstone, w.it.Tombstone(), "tombstone of %v", p)
	require.True(w.t, bytes.Equal(want.value, w.it.Value()), "value of %v", p)
}
