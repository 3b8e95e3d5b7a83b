package fenec_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// streamed runs a get row by row and returns its rows as a list of JSON.
func streamed(ctx context.Context, db interface {
	Rows(context.Context, string, ...any) iter.Seq2[fenec.Row, error]
}, text string, args ...any) (string, error) {
	out := []byte("[")
	for row, err := range db.Rows(ctx, text, args...) {
		if err != nil {
			return string(out), err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if out, err = row.AppendJSON(out); err != nil {
			return string(out), err
		}
	}
	return string(append(out, ']')), nil
}

// streamable fills collections of many kinds, a part of which is folded.
func streamable(t *testing.T, db *fenec.DB) {
	t.Helper()
	runAll(t, db,
		"create collection c (n int @sorted, k int @hash, s text @text, m int, e vector<2> @hnsw(cosine))",
		"create collection d (of int @hash, t text)", "create collection f (of int @hash)")
	docs := make([]any, 1500)
	var children, deeper []any
	for i := range docs {
		docs[i] = map[string]any{
			"n": i * 7919 % 750, "k": i % 40, "s": fmt.Sprintf("fox number %d", i%7), "m": i,
			"e": []float32{float32(i%100) + 1, float32(i%31) + 1},
		}
		if i%3 == 0 {
			children = append(children, map[string]any{"of": i + 1, "t": fmt.Sprint("child of ", i)}, map[string]any{"of": i + 1})
		}
		deeper = append(deeper, map[string]any{"of": i})
	}
	for text, list := range map[string][]any{"put c $1": docs, "put d $1": children, "put f $1": deeper} {
		_, err := db.Exec(t.Context(), text, list)
		require.NoError(t, err)
	}
	require.NoError(t, db.Checkpoint(t.Context()))
	runAll(t, db, "set c {s: s + \" red\"} where m < 700", "del c where m >= 1000 and m < 1050", "del d where of = 4")
}

var streamedGets = []string{
	"get c", "get c order id desc", "get c where n >= 100 and n < 900", "get c where k = 7", "get c where k in [1, 2, 39]",
	"get c where id = 5", "get c where id > 1200", "get c order n", "get c order n desc limit 1200", "get c order n desc, m limit 40 offset 30",
	"get c order m", "get c order s, m desc", "get id from c", "get id from c order m desc limit 900", "get id from c where n < 300 order n",
	"get n, m * 2 as twice from c where m > 700", "get c where n = 10 or k = 3", "get c where false", "get c limit 0", "get c offset 1400",
	"get c match s \"red fox\" limit 700", "get c near e [1, 1] limit 600", "get s from c match s \"number\" near e [3, 5] fuse limit 100",
	"get c match s \"fox\" where m > 30 limit 9", "get c count", "get c where k = 1 count", "get k, count(*) as n from c group k order n desc",
	"get c lookup d on of", "get n from c lookup d on of where t is not null order t required", "get c where m < 900 order n lookup d on of lookup f on of",
	"get c where id in (get of from d)", "get c where m < 900 require 900", "get max(m) from c",
}

// Rows gives what Query answers.
func TestRows(t *testing.T) {
	for name, db := range map[string]*fenec.DB{"file": file(t, fenec.Options{}), "memory": memory(t)} {
		streamable(t, db)
		for _, text := range streamedGets {
			got, err := streamed(t.Context(), db, text)
			require.NoError(t, err, text)
			require.Equal(t, body(t, db, text), got, "%s: %s", name, text)
		}
	}
}

// A loop whose body writes, folds and rewrites what it reads sees none of that.
func TestRowsWhileWriting(t *testing.T) {
	sequential(t)
	for _, text := range []string{
		"get c", "get c where k in [1, 2, 39]", "get c where n >= 100 and n < 900", "get c order n", "get id from c order n desc limit 1200",
		"get c order s, m desc", "get c match s \"red fox\" limit 700", "get c near e [1, 1] limit 600", "get c lookup d on of",
		"get c where m < 900 order n lookup d on of lookup f on of",
	} {
		db := file(t, fenec.Options{})
		streamable(t, db)
		want := body(t, db, text)
		got, n := []byte("["), 0
		for row, err := range db.Rows(t.Context(), text) {
			require.NoError(t, err, text)
			if n++; n == 2 || n == 20 || n == 600 {
				runAll(t, db, "set c {n: 3, m: 0 - m, s: \"dog\"} where id > 30", "put d {of: 700}", "del d where of < 300", "del c where id < 20")
				require.NoError(t, db.Checkpoint(t.Context()))
				if n == 20 {
					runAll(t, db, "compact", "drop collection f")
				}
			}
			if len(got) > 1 {
				got = append(got, ',')
			}
			got, err = row.AppendJSON(got)
			require.NoError(t, err)
		}
		require.Equal(t, want, string(got)+"]", text)
	}
}

func TestRowsRefused(t *testing.T) {
	db := memory(t, "create collection c (n int)", "put c [{n: 1}, {n: 0}, {n: 2}]")
	for text, want := range map[string]error{
		"put c {n: 1}": fenec.ErrQuery, "explain get c": fenec.ErrQuery, "collections": fenec.ErrQuery, "compact": fenec.ErrQuery,
		"get c facet n": fenec.ErrQuery, "get": fenec.ErrQuery, "get d": fenec.ErrNotFound, "get c where n = $1": fenec.ErrQuery,
		"get c require 2": fenec.ErrUnmet, "get c where 4 / n > 3": fenec.ErrQuery,
	} {
		got, err := streamed(t.Context(), db, text)
		require.ErrorIs(t, err, want, text)
		require.Equal(t, "[", got, text)
	}
	_, err := streamed(t.Context(), db, "get c where n = $1", t)
	require.ErrorIs(t, err, fenec.ErrType)
	require.JSONEq(t, `[{"count":3}]`, body(t, db, "get c count"))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = streamed(over, db, "get c")
	require.ErrorIs(t, err, context.Canceled)
}

// An error in the middle is the last that comes, and so is a break.
func TestRowsEndEarly(t *testing.T) {
	db := file(t, fenec.Options{FrontBytes: 64 << 10}, "create collection c (n int, s text)")
	_, err := db.Exec(t.Context(), "put c $1", documents(5000))
	require.NoError(t, err)
	require.NoError(t, db.Checkpoint(t.Context()))
	for name, x := range map[string]struct {
		text string
		do   func(cancel func())
		want error
	}{
		"a division": {"get c where 1 / (n - 2000) < 2", func(func()) {}, fenec.ErrQuery},
		"context":    {"get c", func(cancel func()) { cancel() }, context.Canceled},
		"in the way": {"get c", func(func()) {
			for range 4 {
				runAll(t, db, "set c {s: s + \"x\"}")
			}
		}, fenec.ErrSnapshotTooOld},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n, last := 0, error(nil)
			for row, err := range db.Rows(ctx, x.text) {
				require.NoError(t, last, "it goes on after an error")
				if last = err; err != nil {
					continue
				}
				if n == 1000 {
					x.do(cancel)
				}
				require.Equal(t, int64(n), value[int64](t, row, "n"))
				n++
			}
			require.ErrorIs(t, last, x.want)
			require.Greater(t, n, 1000)
		})
	}
	n := 0
	for range db.Rows(t.Context(), "get c") {
		if n++; n == 700 {
			break
		}
	}
	require.Equal(t, 700, n)
	require.PanicsWithValue(t, "oh", func() {
		for range db.Rows(t.Context(), "get c") {
			panic("oh")
		}
	})
}

