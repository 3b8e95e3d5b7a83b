package posting

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Many terms that few documents have each, far from each other, cost what they have.
// This would hardly end if it took the square of their number.
func TestManyTerms(t *testing.T) {
	const terms, gap = 20_000, 1 << 40
	lists := map[string][]Posting{}
	for i := range terms {
		p := Posting{ID: uint64(i) * gap, TF: 1 + uint32(i%7), Length: 10}
		lists[string(prefixOf(i))] = []Posting{p, {ID: p.ID + gap, TF: 1, Length: 10}}
	}
	m := store(t, Text, lists)
	query := func() *Query {
		var list []Term
		for i := range terms {
			l, err := NewList(Text, &cursor{m: m}, prefixOf(i), nil)
			require.NoError(t, err)
			list = append(list, Term{l, 1, 1})
		}
		return Match(Scorer{K1: 1, AverageLength: 10}, list)
	}
	share := func(tf int) float64 { return 2 * float64(tf) / float64(tf+1) }
	got, err := query().Top(context.Background(), 3, nil)
	require.NoError(t, err)
	require.Len(t, got, 3)
	for i, h := range got {
		require.EqualValues(t, 7*i+6, h.ID/gap, "the first of the best")
		require.InDelta(t, share(7)+share(1), h.Score, 1e-5)
	}
	n := 0
	require.NoError(t, query().Each(context.Background(), func(h Hit) error {
		require.EqualValues(t, n*gap, h.ID)
		n++
		return nil
	}))
	require.Equal(t, terms+1, n)
}
