package quota_test

import (
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
)

func TestRows(t *testing.T) {
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{Rows: 3}, nil)
	_, err := db.Batch(t.Context(), []fenec.Statement{{Text: "put c {} {}"}, {Text: "put c {} {}"}})
	require.Equal(t, rowsRefused, refusal(t, err))
	require.EqualValues(t, 1, db.Seq())
	for range 3 {
		require.Nil(t, run(t, db, q, "put c {}"))
	}
	require.Equal(t, rowsRefused, run(t, db, q, "put c {}"))
	require.Nil(t, run(t, db, q, `set c {s: "longer"}`))
	require.Nil(t, run(t, db, q, `put c {id: 1, s: "another"}`))
	require.Nil(t, run(t, db, q, "del c where id = 1"))
	require.Nil(t, run(t, db, q, "put c {}"))
	require.Equal(t, rowsRefused, run(t, db, q, "put c {}"))
	_, err = db.Batch(t.Context(), []fenec.Statement{{Text: "put c {}"}, {Text: "del c where id = 2"}})
	require.NoError(t, err, "together they need no room")

	require.Nil(t, run(t, db, q, "create collection _own (s text)"))
	require.Nil(t, run(t, db, q, "put _own {} {} {}"), "the server's own rows are not counted")
	require.Nil(t, run(t, db, q, "drop collection c"))
	require.Nil(t, run(t, db, q, "create collection d (s text)"))
	require.Nil(t, run(t, db, q, "put d {} {} {}"))
	require.Equal(t, rowsRefused, run(t, db, q, "put d {}"))
	q.Remove()
	require.Nil(t, run(t, db, q, "put d {}"))
}

// A ceiling below what is there refuses what needs room, and nothing else.
func TestRowsBelowWhatIsThere(t *testing.T) {
	db := openDB(t, fenec.Options{})
	exec(t, db, "put c {} {} {} {} {} {}")
	q := quota.New(db, quota.Limits{Rows: 3}, nil)
	require.Nil(t, run(t, db, q, `set c {s: "longer"}`))
	_, err := db.Batch(t.Context(), []fenec.Statement{{Text: "del c where id < 3"}, {Text: "put c {}"}})
	require.NoError(t, err)
	require.Equal(t, rowsRefused, run(t, db, q, "put c {}"))

	q.Set(quota.Limits{Bytes: 1})
	require.Nil(t, run(t, db, q, `set c {s: "reg"}`))
	require.Equal(t, quota.KeyBytes, run(t, db, q, `set c {s: "longer"}`).Key)
}

func TestBytes(t *testing.T) {
	db := openDB(t, fenec.Options{})
	put := func(q *quota.Quota) *quota.Refusal { return run(t, db, q, `put c {s: "0123456789"}`) }
	require.Nil(t, put(nil))
	require.Nil(t, put(nil))
	one := stats(t, db).LiveBytes / 2
	q := quota.New(db, quota.Limits{Bytes: 3*one - 1}, nil)
	refused := &quota.Refusal{Key: quota.KeyBytes, Limit: 3*one - 1}
	require.Equal(t, refused, put(q))
	q.Set(quota.Limits{Bytes: 3 * one})
	require.Nil(t, put(q))
	refused.Limit++
	require.Equal(t, refused, put(q))
	before := db.Seq()
	require.Equal(t, refused, run(t, db, q, `set c {s: s + "!"}`))
	require.Equal(t, before, db.Seq())
	require.Nil(t, run(t, db, q, `set c {s: "9876543210"}`))
	require.Nil(t, run(t, db, q, "compact"))
	require.Equal(t, refused, put(q))
	require.Nil(t, run(t, db, q, "del c where id = 1"))
	require.Nil(t, put(q), "a delete gives its bytes back at once")
	require.Equal(t, refused, put(q))
	require.Equal(t, 3*one, stats(t, db).LiveBytes)
	require.Nil(t, run(t, db, q, "create collection _own (s text)"))
	require.Equal(t, refused, run(t, db, q, "put _own {}"), "the server's own rows count towards bytes")
	require.Nil(t, run(t, db, q, "drop collection c"))
	require.Zero(t, stats(t, db).LiveBytes)
}

