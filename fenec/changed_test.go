package fenec_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

func changed(t *testing.T, db *fenec.DB, since uint64, collections ...string) bool {
	t.Helper()
	got, err := db.Changed(t.Context(), since, collections...)
	require.NoError(t, err)
	return got
}

func TestChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.fenec")
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, "create collection a (n int)", "create collection b (n int)", "create collection _own (n int)",
		"put a {n: 1}", "put b {n: 1}", "put _own {n: 1}")
	check := func() {
		t.Helper()
		require.True(t, changed(t, db, 3, "a"))
		require.False(t, changed(t, db, 4, "a"))
		require.True(t, changed(t, db, 4, "a", "b"))
		require.False(t, changed(t, db, 5, "a", "b"))
		require.True(t, changed(t, db, 5, "a", "_own"))
		require.True(t, changed(t, db, 4))
		require.False(t, changed(t, db, 5), "the server's own do not count unless they are named")
		require.False(t, changed(t, db, 5), "nor when it is known already")
		for _, name := range []string{"a", "b", "_own"} {
			require.False(t, changed(t, db, db.Seq(), name))
			require.True(t, changed(t, db, 0, name))
		}
	}
	check()
	require.NoError(t, db.Close())
	db, err = fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	check()
	runAll(t, db, "alter collection a add m int")
	require.True(t, changed(t, db, 6, "a"))
	require.False(t, changed(t, db, 6, "b"))
	require.False(t, changed(t, db, 5, "b"))
	require.True(t, changed(t, db, 4, "b"))

	_, err = db.Changed(t.Context(), 8, "a")
	require.ErrorIs(t, err, fenec.ErrHistoryGone)
	_, err = db.Changed(t.Context(), 6, "a", "none")
	require.ErrorIs(t, err, fenec.ErrNotFound)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = db.Changed(over, 6, "a")
	require.ErrorIs(t, err, context.Canceled)

	runAll(t, db, "drop collection b")
	_, err = db.Changed(t.Context(), 7, "b")
	require.ErrorIs(t, err, fenec.ErrNotFound)
	runAll(t, db, "create collection b (n int)")
	require.True(t, changed(t, db, 8, "b"), "another one of that name")
	require.False(t, changed(t, db, 9, "b"))
	require.NoError(t, db.Close())
	_, err = db.Changed(t.Context(), 9, "b")
	require.ErrorIs(t, err, fenec.ErrClosed)
}

// What the history lost, the memory of what was written since the opening may
// still tell.
func TestChangedBeyondTheHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.fenec")
	opts := fenec.Options{HistoryEntries: -1}
	db, err := fenec.Open(path, opts)
	require.NoError(t, err)
	runAll(t, db, "create collection a (n int)", "create collection b (n int)", "put a {n: 1}", "put b {n: 1}")
	require.True(t, changed(t, db, 2, "a"))
	require.False(t, changed(t, db, 3, "a"))
	require.NoError(t, db.Close())
	db, err = fenec.Open(path, opts)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	_, err = db.Changed(t.Context(), 3, "a")
	require.ErrorIs(t, err, fenec.ErrHistoryGone)
	runAll(t, db, "put a {n: 2}")
	require.True(t, changed(t, db, 3, "a"))
	require.False(t, changed(t, db, 5, "a"))
	require.False(t, changed(t, db, 4, "b"))
}

// Changed says what the list of changes says.
func TestChangedAgainstChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	path := filepath.Join(t.TempDir(), "test.fenec")
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	names := []string{"c0", "c1", "c2", "c3"}
	for _, name := range names {
		runAll(t, db, fmt.Sprintf("create collection %s (n int)", name))
	}
	for range 150 {
		switch name := names[r.IntN(len(names))]; r.IntN(8) {
		case 0:
			runAll(t, db, "drop collection "+name, fmt.Sprintf("create collection %s (n int)", name))
		case 1:
			require.NoError(t, db.Close())
			db, err = fenec.Open(path, fenec.Options{})
			require.NoError(t, err)
		default:
			runAll(t, db, "put "+name+" {n: 1}")
		}
		since := db.Seq() - r.Uint64N(min(db.Seq(), 12)+1)
		asked := names[:1+r.IntN(len(names))]
		list, _, err := db.Changes(t.Context(), since, math.MaxInt)
		require.NoError(t, err)
		want := slices.ContainsFunc(list, func(c fenec.Change) bool { return slices.Contains(asked, c.Collection) })
		require.Equal(t, want, changed(t, db, since, asked...), "%v since %d: %v", asked, since, list)
		require.Equal(t, len(list) > 0, changed(t, db, since))
	}
	require.NoError(t, db.Close())
}

