package posting

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireSound reads a store, which may be damaged, in every way. Nothing may
// panic or go on forever, and every error is ErrCorrupt.
func requireSound(t testing.TB, r *rand.Rand, kind Kind, m memory, prefix []byte, front []Posting) {
	open := func() *List {
		l, err := NewList(kind, &cursor{m: m}, prefix, front)
		requireCorrupt(t, err)
		return l
	}
	_, err := Merge(kind, &cursor{m: m}, prefix, front)
	requireCorrupt(t, err)
	if l := open(); l != nil {
		steps := 0
		for ; l.ID() != End; steps++ {
			l.Posting()
			l.Next()
		}
		require.LessOrEqual(t, steps, len(m)*maxChunk+len(front))
		requireCorrupt(t, l.Err())
	}
	if l := open(); l != nil {
		for steps := 0; l.ID() != End && steps < 1000; steps++ {
			l.SeekGE(l.ID() + 1 + uint64(r.IntN(3000)))
		}
		requireCorrupt(t, l.Err())
	}
	query := func() *Query {
		a, b := open(), open()
		if a == nil || b == nil {
			return nil
		}
		if kind == Weights {
			return Dot([]Entry{{a, 1}, {b, -2}})
		}
		return Match(Scorer{K1: 1, B: 0.5}, []Term{{a, 1, 1}, {b, 1, 2}})
	}
	if q := query(); q != nil {
		_, err := q.Top(context.Background(), 3, nil)
		requireCorrupt(t, err)
		requireCorrupt(t, query().Each(context.Background(), func(Hit) error { return nil }))
		requireCorrupt(t, query().sweep(context.Background(), func(Hit) error { return nil }))
	}
}

func requireCorrupt(t testing.TB, err error) {
	if err != nil && !errors.Is(err, ErrCorrupt) {
		require.ErrorIs(t, err, ErrCorrupt)
	}
}

// TestDamage damages keys and values at random, under checksums that are right.
func TestDamage(t *testing.T) {
	r := newRand(11)
	for round := range scale(3000) {
		kind := Kind(round % 2)
		g := &ids{r: r, shape: r.IntN(shapes)}
		other := []Posting{randomPosting(r, kind, 7)}
		whole := randomChanges(r, kind, g, nil, 1+r.IntN(1<<r.IntN(12)), 0)
		m := store(t, kind, map[string][]Posting{"a": other, "b": whole, "c": other})
		for range 1 + r.IntN(3) {
			m = damage(r, m)
		}
		requireSound(t, r, kind, m, []byte("b"), randomChanges(r, kind, g, whole, 1+r.IntN(20), 0.5))
	}
}

// TestDamageIsFound damages values at random. What a query answers is right, or
// there is an error.
func TestDamageIsFound(t *testing.T) {
	r := newRand(16)
	found := 0
	for round := range scale(2000) {
		kind := Kind(round % 2)
		g := &ids{r: r, shape: r.IntN(shapes)}
		lists := map[string][]Posting{}
		for _, term := range []string{"a", "b", "c"} {
			lists[term] = randomChanges(r, kind, g, nil, 1+r.IntN(1<<r.IntN(12)), 0)
		}
		m := store(t, kind, lists)
		want, err := topOf(kind, m, 10)
		require.NoError(t, err)
		at := r.IntN(len(m))
		whole := m[at].Value
		m[at].Value = damageValue(r, m, bytes.Clone(whole))
		got, err := topOf(kind, m, 10)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			require.NotEqual(t, whole, m[at].Value)
			found++
			continue
		}
		require.Equal(t, want, got)
	}
	require.Greater(t, found, scale(1000))
}

// topOf returns the best k documents of a query for all terms of a store.
func topOf(kind Kind, m memory, k int) ([]Hit, error) {
	var terms []Term
	var entries []Entry
	for _, prefix := range []string{"a", "b", "c"} {
		l, err := NewList(kind, &cursor{m: m}, []byte(prefix), nil)
		if err != nil {
			return nil, err
		}
		terms, entries = append(terms, Term{l, 1, 2}), append(entries, Entry{l, 1.5})
	}
	q := Match(Scorer{K1: 1.2, B: 0.75, AverageLength: 20}, terms)
	if kind == Weights {
		q = Dot(entries)
	}
	return q.Top(context.Background(), k, nil)
}

