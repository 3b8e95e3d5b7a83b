package fenec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// Over the ceiling nothing grows, and all else goes on.
func TestMaxMemory(t *testing.T) {
	path := t.TempDir() + "/test.fenec"
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, "create collection c (n int)", "put c [{n: 1}, {n: 2}, {n: 3}]")
	require.NoError(t, db.Close())
	db, err = fenec.Open(path, fenec.Options{MaxMemory: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	seq := db.Seq()
	for _, text := range []string{"put c {n: 4}", "insert c {n: 4}", "set c {n: 4}", "create index on c (n) @hash"} {
		_, err := db.Query(t.Context(), text)
		require.ErrorIs(t, err, fenec.ErrMemory, text)
		require.False(t, errors.As(err, new(*fenec.BatchError)), text)
	}
	_, err = db.Batch(t.Context(), []fenec.Statement{{Text: "get c"}, {Text: "del c where id = 1"}, {Text: "put c {n: 4}"}})
	require.ErrorIs(t, err, fenec.ErrMemory)
	var be *fenec.BatchError
	require.ErrorAs(t, err, &be)
	require.Equal(t, 2, be.At)
	_, err = db.Update(t.Context(), func(tx *fenec.Tx) error {
		_, err := tx.Exec(t.Context(), "del c where id = 1")
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "put c {n: 4}")
		return err
	})
	require.ErrorIs(t, err, fenec.ErrMemory)
	n, err := db.Load(t.Context(), "put c {n: $1}", func(yield func([]any, error) bool) { yield([]any{1}, nil) })
	require.ErrorIs(t, err, fenec.ErrMemory)
	require.Zero(t, n)
	require.Equal(t, seq, db.Seq(), "nothing is kept")
	runAll(t, db, "get c", "del c where id = 1", "alter collection c add m int", "create collection d (n int)", "drop collection d", "compact")
	require.Equal(t, `[{"id":2,"n":2,"m":null},{"id":3,"n":3,"m":null}]`, body(t, db, "get c"))
}

// What can be folded is folded before a write is refused, and what lies in memory
// for good counts.
func TestMaxMemoryMakesRoom(t *testing.T) {
	const most = 1 << 20
	text := strings.Repeat("x", 2000)
	fill := func(db *fenec.DB) (n int, err error) {
		for n = range 4000 {
			if _, err = db.Exec(t.Context(), "put c {s: $1}", fmt.Sprint(text, n)); err != nil {
				return n, err
			}
			require.Less(t, stats(t, db).MemoryBytes, int64(most+most/2))
		}
		return n, nil
	}
	db := file(t, fenec.Options{MaxMemory: most}, "create collection c (s text)")
	_, err := fill(db)
	require.NoError(t, err)
	require.NoError(t, db.View(t.Context(), func(*fenec.Snapshot) error {
		n, err := fill(db)
		require.ErrorIs(t, err, fenec.ErrMemory, "a view is in the way")
		require.Greater(t, n, 150)
		return nil
	}))
	_, err = fill(db)
	require.NoError(t, err, "it is not any more")

	db, err = fenec.OpenMemory(fenec.Options{MaxMemory: most})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	runAll(t, db, "create collection c (s text)")
	n, err := fill(db)
	require.ErrorIs(t, err, fenec.ErrMemory, "there is no file")
	require.Greater(t, n, 100)
	runAll(t, db, "del c")
	_, err = db.Exec(t.Context(), "put c {s: $1}", text)
	require.NoError(t, err)
}

func TestWarm(t *testing.T) {
	db := file(t, fenec.Options{}, "create collection plain (n int)",
		"create collection a (v vector<2> @hnsw(l2))", "create collection b (v vector<2> @hnsw(l2))")
	for _, c := range []string{"a", "b"} {
		_, err := db.Load(t.Context(), fmt.Sprintf("put %s {v: $1}", c), func(yield func([]any, error) bool) {
			for i := range 2000 {
				if !yield([]any{[]float32{float32(i), 1}}, nil) {
					return
				}
			}
		})
		require.NoError(t, err)
	}
	require.EqualValues(t, 4000, stats(t, db).UnlinkedVectors)
	require.NoError(t, db.Checkpoint(t.Context()))
	require.EqualValues(t, 4000, stats(t, db).UnlinkedVectors, "nobody has asked for a graph")
	require.NoError(t, db.Warm(t.Context(), "plain"))
	held := stats(t, db).MemoryBytes
	require.NoError(t, db.Warm(t.Context(), "a"))
	require.Eventually(t, func() bool { return stats(t, db).UnlinkedVectors == 2000 }, 20*time.Second, time.Millisecond)
	require.Greater(t, stats(t, db).MemoryBytes, held+2000*8)
	require.NoError(t, db.Warm(t.Context()))
	require.Eventually(t, func() bool { return stats(t, db).UnlinkedVectors == 0 }, 20*time.Second, time.Millisecond)
	runAll(t, db, "set a {v: [1, 2]} where id < 4", "del b where id = 1", "put a {v: null}", "set plain {n: 1}")
	require.EqualValues(t, 4, stats(t, db).UnlinkedVectors)
	require.NoError(t, db.Checkpoint(t.Context()))
	require.Eventually(t, func() bool { return stats(t, db).UnlinkedVectors == 0 }, 20*time.Second, time.Millisecond)

	require.ErrorIs(t, db.Warm(t.Context(), "a", "none"), fenec.ErrNotFound)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, db.Warm(ctx), context.Canceled)
}
