package fenec_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// fedLines returns what the feed has after since, as servers give it.
func fedLines(t testing.TB, db *fenec.DB, since uint64, most int) (lines []string, next uint64) {
	t.Helper()
	list, next, err := db.Feed(ctx, since, most)
	require.NoError(t, err)
	for i := range list {
		b, err := list[i].AppendJSON(nil)
		require.NoError(t, err)
		lines = append(lines, string(b))
	}
	return lines, next
}

func fedOptions() fenec.Options {
	now := time.UnixMilli(1_790_784_252_158)
	return fenec.Options{Sync: fenec.SyncAlways, FeedBytes: 64 << 20, Clock: func() time.Time { return now }}
}

// killed returns a copy of the database at path as the end of the process at this
// moment leaves it.
func killed(t testing.TB, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	for _, suffix := range []string{"", "-log", "-log.old"} {
		b, err := os.ReadFile(path + suffix)
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to+suffix, b, 0o600))
	}
	return to
}

// Every write is there as it was, in the schema of its moment.
func TestFeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acme.fenec")
	opts := fedOptions()
	db, err := fenec.Open(path, opts)
	require.NoError(t, err)
	runAll(t, db,
		`create collection t (n int, s text)`,
		`put t [{n: 1, s: "x"}, {n: 2}]`,
		`set t {n: 9} where id = 2`,
		`create collection _mine (x int)`,
		`put _mine {x: 1}`,
		`del t where id = 1`,
		`alter collection t rename field s to u`,
		`put t {n: 3, u: "é\n"}`,
		`alter collection t drop field n`,
		`alter collection t add field data json`,
		`set t {data: {a: [1, null]}} where id = 3`,
		`create index on t (u) @hash`,
		`create collection gone (x int)`,
		`put gone {x: 1}`,
		`drop collection gone`,
		`drop collection _mine`,
	)
	var want []string
	for _, text := range []string{
		`1 t create`,
		`2 t put 1 {"id":1,"n":1,"s":"x"}`,
		`3 t put 2 {"id":2,"n":2}`,
		`4 t put 2 {"id":2,"n":9}`,
		`7 t del 1`,
		`8 t alter`,
		`9 t put 3 {"id":3,"n":3,"u":"é\n"}`,
		`10 t alter`,
		`11 t alter`,
		`12 t put 3 {"id":3,"u":"é\n","data":{"a":[1,null]}}`,
		`13 t alter`,
		`14 gone create`,
		`15 gone put 1 {"id":1,"x":1}`,
		`16 gone drop`,
	} {
		p := strings.SplitN(text, " ", 5)
		line := fmt.Sprintf(`{"seq":%s,"at":1790784252158,"collection":"%s","op":"%s"`, p[0], p[1], p[2])
		if len(p) > 3 {
			line += `,"id":` + p[3]
		}
		if len(p) > 4 {
			line += `,"doc":` + p[4]
		}
		want = append(want, line+"}")
	}
	check := func() {
		t.Helper()
		lines, next := fedLines(t, db, 0, math.MaxInt)
		require.Equal(t, want, lines)
		require.Equal(t, db.Seq(), next, "the cursor goes past what is left out")
		for most := range 4 {
			var paged []string
			for since := uint64(0); most > 0 && since < 17; {
				lines, since = fedLines(t, db, since, most)
				require.LessOrEqual(t, len(lines), most)
				paged = append(paged, lines...)
			}
			require.True(t, most == 0 || len(paged) == len(want))
		}
		lines, next = fedLines(t, db, 4, 0)
		require.Empty(t, lines)
		require.EqualValues(t, 4, next)
		lines, _ = fedLines(t, db, 2, 1)
		require.Equal(t, want[2:3], lines, "within a batch")
	}
	check()
	require.NoError(t, db.Checkpoint(ctx))
	check()
	copied := killed(t, path)
	require.NoError(t, db.Close())
	require.NoError(t, fenec.Check(path))
	db, err = fenec.Open(path, opts)
	require.NoError(t, err)
	check()

	list, _, err := db.Feed(ctx, 8, 1)
	require.NoError(t, err)
	s, err := list[0].Doc.Text("u")
	require.NoError(t, err)
	require.Equal(t, "é\n", s)
	_, err = list[0].Doc.Get("s")
	require.ErrorIs(t, err, fenec.ErrNotFound)

	// An image takes the feed along.
	var image bytes.Buffer
	require.NoError(t, db.Image(ctx, &image))
	require.NoError(t, db.Close())
	_, _, err = db.Feed(ctx, 0, 100)
	require.ErrorIs(t, err, fenec.ErrClosed)
	path = filepath.Join(t.TempDir(), "copy.fenec")
	require.NoError(t, fenec.Install(path, &image))
	db, err = fenec.Open(path, opts)
	require.NoError(t, err)
	check()
	require.NoError(t, db.Close())

	db, err = fenec.Open(copied, opts)
	require.NoError(t, err)
	check()
	require.NoError(t, db.Close())
}