// damage damages a key or a value, and gives the value a checksum that is right, for
// the first byte of the key as its prefix.
func damage(r *rand.Rand, m memory) memory {
	if len(m) == 0 {
		return m
	}
	i := r.IntN(len(m))
	c := Change{bytes.Clone(m[i].Key), bytes.Clone(m[i].Value)}
	switch r.IntN(10) {
	case 0:
		return slices.Delete(m, i, i+1)
	case 1:
		c.Key = append(c.Key, byte(r.Uint32()))
	case 2:
		c.Key = c.Key[:1+r.IntN(len(c.Key))]
	default:
		c.Value = damageValue(r, m, c.Value)
	}
	c.Value = appendSum(c.Value[:max(len(c.Value)-sumSize, 0)], seedOf(c.Key[:1]))
	m[i] = c
	slices.SortFunc(m, func(a, b Change) int { return bytes.Compare(a.Key, b.Key) })
	return slices.CompactFunc(m, func(a, b Change) bool { return bytes.Equal(a.Key, b.Key) })
}

// damageValue damages a value, or takes that of another key of m.
func damageValue(r *rand.Rand, m memory, value []byte) []byte {
	switch r.IntN(8) {
	case 0:
		return value[:r.IntN(len(value)+1)]
	case 1:
		return append(value, byte(r.Uint32()))
	case 2:
		return bytes.Clone(m[r.IntN(len(m))].Value)
	}
	at := r.IntN(max(len(value), 1))
	if r.IntN(2) == 0 {
		at = r.IntN(min(len(value)+1, 32))
	}
	if at < len(value) {
		value[at] ^= 1 << r.IntN(8)
	}
	return value
}

// FuzzChunk reads any bytes, with a checksum, as the head and as a further chunk
// of a term. What decodes is the same after it has been encoded again.
func FuzzChunk(f *testing.F) {
	r := newRand(12)
	for _, kind := range []Kind{Text, Weights} {
		for shape := range shapes {
			list := randomChanges(r, kind, &ids{r: r, shape: shape}, nil, 2000, 0)
			for _, c := range store(f, kind, map[string][]Posting{"b": list[:1], "c": list})[:3] {
				f.Add(uint8(kind), c.Value[:len(c.Value)-sumSize])
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		k, seed := Kind(kind%2), seedOf([]byte("b"))
		data = appendSum(data, seed)
		requireSound(t, newRand(13), k, memory{{[]byte("b"), data}}, []byte("b"), []Posting{{ID: 9, TF: 1, Length: 1, Weight: 1}})
		head := store(t, k, map[string][]Posting{"b": {{ID: 0, TF: 1, Length: 1, Weight: 1}}})
		requireSound(t, newRand(14), k, append(head, Change{chunkKey(nil, []byte("b"), 1), data}), []byte("b"), nil)

		var h head1
		got, err := appendPostings(nil, k, seed, nil, data, h.of(data))
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		requireRoundTrip(t, k, got)
	})
}

// head1 is a head if a chunk has the flag of one.
type head1 struct{ head }

func (h *head1) of(data []byte) *head {
	if len(data) > 1 && data[1]&flagHead != 0 {
		return &h.head
	}
	return nil
}

func requireRoundTrip(t *testing.T, kind Kind, want []Posting) {
	p := newPacker(kind, nil)
	var got []Posting
	for _, part := range p.full(want) {
		var err error
		got, err = appendPostings(got, kind, p.enc.seed, nil, part.chunk, nil)
		require.NoError(t, err)
	}
	for i := range want {
		// NaN is not equal to itself.
		if a, b := want[i], got[i]; a != b && (a.Weight == a.Weight || b.Weight == b.Weight) {
			require.Equal(t, a, b)
		}
	}
	require.Len(t, got, len(want))
}
