package posting

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// overlaid returns a list with a part of its postings in the front, and what it
// is to read.
func overlaid(t testing.TB, r *rand.Rand, kind Kind, shape, size int) (*List, []Posting) {
	g := &ids{r: r, shape: shape}
	var has model
	has.apply(randomChanges(r, kind, g, has, r.IntN(size), 0))
	other := []Posting{randomPosting(r, kind, 7)}
	m := store(t, kind, map[string][]Posting{"a": other, "b": has, "c": other})
	if r.IntN(4) == 0 {
		changes := randomChanges(r, kind, g, has, 1+r.IntN(200), 0.5)
		out, err := Merge(kind, &cursor{m: m}, []byte("b"), changes)
		require.NoError(t, err)
		m.apply(t, out)
		has.apply(changes)
	}
	var front []Posting
	if r.IntN(3) > 0 {
		front = randomChanges(r, kind, g, has, r.IntN(1+size/4), []float64{0, 0.3, 1}[r.IntN(3)])
		has.apply(front)
	}
	l, err := NewList(kind, &cursor{m: m}, []byte("b"), front)
	require.NoError(t, err)
	return l, has
}

// TestList walks lists by steps, seeks and looks at bounds, all mixed.
func TestList(t *testing.T) {
	r := newRand(3)
	for round := range scale(1500) {
		kind := Kind(round % 2)
		l, want := overlaid(t, r, kind, r.IntN(shapes), 1<<r.IntN(13))
		require.Equal(t, len(want), int(l.DF()))
		whole := l.bound()
		requireWithin(t, kind, &whole, want)
		walk(t, r, kind, l, want)
	}
}

func walk(t *testing.T, r *rand.Rand, kind Kind, l *List, want []Posting) {
	w := Scorer{K1: 1.2, B: 0.75, AverageLength: 20}.weigher(1, 2)
	if kind == Weights {
		w = dotWeigher(-0.5)
	}
	far := 1 + r.IntN(2000)
	for i := 0; ; {
		if i == len(want) {
			require.Equal(t, uint64(End), l.ID())
			require.NoError(t, l.Err())
			return
		}
		if l.ID() != want[i].ID || l.Posting() != want[i] {
			require.Equal(t, want[i], l.Posting())
			require.Equal(t, want[i].ID, l.ID())
		}
		switch r.IntN(4) {
		case 0:
			i = seekIn(r, l, want, i, i+r.IntN(far))
		case 1:
			to := want[min(i+r.IntN(far), len(want)-1)].ID
			l.shallow(to)
			require.LessOrEqual(t, l.id, to)
			most, last := l.limit(&w)
			require.LessOrEqual(t, to, last)
			i, _ = slices.BinarySearchFunc(want, to, byID)
			for j := i; j < len(want) && want[j].ID <= last; j++ {
				require.LessOrEqual(t, w.weigh(&want[j]), most)
			}
			l.SeekGE(to)
		default:
			l.Next()
			i++
		}
	}
}

// seekIn seeks an id about that of want[to] and returns where the list must be.
func seekIn(r *rand.Rand, l *List, want []Posting, i, to int) int {
	id := uint64(End)
	if to < len(want) {
		id = want[to].ID + uint64(r.IntN(3)) - 1
	}
	if to < len(want) && want[to].ID == 0 {
		id = 0
	}
	l.SeekGE(id)
	at, _ := slices.BinarySearchFunc(want, id, byID)
	return max(i, at)
}

// TestListOfOtherTerms checks that a list of a term that is not there ends at once,
// whatever is beside it.
func TestListOfOtherTerms(t *testing.T) {
	one := []Posting{{ID: 1, TF: 1, Length: 1}}
	m := store(t, Text, map[string][]Posting{"a\x00": one, "b\x00": one})
	for _, prefix := range []string{"\x00", "aa\x00", "c\x00"} {
		l, err := NewList(Text, &cursor{m: m}, []byte(prefix), nil)
		require.NoError(t, err)
		require.Equal(t, uint64(End), l.ID())
		require.Zero(t, l.DF())
		l.SeekGE(5)
		require.Equal(t, uint64(End), l.ID())
	}
}
