package fenec_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// sessions fills a database with n rows that expire after ten minutes, and one
// that does not.
func sessions(t *testing.T, db *fenec.DB, n int) {
	ctx := context.Background()
	_, err := db.Exec(ctx, `create collection ses (seen timestamp @ttl(10m))`)
	require.NoError(t, err)
	docs := make([]any, n)
	for i := range docs {
		docs[i] = map[string]any{"seen": time.Now()}
	}
	_, err = db.Exec(ctx, `put ses $1`, docs)
	require.NoError(t, err)
	_, err = db.Exec(ctx, `put ses {seen: null}`)
	require.NoError(t, err)
}

func stored(t *testing.T, db *fenec.DB) int64 {
	st, err := db.Stats()
	require.NoError(t, err)
	return st.Collections[0].Rows
}

// TestSweeper lets time pass.
func TestSweeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := fenec.OpenMemory(fenec.Options{})
		require.NoError(t, err)
		sessions(t, db, 2500)
		time.Sleep(9*time.Minute + 59*time.Second)
		synctest.Wait()
		require.EqualValues(t, 2501, stored(t, db))
		seq := db.Seq()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 1, stored(t, db))
		require.Equal(t, seq+2500, db.Seq(), "each deletion counts")
		_, err = db.Exec(context.Background(), `put ses {seen: now()}`)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.EqualValues(t, 1, stored(t, db), "it goes on")
		require.NoError(t, db.Close())
	})
}

// TestSweeperLater begins to sweep when a collection gets a ttl, with the interval
// that the options give, and tries again what was refused.
func TestSweeperLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		db, err := fenec.OpenMemory(fenec.Options{SweepInterval: 5 * time.Second})
		require.NoError(t, err)
		for _, text := range []string{
			`create collection c (seen timestamp @sorted)`, `put c {seen: 0}`,
		} {
			_, err := db.Exec(ctx, text)
			require.NoError(t, err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		require.EqualValues(t, 1, stored(t, db))
		asked := 0
		db.SetLimit(func(b fenec.Block) error {
			if b.Written > 0 {
				asked++
				return fenec.Over("not now")
			}
			return nil
		})
		_, err = db.Exec(ctx, `alter collection c alter seen @ttl(1s)`)
		require.NoError(t, err)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 1, stored(t, db))
		require.Equal(t, 2, asked)
		db.SetLimit(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 0, stored(t, db))
		require.NoError(t, db.Close())
	})
}

// TestSweeperOff never sweeps by itself.
func TestSweeperOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := fenec.OpenMemory(fenec.Options{SweepInterval: -1})
		require.NoError(t, err)
		sessions(t, db, 3)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		require.EqualValues(t, 4, stored(t, db))
		n, err := db.Sweep(context.Background())
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.EqualValues(t, 1, stored(t, db))
		require.NoError(t, db.Close())
	})
}

// TestSweep deletes in blocks, as ordinary writes.
func TestSweep(t *testing.T) {
	ctx := context.Background()
	now := time.Now()
	path := t.TempDir() + "/db"
	opts := fenec.Options{SweepInterval: -1, NoCheckpoint: true, Clock: func() time.Time { return now }}
	db, err := fenec.Open(path, opts)
	require.NoError(t, err)
	sessions(t, db, 2500)
	n, err := db.Sweep(ctx)
	require.NoError(t, err)
	require.Zero(t, n)
	now = now.Add(11 * time.Minute)
	var blocks []int
	db.SetLimit(func(b fenec.Block) error {
		require.True(t, b.Shrinks)
		blocks = append(blocks, b.Written)
		if len(blocks) == 3 {
			return errors.New("enough")
		}
		return nil
	})
	n, err = db.Sweep(ctx)
	require.ErrorContains(t, err, "enough")
	require.Equal(t, 2000, n)
	require.Equal(t, []int{1000, 1000, 500}, blocks)
	require.EqualValues(t, 501, stored(t, db))
	require.NoError(t, db.Close())
	_, err = db.Sweep(ctx)
	require.ErrorIs(t, err, fenec.ErrClosed)

	db, err = fenec.Open(path, opts)
	require.NoError(t, err)
	require.EqualValues(t, 501, stored(t, db), "what the log says")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = db.Sweep(ended)
	require.ErrorIs(t, err, context.Canceled)
	n, err = db.Sweep(ctx)
	require.NoError(t, err)
	require.Equal(t, 500, n)
	require.NoError(t, db.Close())
	require.NoError(t, fenec.Check(path))
}

// TestSweeperAfterOpen sweeps what was stored before.
func TestSweeperAfterOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := t.TempDir() + "/db"
		db, err := fenec.Open(path, fenec.Options{Sync: fenec.SyncOff})
		require.NoError(t, err)
		sessions(t, db, 3)
		require.NoError(t, db.Close())
		time.Sleep(time.Hour)
		db, err = fenec.Open(path, fenec.Options{Sync: fenec.SyncOff})
		require.NoError(t, err)
		require.EqualValues(t, 4, stored(t, db))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.EqualValues(t, 1, stored(t, db))
		require.NoError(t, db.Close())
	})
}