// A document of every type is rendered as a get renders it.
func TestFeedOfEveryType(t *testing.T) {
	db, err := fenec.OpenMemory(fedOptions())
	require.NoError(t, err)
	defer db.Close()
	runAll(t, db, everyType...)
	want := body(t, db, `get every`)
	want = strings.Replace(strings.Trim(want, "[]\n"), `,"none":null`, "", 1)
	list, _, err := db.Feed(ctx, 1, 1)
	require.NoError(t, err)
	got, err := list[0].Doc.AppendJSON(nil)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

func TestFeedCursors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "acme.fenec")
	db, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	runAll(t, db, `create collection t (n int)`, `put t {n: 1}`)
	_, _, err = db.Feed(ctx, 0, 10)
	require.ErrorIs(t, err, fenec.ErrNoFeed)
	require.ErrorIs(t, db.WaitFeed(ctx, 0), fenec.ErrNoFeed)
	require.NoError(t, db.Close())

	opts := fedOptions()
	opts.FeedBytes = 10_000
	db, err = fenec.Open(path, opts)
	require.NoError(t, err)
	requireCursor := func(since, first, last uint64) {
		t.Helper()
		_, _, err := db.Feed(ctx, since, 10)
		var ce *fenec.CursorError
		require.ErrorAs(t, err, &ce)
		require.ErrorIs(t, err, fenec.ErrHistoryGone)
		require.Equal(t, fenec.CursorError{Since: since, First: first, Last: last}, *ce)
	}
	requireCursor(0, 2, 2)
	requireCursor(3, 2, 2)
	lines, next := fedLines(t, db, 2, 10)
	require.Empty(t, lines)
	require.EqualValues(t, 2, next)

	for i := range 1000 {
		query(t, db, `put t {n: $1}`, i)
	}
	first := db.FeedHorizon()
	require.Greater(t, first, uint64(100))
	requireCursor(first-1, first, db.Seq())
	lines, next = fedLines(t, db, first, 2000)
	require.Len(t, lines, int(db.Seq()-first))
	require.Equal(t, db.Seq(), next)
	st, err := db.Stats()
	require.NoError(t, err)
	require.LessOrEqual(t, st.FeedBytes, int64(15_000))
	require.NoError(t, db.Close())

	db, err = fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	db, err = fenec.Open(path, opts)
	require.NoError(t, err)
	defer db.Close()
	requireCursor(first, db.Seq(), db.Seq())
}

// What is not on disk yet is not given, and waited for.
func TestFeedWaits(t *testing.T) {
	opts := fedOptions()
	opts.Sync, opts.IdleCheckpoint = fenec.SyncOff, time.Hour
	db, err := fenec.Open(filepath.Join(t.TempDir(), "acme.fenec"), opts)
	require.NoError(t, err)
	defer db.Close()
	runAll(t, db, `create collection t (n int)`)
	lines, next := fedLines(t, db, 0, 10)
	require.Empty(t, lines)
	require.Zero(t, next)
	lines, next = fedLines(t, db, 1, 10)
	require.Empty(t, lines)
	require.EqualValues(t, 1, next, "between what is on disk and what is held")

	waited := make(chan error, 1)
	go func() { waited <- db.WaitFeed(ctx, 0) }()
	require.NoError(t, db.Sync(ctx))
	require.NoError(t, <-waited)
	lines, next = fedLines(t, db, 0, 10)
	require.Len(t, lines, 1)
	require.EqualValues(t, 1, next)
	require.EqualValues(t, 1, db.SyncedSeq())

	canceled, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, db.WaitFeed(canceled, 1), context.Canceled)
	_, _, err = db.Feed(canceled, 1, 1)
	require.ErrorIs(t, err, context.Canceled)
	go func() { waited <- db.WaitFeed(ctx, 1) }()
	require.NoError(t, db.Close())
	require.ErrorIs(t, <-waited, fenec.ErrClosed)
}

