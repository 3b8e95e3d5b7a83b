package fenec_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// file opens a database in a file of its own, which is checked at the end.
func file(t testing.TB, opts fenec.Options, statements ...string) *fenec.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.fenec")
	db, err := fenec.Open(path, opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, db.Close())
		require.NoError(t, fenec.Check(path))
	})
	runAll(t, db, statements...)
	return db
}

// documents returns n documents {n: 0, s: "row 0"} and so on.
func documents(n int) []any {
	docs := make([]any, n)
	for i := range docs {
		docs[i] = map[string]any{"n": i, "s": fmt.Sprintf("row %d", i)}
	}
	return docs
}

// seen reads a snapshot in many ways and returns all it has answered.
func seen(ctx context.Context, sn *fenec.Snapshot) (string, error) {
	out := []byte(fmt.Sprintf("at %d\n", sn.Seq()))
	for _, text := range []string{
		"collections", "describe c", "get c", "get c count", "get c where n >= 10 and n < 40", "get c where n = 7",
		"get c order n desc limit 9", "get c where s ~ \"5\" count", "get c where id in [3, 4, 90]",
	} {
		res, err := sn.Query(ctx, text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", text, err)
		}
		if res.Len() > 0 && res.Seq() != sn.Seq() {
			return "", fmt.Errorf("%s: at %d, the view is at %d", text, res.Seq(), sn.Seq())
		}
		if out, err = res.AppendJSON(append(out, '\n')); err != nil {
			return "", err
		}
	}
	return string(out), nil
}

// A view sees what it saw at first, whatever is written, folded, rewritten or
// dropped meanwhile.
func TestViewAcrossCheckpoints(t *testing.T) {
	for _, inMemory := range []bool{false, true} {
		t.Run(fmt.Sprintf("memory=%t", inMemory), func(t *testing.T) {
			open := file
			if inMemory {
				open = func(t testing.TB, _ fenec.Options, statements ...string) *fenec.DB { return memory(t, statements...) }
			}
			db := open(t, fenec.Options{}, "create collection c (n int @sorted, s text)")
			ctx := t.Context()
			_, err := db.Exec(ctx, "put c $1", documents(100))
			require.NoError(t, err)
			err = db.View(ctx, func(old *fenec.Snapshot) error {
				first, err := seen(ctx, old)
				require.NoError(t, err)
				for i := range 10 {
					overwrite(t, db, i)
					require.NoError(t, db.View(ctx, func(young *fenec.Snapshot) error {
						now, err := seen(ctx, young)
						require.NoError(t, err)
						require.NoError(t, db.Checkpoint(ctx))
						again, err := seen(ctx, young)
						require.NoError(t, err)
						require.Equal(t, now, again)
						require.NotEqual(t, first, now)
						return nil
					}))
					if i%4 == 3 {
						require.NoError(t, db.Compact(ctx))
					}
					again, err := seen(ctx, old)
					require.NoError(t, err)
					require.Equal(t, first, again, "after checkpoint %d", i)
				}
				return nil
			})
			require.NoError(t, err)
			require.NoError(t, db.Checkpoint(ctx))
			require.NoError(t, db.Checkpoint(ctx))
			st, err := db.Stats()
			require.NoError(t, err)
			require.Equal(t, st.Seq, st.FoldedSeq)
		})
	}
}

// overwrite changes everything in collection c.
func overwrite(t *testing.T, db *fenec.DB, round int) {
	t.Helper()
	ctx := t.Context()
	switch round % 4 {
	case 0:
		runAll(t, db, "set c {n: n + 1, s: s + \"x\"}", "del c where n < 20")
	case 1:
		runAll(t, db, "put c {id: 3, n: 7, s: \"5\"}", "create collection d (x int)")
	case 2:
		runAll(t, db, "drop collection c", "create collection c (s text, n int @hash, extra bool)", "drop collection d")
		_, err := db.Exec(ctx, "put c $1", documents(50))
		require.NoError(t, err)
	case 3:
		runAll(t, db, "del c")
		_, err := db.Exec(ctx, "put c $1", documents(60))
		require.NoError(t, err)
	}
}

// stalled is a context that stops whoever asks it for its error for the nth
// time, until resume is closed. Scans ask about every 1024 rows.
type stalled struct {
	context.Context
	mu     sync.Mutex
	after  int
	here   chan struct{} // closed when somebody has been stopped
	resume chan struct{}
}

func stallAfter(ctx context.Context, n int) *stalled {
	return &stalled{Context: ctx, after: n, here: make(chan struct{}), resume: make(chan struct{})}
}

func (s *stalled) Err() error {
	s.mu.Lock()
	s.after--
	stop := s.after == 0
	s.mu.Unlock()
	if stop {
		close(s.here)
		<-s.resume
	}
	return s.Context.Err()
}

// answered is what a goroutine's query has come to.
type answered struct {
	res *fenec.Result
	err error
}

func ask(ctx context.Context, db *fenec.DB, text string) <-chan answered {
	out := make(chan answered, 1)
	go func() {
		res, err := db.Query(ctx, text)
		out <- answered{res, err}
	}()
	return out
}