// A block of several parts is refused at the part that would pass the ceiling.
func TestBytesOfALongBlock(t *testing.T) {
	db := openDB(t, fenec.Options{NoCheckpoint: true, FrontBytes: 1 << 30})
	q := quota.New(db, quota.Limits{Bytes: 20 << 20}, nil)
	require.Nil(t, run(t, db, q, "put c $1", longRows(19)))
	require.Equal(t, quota.KeyBytes, run(t, db, q, "put c $1", longRows(40)).Key)
	require.Nil(t, run(t, db, q, `put c {s: "small"}`))
	require.Nil(t, run(t, db, q, "del c"))
	require.Equal(t, quota.KeyBytes, run(t, db, q, "put c $1", longRows(40)).Key)
	require.Nil(t, run(t, db, q, "put c $1", longRows(19)), "parts of a refused block are given back")
	require.Equal(t, quota.KeyBytes, run(t, db, q, "put c $1", longRows(1)).Key)
	require.EqualValues(t, 19, rows(stats(t, db), "c"))
}

func TestWarningAfterARefusedLongBlock(t *testing.T) {
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{Bytes: 18 << 20}, nil)
	require.Equal(t, quota.KeyBytes, run(t, db, q, "put c $1", longRows(40)).Key)
	require.Empty(t, q.Warning(), "nothing of it is held")
	require.Nil(t, run(t, db, q, "put c $1", longRows(15)))
	require.Equal(t, quota.KeyBytes, q.Warning())
}

// Limits that change while a long block is under way count it as a whole.
func TestLimitsChangeWithinALongBlock(t *testing.T) {
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{Rows: 100}, nil)
	_, err := db.Update(t.Context(), func(tx *fenec.Tx) error {
		for i := range 3 {
			if _, err := tx.Exec(t.Context(), "put c $1", longRows(17)); err != nil {
				return err
			}
			if i == 0 {
				q.Remove()
				q.Set(quota.Limits{Rows: 51})
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, quota.KeyRows, run(t, db, q, "put c {}").Key)
	require.Nil(t, run(t, db, q, "del c where id = 1"))
	require.Nil(t, run(t, db, q, "put c {}"))
}

// Documents that expire make room by themselves, also beyond a ceiling.
func TestExpiryUnderAFullCeiling(t *testing.T) {
	clk := newClock()
	db := openDB(t, fenec.Options{Clock: clk.now, SweepInterval: -1})
	exec(t, db, "create collection e (at timestamp @ttl(1m))")
	exec(t, db, "put e {at: $1} {at: $1} {at: $1} {at: $1}", clk.now())
	q := quota.New(db, quota.Limits{Rows: 3, RowsPerSecond: 1}, clk.now)
	require.Equal(t, rowsRefused, run(t, db, q, "put e {}"))
	clk.pass(2 * time.Minute)
	n, err := db.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, 4, n)
	require.Nil(t, run(t, db, q, "put e {} {} {}"))
}

func TestRecount(t *testing.T) {
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{Rows: 3}, nil)
	require.Nil(t, run(t, db, q, "put c {} {} {}"))
	db.SetLimit(nil) // as of a database that follows another
	exec(t, db, "del c")
	q.Remove()
	q.Set(quota.Limits{Rows: 3})
	require.Nil(t, run(t, db, q, "put c {} {} {}"))
	q.Recount()
	require.Equal(t, rowsRefused, run(t, db, q, "put c {}"))
	require.Nil(t, run(t, db, q, "del c where id > 4"))
}

const writers = 64