// A block of which the log has parts is one in the feed too, after a replay as
// well; and no answer of it takes up much memory.
func TestFeedOfALargeBlock(t *testing.T) {
	sequential(t)
	path := filepath.Join(t.TempDir(), "acme.fenec")
	opts := fedOptions()
	opts.FrontBytes = 1 << 30 // no fold begins by itself: the files are copied while the database is open
	db, err := fenec.Open(path, opts)
	require.NoError(t, err)
	runAll(t, db, `create collection t (n int, s text)`)
	const docs = 400
	list := make([]any, docs)
	for i := range list {
		list[i] = map[string]any{"n": i, "s": strings.Repeat("s", 100_000)}
	}
	query(t, db, `put t $1`, list)
	check := func(db *fenec.DB) {
		t.Helper()
		seen := uint64(1)
		for since := uint64(1); since < docs+1; {
			list, next, err := db.Feed(ctx, since, math.MaxInt)
			require.NoError(t, err)
			require.NotEmpty(t, list)
			require.LessOrEqual(t, len(list), 100)
			for _, c := range list {
				seen++
				require.Equal(t, seen, c.Seq)
				n, err := c.Doc.Int("n")
				require.NoError(t, err)
				require.EqualValues(t, seen-2, n)
			}
			since = next
		}
		require.EqualValues(t, docs+1, seen)
	}
	check(db)
	again, err := fenec.Open(killed(t, path), opts)
	require.NoError(t, err)
	check(again)
	require.NoError(t, again.Checkpoint(ctx))
	check(again)
	require.NoError(t, again.Close())
	require.NoError(t, db.Close())
	require.NoError(t, fenec.Check(path))
}

// BenchmarkFeedPut is what the feed costs a put.
func BenchmarkFeedPut(b *testing.B) {
	for _, bytes := range []int64{0, 64 << 20} {
		for _, size := range []int{20, 300, 3000} {
			b.Run(fmt.Sprintf("feed=%d/text=%d", bytes, size), func(b *testing.B) {
				opts := fenec.Options{Sync: fenec.SyncOff, FeedBytes: bytes}
				db, err := fenec.Open(filepath.Join(b.TempDir(), "acme.fenec"), opts)
				require.NoError(b, err)
				runAll(b, db, `create collection t (n int, s text)`)
				st, err := db.Prepare(`put t {n: $1, s: $2}`)
				require.NoError(b, err)
				text := strings.Repeat("x", size)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if _, err := st.Exec(ctx, i, text); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				require.NoError(b, db.Close())
			})
		}
	}
}

// BenchmarkFeedRead reads a feed of the file, a thousand writes at a time.
func BenchmarkFeedRead(b *testing.B) {
	const docs = 50_000
	db, err := fenec.OpenMemory(fenec.Options{FeedBytes: 64 << 20})
	require.NoError(b, err)
	defer db.Close()
	runAll(b, db, `create collection t (n int, s text)`)
	for i := range docs {
		query(b, db, `put t {n: $1, s: $2}`, i, strings.Repeat("x", 200))
	}
	require.NoError(b, db.Checkpoint(ctx))
	var out []byte
	for b.Loop() {
		for since := uint64(0); since < db.Seq(); {
			list, next, err := db.Feed(ctx, since, 1000)
			if err != nil {
				b.Fatal(err)
			}
			out = out[:0]
			for i := range list {
				out, _ = list[i].AppendJSON(out)
			}
			since = next
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/docs, "ns/write")
}