// A reader that is stopped in the middle of a scan goes on as if nothing had
// happened.
func TestStalledReaders(t *testing.T) {
	texts := []string{
		"get c", "get c order n", "get c order n desc limit 5000", "get c where n >= 100 order id desc",
		"get c where s ~ \"7\" order s", "get c where n in [1, 2, 3] or n > 500 and s != \"\" count",
	}
	db := file(t, fenec.Options{}, "create collection c (n int @sorted, s text)")
	ctx := t.Context()
	_, err := db.Exec(ctx, "put c $1", documents(6000))
	require.NoError(t, err)
	require.NoError(t, db.Checkpoint(ctx))
	runAll(t, db, "set c {s: s + \"+\"} where n < 3000") // half in the file, half in memory
	seq := db.Seq()
	var want []string
	var readers []<-chan answered
	var stops []*stalled
	for _, text := range texts {
		want = append(want, body(t, db, text))
		stop := stallAfter(ctx, 3)
		readers, stops = append(readers, ask(stop, db, text)), append(stops, stop)
		<-stop.here
	}
	for i := range 4 {
		overwrite(t, db, i)
		require.NoError(t, db.Checkpoint(ctx))
	}
	runAll(t, db, "drop collection c")
	for i, text := range texts {
		close(stops[i].resume)
		got := <-readers[i]
		require.NoError(t, got.err, text)
		require.Equal(t, seq, got.res.Seq(), text)
		b, err := got.res.AppendJSON(nil)
		require.NoError(t, err)
		require.True(t, want[i] == string(b), "%s has seen something else", text)
	}
}

// A compaction ends while a reader stands on the old file, which goes on.
func TestCompactBesideAStalledReader(t *testing.T) {
	db := file(t, fenec.Options{}, "create collection c (n int, s text)")
	ctx := t.Context()
	_, err := db.Exec(ctx, "put c $1", documents(6000))
	require.NoError(t, err)
	require.NoError(t, db.Checkpoint(ctx))
	stop := stallAfter(ctx, 3)
	reader := ask(stop, db, "get c")
	<-stop.here
	old, err := os.Stat(db.Path())
	require.NoError(t, err)
	runAll(t, db, "compact", "put c {n: -1}", "set c {n: -2} where n < 10", "del c where n >= 10")
	now, err := os.Stat(db.Path())
	require.NoError(t, err)
	require.False(t, os.SameFile(old, now))
	require.Equal(t, `[{"count":11}]`, body(t, db, "get c count"))
	close(stop.resume)
	got := <-reader
	require.NoError(t, got.err)
	require.Equal(t, 6000, got.res.Len())
}

// A writer that stands still keeps the lock; readers do not notice.
func TestReadersPassAStalledWriter(t *testing.T) {
	db := file(t, fenec.Options{}, "create collection c (n int @sorted, s text)")
	ctx := t.Context()
	_, err := db.Exec(ctx, "put c $1", documents(3000))
	require.NoError(t, err)
	before := body(t, db, "get c")
	stop := stallAfter(ctx, 4)
	writer := ask(stop, db, "set c {n: -1, s: \"gone\"}")
	<-stop.here
	require.Equal(t, before, body(t, db, "get c"))
	require.Equal(t, `[{"count":3000}]`, body(t, db, "get c where n >= 0 count"))
	require.NoError(t, db.View(ctx, func(sn *fenec.Snapshot) error {
		_, err := seen(ctx, sn)
		return err
	}))
	require.Equal(t, []string{"c"}, db.Collections())
	require.EqualValues(t, 3000, stats(t, db).Collections[0].Rows)
	close(stop.resume)
	got := <-writer
	require.NoError(t, got.err)
	require.Equal(t, 3000, got.res.Affected())
	require.Equal(t, `[{"count":0}]`, body(t, db, "get c where n >= 0 count"))
}

// A view that stands in the way of writers ends; a single read begins anew.
func TestSnapshotTooOld(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts fenec.Options
	}{
		{"writers wait", fenec.Options{FrontBytes: 64 << 10, Sync: fenec.SyncOff}},
		{"the time is over", fenec.Options{SnapshotTimeout: time.Millisecond, Sync: fenec.SyncOff}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db := file(t, tc.opts, "create collection c (n int @sorted, s text)")
			ctx := t.Context()
			_, err := db.Exec(ctx, "put c $1", documents(3000))
			require.NoError(t, err)
			before := stallAfter(ctx, 1) // before it has read anything
			amid := stallAfter(ctx, 2)
			readers := []<-chan answered{ask(before, db, "get c where n >= 0"), ask(amid, db, "get c where n >= 0")}
			<-before.here
			<-amid.here
			err = db.View(ctx, func(sn *fenec.Snapshot) error {
				for {
					runAll(t, db, "set c {n: n + 10000}")
					require.NoError(t, db.Checkpoint(ctx))
					if _, err := seen(ctx, sn); err != nil {
						return err
					}
				}
			})
			require.ErrorIs(t, err, fenec.ErrSnapshotTooOld)
			close(before.resume)
			close(amid.resume)
			for i, reader := range readers {
				got := <-reader
				require.NoError(t, got.err)
				require.Equal(t, 3000, got.res.Len())
				round := (int64(got.res.Seq()) - 3001) / 3000
				for row := range got.res.All() {
					id, err := row.Int("id")
					require.NoError(t, err)
					n, err := row.Int("n")
					require.NoError(t, err)
					require.Equal(t, id-1+10000*round, n)
				}
				if i == 0 {
					require.Equal(t, db.Seq(), got.res.Seq(), "it has begun anew")
				}
			}
		})
	}
}