// race has writers put rows at once, each until it was refused more than once,
// and deletes among them.
func race(t *testing.T, db *fenec.DB, limits quota.Limits, check func(fenec.Stats)) {
	t.Helper()
	q := quota.New(db, limits, nil)
	t.Cleanup(q.Remove)
	var wg sync.WaitGroup
	var refused, failed atomic.Int64
	for w := range writers {
		wg.Go(func() {
			for i := range 12 {
				var err error
				switch text := strings.Repeat("x", (w*7+i*3)%19); {
				case i%4 == 3:
					_, err = db.Exec(t.Context(), "del c where w = $1 limit 1", w)
				case i%5 == 4:
					_, err = db.Exec(t.Context(), "set c {s: $1} where w = $2", text, w)
				default:
					_, err = db.Exec(t.Context(), "put c {w: $1, s: $2}", w, text)
				}
				var r *quota.Refusal
				switch {
				case errors.As(err, &r):
					refused.Add(1)
				case err != nil:
					failed.Add(1)
				}
				if st, err := db.Stats(); err != nil || over(st, limits) {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, failed.Load())
	require.Positive(t, refused.Load())
	for refusal(t, put(t, db)) == nil { // up to the edge
	}
	check(stats(t, db))
}

func put(t *testing.T, db *fenec.DB) error {
	_, err := db.Exec(t.Context(), "put c {}")
	return err
}

func over(st fenec.Stats, l quota.Limits) bool {
	return l.Bytes > 0 && st.LiveBytes > l.Bytes || l.Rows > 0 && rows(st, "c") > l.Rows
}

func TestWritersRace(t *testing.T) {
	open := func(t *testing.T) *fenec.DB {
		db := openDB(t, fenec.Options{})
		exec(t, db, "alter collection c add w int")
		exec(t, db, "create index on c (w) @hash")
		return db
	}
	t.Run("rows", func(t *testing.T) {
		race(t, open(t), quota.Limits{Rows: 100}, func(st fenec.Stats) {
			require.EqualValues(t, 100, rows(st, "c"))
		})
	})
	t.Run("bytes", func(t *testing.T) {
		db := open(t)
		exec(t, db, "put c {}")
		one := stats(t, db).LiveBytes
		race(t, db, quota.Limits{Bytes: 2000}, func(st fenec.Stats) {
			require.LessOrEqual(t, st.LiveBytes, int64(2000))
			require.Greater(t, st.LiveBytes+one, int64(2000), "there was room left")
		})
	})
}

// Exactly as many single writes pass as there is room for.
func TestWritersRaceForTheLastRows(t *testing.T) {
	db := openDB(t, fenec.Options{})
	quota.New(db, quota.Limits{Rows: 10}, nil)
	var wg sync.WaitGroup
	var passed atomic.Int64
	for range writers {
		wg.Go(func() {
			if put(t, db) == nil {
				passed.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 10, passed.Load())
}

// Limits that are replaced while writers run hold from then on, to the row.
func TestLimitsChangeWhileWritersRun(t *testing.T) {
	db := openDB(t, fenec.Options{})
	q := quota.New(db, quota.Limits{Rows: 300}, nil)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range 20 {
				if w == writers/2 && i == 10 {
					q.Set(quota.Limits{Rows: 350, RowsPerSecond: 1 << 40})
				}
				_ = q.MayWrite()
				_ = put(t, db)
				_ = q.Warning()
			}
		})
	}
	wg.Wait()
	for put(t, db) == nil { // up to the edge
	}
	require.EqualValues(t, 350, rows(stats(t, db), "c"))
}

// What a refused block wrote ahead is cut off the log again.
func TestARefusedBlockLeavesNothing(t *testing.T) {
	db := openDB(t, fenec.Options{NoCheckpoint: true})
	exec(t, db, `put c {s: "there"}`)
	size := func() int64 {
		info, err := os.Stat(db.Path() + "-log")
		require.NoError(t, err)
		return info.Size()
	}
	before := size()
	q := quota.New(db, quota.Limits{Bytes: 20 << 20}, nil)
	require.Equal(t, quota.KeyBytes, run(t, db, q, "put c $1", longRows(40)).Key)
	require.LessOrEqual(t, size(), before)
	require.EqualValues(t, 2, db.Seq())
}