// within runs fn in a bubble with a database, and returns what it ends with once
// write has been run meanwhile.
func meanwhile(t *testing.T, wait func(db *fenec.DB, ctx context.Context) error, writes ...string) (err error, waited bool) {
	synctest.Test(t, func(t *testing.T) {
		db, openErr := fenec.OpenMemory(fenec.Options{})
		require.NoError(t, openErr)
		defer func() { require.NoError(t, db.Close()) }()
		for _, text := range []string{"create collection a (n int)", "create collection b (n int)", "create collection _own (n int)"} {
			_, err := db.Query(context.Background(), text)
			require.NoError(t, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- wait(db, ctx) }()
		synctest.Wait()
		for _, text := range writes {
			waited = len(done) == 0
			_, err := db.Query(context.Background(), text)
			require.NoError(t, err)
			synctest.Wait()
		}
		err = <-done
	})
	return err, waited
}

func TestWaitSeq(t *testing.T) {
	until := func(seq uint64) func(*fenec.DB, context.Context) error {
		return func(db *fenec.DB, ctx context.Context) error { return db.WaitSeq(ctx, seq) }
	}
	err, waited := meanwhile(t, until(3), "put a {n: 1}")
	require.NoError(t, err)
	require.False(t, waited)
	err, waited = meanwhile(t, until(5), "put a {n: 1}", "put _own {n: 1}")
	require.NoError(t, err)
	require.True(t, waited, "until the last of them")
	err, _ = meanwhile(t, until(6), "put a {n: 1}", "put b {n: 1}")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	synctest.Test(t, func(t *testing.T) {
		db, err := fenec.OpenMemory(fenec.Options{})
		require.NoError(t, err)
		done := make(chan error, 1)
		go func() { done <- db.WaitSeq(context.Background(), 1) }()
		synctest.Wait()
		require.NoError(t, db.Close())
		require.ErrorIs(t, <-done, fenec.ErrClosed)
		require.ErrorIs(t, db.WaitSeq(context.Background(), 1), fenec.ErrClosed)
	})
}

func TestWaitChange(t *testing.T) {
	past := func(since uint64, collections ...string) func(*fenec.DB, context.Context) error {
		return func(db *fenec.DB, ctx context.Context) error { return db.WaitChange(ctx, since, collections...) }
	}
	for name, x := range map[string]struct {
		wait   func(*fenec.DB, context.Context) error
		writes []string
		want   error
		waited bool // when the last of the writes began
	}{
		"at once":                    {wait: past(1, "b"), writes: []string{"put a {n: 1}"}},
		"the one":                    {past(3, "a"), []string{"put b {n: 1}", "put a {n: 1}"}, nil, true},
		"one of them":                {past(3, "_own", "a", "b"), []string{"put b {n: 1}"}, nil, true},
		"any":                        {past(3), []string{"put _own {n: 1}", "put b {n: 1}"}, nil, true},
		"its definition":             {past(3, "a"), []string{"alter collection a add m int"}, nil, true},
		"another one":                {past(3, "a"), []string{"put b {n: 1}"}, context.DeadlineExceeded, true},
		"another one than these":     {past(3, "a", "b"), []string{"put _own {n: 1}"}, context.DeadlineExceeded, true},
		"the server's own only":      {past(3), []string{"put _own {n: 1}"}, context.DeadlineExceeded, true},
		"dropped":                    {past(3, "a"), []string{"drop collection a"}, fenec.ErrNotFound, true},
		"not there":                  {past(3, "c"), nil, fenec.ErrNotFound, false},
		"not there beside another":   {past(3, "a", "c"), nil, fenec.ErrNotFound, false},
		"a sequence that is to come": {past(4, "a"), nil, fenec.ErrHistoryGone, false},
	} {
		t.Run(name, func(t *testing.T) {
			err, waited := meanwhile(t, x.wait, x.writes...)
			require.ErrorIs(t, err, x.want)
			require.Equal(t, x.waited, waited)
		})
	}
}

// Nobody who waits sleeps through a write, however many come at once.
func TestWaitChangeUnderWrites(t *testing.T) {
	db := memory(t, "create collection a (n int)", "create collection b (n int)")
	const rounds = 300
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 4)
	for i, names := range [][]string{{"a"}, {"b"}, {"a", "b"}, nil} {
		go func() {
			since := uint64(2)
			for range rounds {
				if err := db.WaitChange(ctx, since, names...); err != nil {
					done <- fmt.Errorf("waiter %d since %d: %w", i, since, err)
					return
				}
				since++
			}
			done <- db.WaitSeq(ctx, 2*rounds)
		}()
	}
	for range rounds {
		runAll(t, db, "put a {n: 1}", "put b {n: 1}")
	}
	for range 4 {
		require.NoError(t, <-done)
	}
}

// BenchmarkChanged is the poll of somebody who knows the latest state.
func BenchmarkChanged(b *testing.B) {
	db := memory(b, "create collection a (n int)", "create collection b (n int)", "put a {n: 1}", "put b {n: 1}")
	b.ReportAllocs()
	for b.Loop() {
		got, err := db.Changed(ctx, 4, "a", "b")
		if got || err != nil {
			b.Fatal(got, err)
		}
	}
}