func TestSnapshotReadsOnly(t *testing.T) {
	db := memory(t, "create collection c (n int)", "put c {n: 1}")
	seq := db.Seq()
	require.NoError(t, db.View(t.Context(), func(sn *fenec.Snapshot) error {
		for _, text := range []string{
			"put c {n: 2}", "insert c {n: 2}", "set c {n: 2}", "del c", "create collection d (n int)",
			"create collection if not exists c (n int)", "drop collection c", "drop collection if exists d", "compact",
		} {
			_, err := sn.Query(t.Context(), text)
			require.ErrorIs(t, err, fenec.ErrReadOnly, text)
		}
		_, err := sn.Query(t.Context(), "get c where n = $1")
		require.ErrorIs(t, err, fenec.ErrQuery)
		_, err = sn.Query(t.Context(), "get c get c")
		require.ErrorIs(t, err, fenec.ErrQuery)
		_, err = sn.Query(t.Context(), "get c where n = $1", func() {})
		require.ErrorIs(t, err, fenec.ErrType)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = sn.Query(ctx, "get c")
		require.ErrorIs(t, err, context.Canceled)
		return nil
	}))
	require.Equal(t, seq, db.Seq())
	require.Equal(t, `[{"id":1,"n":1}]`, body(t, db, "get c"))
}

func TestViewEnds(t *testing.T) {
	db := file(t, fenec.Options{}, "create collection c (n int)", "put c {n: 1}")
	ctx := t.Context()
	want := errors.New("the caller's own")
	var kept *fenec.Snapshot
	require.Equal(t, want, db.View(ctx, func(sn *fenec.Snapshot) error {
		kept = sn
		return want
	}))
	_, err := kept.Query(ctx, "get c")
	require.ErrorContains(t, err, "after its View has ended")
	require.Panics(t, func() {
		_ = db.View(ctx, func(*fenec.Snapshot) error { panic("the caller's own") })
	})
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, db.View(cancelled, func(*fenec.Snapshot) error { return nil }), context.Canceled)

	// None of them holds anything up.
	runAll(t, db, "put c {n: 2}")
	require.NoError(t, db.Checkpoint(ctx))
	st, err := db.Stats()
	require.NoError(t, err)
	require.Equal(t, st.Seq, st.FoldedSeq)
}

// Closing ends the views that are open.
func TestCloseEndsViews(t *testing.T) {
	for _, noCheckpoint := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "db")
		db, err := fenec.Open(path, fenec.Options{NoCheckpoint: noCheckpoint})
		require.NoError(t, err)
		runAll(t, db, "create collection c (n int)", "put c {n: 1}")
		require.NoError(t, db.View(t.Context(), func(sn *fenec.Snapshot) error {
			runAll(t, db, "put c {n: 2}")
			require.NoError(t, db.Checkpoint(t.Context())) // the view holds up a part of it
			runAll(t, db, "put c {n: 3}")
			require.NoError(t, db.Close())
			_, err := sn.Query(t.Context(), "get c")
			require.ErrorIs(t, err, fenec.ErrClosed)
			return nil
		}))
		require.NoError(t, fenec.Check(path))
		db, err = fenec.Open(path, fenec.Options{})
		require.NoError(t, err)
		require.Equal(t, `[{"count":3}]`, body(t, db, "get c count"))
		require.EqualValues(t, 4, db.Seq(), "it was closed cleanly")
		require.NoError(t, db.Close())
	}
}

// A snapshot may be read by many at once.
func TestSnapshotAcrossGoroutines(t *testing.T) {
	db := file(t, fenec.Options{}, "create collection c (n int @sorted, s text)")
	ctx := t.Context()
	_, err := db.Exec(ctx, "put c $1", documents(500))
	require.NoError(t, err)
	require.NoError(t, db.View(ctx, func(sn *fenec.Snapshot) error {
		first, err := seen(ctx, sn)
		require.NoError(t, err)
		errs := make(chan error, 4)
		for range cap(errs) {
			go func() {
				again, err := seen(ctx, sn)
				if err == nil && again != first {
					err = errors.New("another answer of the same snapshot")
				}
				errs <- err
			}()
		}
		overwrite(t, db, 0)
		require.NoError(t, db.Checkpoint(ctx))
		for range cap(errs) {
			require.NoError(t, <-errs)
		}
		return nil
	}))
}