// value returns a column of a row, which has that type.
func value[T any](t *testing.T, row fenec.Row, name string) T {
	v, err := row.Get(name)
	require.NoError(t, err)
	return v.(T)
}

// A loop that stands still holds no transaction of the file: its reads that are
// folded away can be, and what the file frees is used again.
func TestRowsMemory(t *testing.T) {
	sequential(t)
	db := file(t, fenec.Options{}, "create collection c (n int, s text)", "create collection d (of int @hash, s text)")
	const rows = 40_000
	text := strings.Repeat("x", 400)
	for _, c := range []string{"put c {n: $1, s: $2}", "put d {of: $1, s: $2}"} {
		_, err := db.Load(t.Context(), c, func(yield func([]any, error) bool) {
			for i := range rows {
				if !yield([]any{i + 1, text}, nil) {
					return
				}
			}
		})
		require.NoError(t, err)
	}
	require.NoError(t, db.Checkpoint(t.Context()))
	for _, get := range []string{"get c", "get c order id desc", "get c lookup d on of", "get c where n in (get of from d)"} {
		before, most, n := heap(), uint64(0), 0
		for _, err := range db.Rows(t.Context(), get) {
			require.NoError(t, err)
			if n++; n%8000 == 1 {
				most = max(most, heap())
			}
		}
		require.Equal(t, rows, n)
		require.Less(t, most-min(most, before), uint64(6<<20), "%s: of %d MiB", get, rows*len(text)>>20)
	}
}

// heap returns how many bytes are in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Readers that come one after the other, and loops within loops, do not disturb
// one another.
func TestRowsNested(t *testing.T) {
	db := memory(t, "create collection c (n int)")
	_, err := db.Exec(t.Context(), "put c $1", []any{map[string]any{"n": 1}, map[string]any{"n": 2}, map[string]any{"n": 3}})
	require.NoError(t, err)
	sum := int64(0)
	for a, err := range db.Rows(t.Context(), "get c where n < 3") {
		require.NoError(t, err)
		for b, err := range db.Rows(t.Context(), "get c where n >= $1", value[int64](t, a, "n")) {
			require.NoError(t, err)
			require.Equal(t, db.Seq(), b.Seq())
			sum += 10*value[int64](t, a, "n") + value[int64](t, b, "n")
		}
	}
	require.EqualValues(t, 11+12+13+22+23, sum)
}

func BenchmarkRows(b *testing.B) {
	db := file(b, fenec.Options{}, "create collection c (n int @sorted, s text)")
	_, err := db.Load(ctx, "put c {n: $1, s: $2}", func(yield func([]any, error) bool) {
		for i := range 100_000 {
			if !yield([]any{i, "a text of some length"}, nil) {
				return
			}
		}
	})
	require.NoError(b, err)
	require.NoError(b, db.Checkpoint(ctx))
	for _, text := range []string{"get c limit 10", "get c order n desc limit 10", "get c where n < 1000", "get c"} {
		b.Run("query/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				res, err := db.Query(ctx, text)
				if err != nil || res.Len() == 0 {
					b.Fatal(err)
				}
			}
		})
		b.Run("rows/"+text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range db.Rows(ctx, text) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
