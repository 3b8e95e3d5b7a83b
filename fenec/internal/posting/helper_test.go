package posting

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// memory is a store of ordered keys.
type memory []Change

func (m memory) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(m, key, func(c Change, key []byte) int { return bytes.Compare(c.Key, key) })
}

// apply makes changes, which must be as Merge promises.
func (m *memory) apply(t testing.TB, changes []Change) {
	for i, c := range changes {
		if i > 0 {
			require.Negative(t, bytes.Compare(changes[i-1].Key, c.Key))
		}
		at, ok := m.find(c.Key)
		switch {
		case c.Value == nil:
			require.True(t, ok, "delete of a key that is not there")
			*m = slices.Delete(*m, at, at+1)
		case ok:
			require.False(t, bytes.Equal((*m)[at].Value, c.Value), "no change")
			(*m)[at].Value = c.Value
		default:
			*m = slices.Insert(*m, at, c)
		}
	}
}

// cursor walks a memory. After SeekLT, Next is not allowed.
type cursor struct {
	m    memory
	at   int
	back bool
	err  error
}

func (c *cursor) SeekGE(key []byte) { c.at, _ = c.m.find(key); c.back = false }
func (c *cursor) SeekLT(key []byte) { c.at, _ = c.m.find(key); c.at--; c.back = true }
func (c *cursor) Valid() bool       { return c.err == nil && c.at >= 0 && c.at < len(c.m) }
func (c *cursor) Key() []byte       { return c.m[c.at].Key }
func (c *cursor) Value() []byte     { return c.m[c.at].Value }
func (c *cursor) Err() error        { return c.err }

func (c *cursor) Next() {
	if c.back {
		panic("Next after SeekLT")
	}
	c.at++
}

// model is the postings of a term as they should be, by ascending id.
type model []Posting

func (m *model) apply(changes []Posting) {
	old := *m
	var merged model
	for _, p := range changes {
		n, ok := slices.BinarySearchFunc(old, p.ID, byID)
		merged = append(merged, old[:n]...)
		if old = old[n:]; ok {
			old = old[1:]
		}
		if !p.Gone {
			merged = append(merged, p)
		}
	}
	*m = append(merged, old...)
}

// store returns the chunks that a Builder makes of the postings of terms.
func store(t testing.TB, kind Kind, terms map[string][]Posting) memory {
	var m memory
	b := NewBuilder(kind, func(key, value []byte) error {
		m = append(m, Change{key, value})
		return nil
	})
	for _, term := range slices.Sorted(maps.Keys(terms)) {
		for _, p := range terms[term] {
			require.NoError(t, b.Add([]byte(term), p))
		}
	}
	require.NoError(t, b.Close())
	require.True(t, slices.IsSortedFunc(m, func(a, b Change) int { return bytes.Compare(a.Key, b.Key) }))
	return m
}

// requireChunks checks everything there is to check of the chunks of one term.
func requireChunks(t testing.TB, kind Kind, m memory, prefix string, want []Posting) {
	var got []Posting
	seed := seedOf([]byte(prefix))
	first := true
	var whole head
	for _, c := range m {
		if !bytes.HasPrefix(c.Key, []byte(prefix)) {
			continue
		}
		var h *head
		if first {
			require.Equal(t, prefix, string(c.Key))
			h, first = &whole, false
		}
		before := len(got)
		var err error
		got, err = appendPostings(got, kind, seed, c.Key, c.Value, h)
		require.NoError(t, err)
		requireBounds(t, kind, seed, c, h, got[before:])
		if h == nil {
			require.Equal(t, chunkKey(nil, []byte(prefix), got[before].ID), c.Key)
		}
		require.LessOrEqual(t, len(got)-before, maxChunk)
		require.LessOrEqual(t, len(c.Value), 2200)
		if len(got)-before > maxBlock {
			require.LessOrEqual(t, len(c.Value), maxChunkBytes+80)
		}
	}
	require.Equal(t, len(want), int(whole.df))
	if len(want) > 0 {
		require.True(t, slices.Equal(want, got))
		requireWithin(t, kind, &whole.bound, want)
	}
}

func requireBounds(t testing.TB, kind Kind, seed uint32, stored Change, h *head, postings []Posting) {
	var c chunk
	require.NoError(t, c.open(kind, seed, stored.Key, stored.Value, h))
	require.Equal(t, postings[len(postings)-1].ID, c.last)
	for i := range c.blocks {
		var b block
		var limit bound
		require.True(t, b.open(&c, i))
		require.True(t, b.parseBound(&c, &limit))
		requireWithin(t, kind, &limit, postings[:b.n])
		postings = postings[b.n:]
	}
}

func requireWithin(t testing.TB, kind Kind, b *bound, postings []Posting) {
	for _, p := range postings {
		if !within(kind, b, p) {
			require.Fail(t, "out of bounds", "%v: pairs %v, weights %v", p, b.pairs[:b.n], []float32{b.least, b.most})
		}
	}
}

func within(kind Kind, b *bound, p Posting) bool {
	if kind == Weights {
		return b.weighted && b.least <= p.Weight && p.Weight <= b.most
	}
	return slices.ContainsFunc(b.pairs[:b.n], func(q pair) bool {
		return q.tf >= p.TF && q.length <= p.Length
	})
}
