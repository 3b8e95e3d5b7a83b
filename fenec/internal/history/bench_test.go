package history_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// BenchmarkAppend is what the history adds to a put: the note, and the block's
// notes becoming part of it.
func BenchmarkAppend(b *testing.B) {
	for name, limits := range map[string]history.Limits{
		"kept=growing": {Entries: 1 << 40, Bytes: 1 << 40},
		"kept=10000":   {Entries: 10_000, Bytes: muchBytes},
		"kept=none":    {},
	} {
		b.Run(name, func(b *testing.B) {
			h := history.New(limits)
			var n history.Notes
			b.ReportAllocs()
			for i := uint64(1); b.Loop(); i++ {
				n.Reset()
				n.Add(history.Put, 1, i, false)
				h.Append(i, int64(i/400), &n)
			}
		})
	}
}

// BenchmarkRead reads entries of the file.
func BenchmarkRead(b *testing.B) {
	const entries = 100_000
	h := history.New(history.Limits{Entries: 1 << 40, Bytes: muchBytes})
	s, err := store.Open("", store.Options{Owners: []store.Owner{h}})
	require.NoError(b, err)
	defer s.Close()
	blk, err := s.Begin(ctx, nil)
	require.NoError(b, err)
	var n history.Notes
	for i := range uint64(entries) {
		n.Add(history.Put, 1, i*7%entries, false)
		require.NoError(b, blk.Log(nil, 1))
	}
	_, err = blk.Commit(func(uint64) { h.Append(1, 1, &n) })
	require.NoError(b, err)
	require.NoError(b, s.Checkpoint(ctx))
	for b.Loop() {
		found := 0
		_, ok, err := h.Read(s.Base, 0, entries, func(history.Entry) bool {
			found++
			return true
		})
		if err != nil || !ok || found != entries {
			b.Fatal(found, ok, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/entries, "ns/entry")
}
