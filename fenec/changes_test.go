package fenec_test

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// said returns changes as text: "3 put t 1".
func said(list []fenec.Change) []string {
	out := []string{}
	for _, c := range list {
		out = append(out, strings.TrimSuffix(fmt.Sprintf("%d %s %s %d", c.Seq, c.Op, c.Collection, c.ID), " 0"))
	}
	return out
}

// allChanges returns everything that is kept.
func allChanges(t *testing.T, db *fenec.DB) []fenec.Change {
	t.Helper()
	list, next, err := db.Changes(ctx, db.Horizon(), math.MaxInt)
	require.NoError(t, err)
	require.Equal(t, db.Seq(), next)
	return list
}

func TestChanges(t *testing.T) {
	now := time.UnixMilli(1_790_784_252_158)
	path := filepath.Join(t.TempDir(), "acme.fenec")
	opts := fenec.Options{Clock: func() time.Time { return now }}
	db, err := fenec.Open(path, opts)
	require.NoError(t, err)
	runAll(t, db,
		`create collection t (n int, s text)`,
		`put t [{n: 1}, {n: 2}, {n: 3}]`,
		`set t {n: 9} where id = 2`,
		`create collection _mine (x int)`,
		`put _mine {x: 1}`,
		`del t where id = 3`,
		`alter collection t add field m int`,
		`create index on t (n) @hash`,
		`create collection gone (x int)`,
		`put gone {x: 1}`,
		`drop collection gone`,
		`drop collection _mine`,
	)
	want := []string{
		"1 create t", "2 put t 1", "3 put t 2", "4 put t 3", "5 put t 2", "8 del t 3",
		"9 alter t", "10 alter t", "11 create gone", "12 put gone 1", "13 drop gone",
	}
	check := func() {
		t.Helper()
		list := allChanges(t, db)
		require.Equal(t, want, said(list))
		require.True(t, now.Equal(list[0].Time))

		list, next, err := db.Changes(ctx, 0, 5)
		require.NoError(t, err)
		require.Equal(t, want[:5], said(list))
		require.EqualValues(t, 5, next)
		list, next, err = db.Changes(ctx, next, 1)
		require.NoError(t, err)
		require.Equal(t, []string{"8 del t 3"}, said(list), "the server's own collections are left out")
		require.EqualValues(t, 8, next)
		list, next, err = db.Changes(ctx, 13, 100)
		require.NoError(t, err)
		require.Empty(t, list)
		require.EqualValues(t, 14, next, "the cursor goes past them")
		_, next, err = db.Changes(ctx, 3, 0)
		require.NoError(t, err)
		require.EqualValues(t, 3, next)
	}
	check()
	require.NoError(t, db.Checkpoint(ctx))
	check()
	require.NoError(t, db.Close())
	require.NoError(t, fenec.Check(path))
	db, err = fenec.Open(path, opts)
	require.NoError(t, err)
	check()

	_, _, err = db.Changes(ctx, 15, 100)
	require.ErrorIs(t, err, fenec.ErrHistoryGone)

	// An image takes the history along.
	var image bytes.Buffer
	require.NoError(t, db.Image(ctx, &image))
	require.NoError(t, db.Close())
	_, _, err = db.Changes(ctx, 0, 100)
	require.ErrorIs(t, err, fenec.ErrClosed)
	path = filepath.Join(t.TempDir(), "copy.fenec")
	require.NoError(t, fenec.Install(path, &image))
	db, err = fenec.Open(path, opts)
	require.NoError(t, err)
	check()
	require.NoError(t, db.Close())
}

func TestHistoryBounds(t *testing.T) {
	for name, c := range map[string]struct {
		opts fenec.Options
		kept int // of 100 changes; 0 for none, -1 for some
	}{
		"default":    {fenec.Options{}, 100},
		"entries":    {fenec.Options{HistoryEntries: 7}, 7},
		"bytes":      {fenec.Options{HistoryBytes: 60}, -1},
		"no entries": {fenec.Options{HistoryEntries: -1}, 0},
		"no bytes":   {fenec.Options{HistoryBytes: -1}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "acme.fenec")
			db, err := fenec.Open(path, c.opts)
			require.NoError(t, err)
			runAll(t, db, `create collection t (n int)`)
			for i := range 99 {
				runAll(t, db, fmt.Sprintf(`put t {id: %d, n: 1}`, i*1000+1))
				if i%10 == 0 {
					require.NoError(t, db.Checkpoint(ctx))
				}
			}
			require.NoError(t, db.Close())
			db, err = fenec.Open(path, c.opts)
			require.NoError(t, err)
			defer db.Close()
			list := allChanges(t, db)
			st, err := db.Stats()
			require.NoError(t, err)
			require.EqualValues(t, len(list), st.HistoryEntries)
			require.Equal(t, db.Horizon(), st.Horizon)
			require.EqualValues(t, 100-len(list), db.Horizon())
			if c.kept >= 0 {
				require.Len(t, list, c.kept)
			} else {
				require.Less(t, len(list), 100)
				require.LessOrEqual(t, st.HistoryBytes, int64(60))
			}
			if h := db.Horizon(); h > 0 {
				_, _, err = db.Changes(ctx, h-1, 10)
				require.ErrorIs(t, err, fenec.ErrHistoryGone)
				require.ErrorContains(t, err, fmt.Sprintf("from %d on", h))
			}
		})
	}
}

// Memory that waits to be folded is counted, and goes when it is.
func TestHistoryMemory(t *testing.T) {
	db, err := fenec.Open(filepath.Join(t.TempDir(), "acme.fenec"), fenec.Options{})
	require.NoError(t, err)
	defer db.Close()
	runAll(t, db, `create collection t (n int)`)
	docs := slices.Repeat([]string{`{n: 1}`}, 10_000)
	runAll(t, db, `put t [`+strings.Join(docs, ",")+`]`)
	before, err := db.Stats()
	require.NoError(t, err)
	require.Greater(t, before.HistoryBytes, int64(160_000))
	require.NoError(t, db.Checkpoint(ctx))
	after, err := db.Stats()
	require.NoError(t, err)
	require.Less(t, after.HistoryBytes, int64(12_000))
	require.EqualValues(t, 10_001, after.HistoryEntries)
	require.Greater(t, before.MemoryBytes-after.MemoryBytes, int64(160_000))
}

func ExampleDB_Changes() {
	db := library()
	defer db.Close()
	cursor := db.Seq() // as if everything so far had been read before

	for _, statement := range []string{
		`set books {pages: 613} where title = "Dune"`,
		`del books where author = "Le Guin"`,
	} {
		if _, err := db.Exec(ctx, statement); err != nil {
			fmt.Println(err)
		}
	}
	changes, cursor, err := db.Changes(ctx, cursor, 1000)
	for _, c := range changes {
		fmt.Println(c.Seq, c.Op, c.Collection, c.ID)
	}
	fmt.Println("go on from", cursor, err)
	// Output:
	// 5 put books 1
	// 6 del books 2
	// 7 del books 3
	// go on from 7 <nil>
}
