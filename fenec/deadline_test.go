package fenec_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// counted is a context that counts who looks at it, and ends when it has been
// looked at so often.
type counted struct {
	context.Context
	looks, most atomic.Int64
	done        chan struct{}
}

// countedContext returns one that ends at the look of that number; 0 for never.
func countedContext(parent context.Context, most int64) *counted {
	c := &counted{Context: parent, done: make(chan struct{})}
	c.most.Store(most)
	return c
}

func (c *counted) Done() <-chan struct{} { return c.done }

func (c *counted) Err() error {
	n := c.looks.Add(1)
	switch most := c.most.Load(); {
	case most == 0 || n < most:
		return nil
	case n == most:
		close(c.done)
	}
	return context.DeadlineExceeded
}

// crowd fills collections with n rows each.
func crowd(t *testing.T, db *fenec.DB, n int) {
	t.Helper()
	runAll(t, db, "create collection c (n int @sorted, k int, s text @text, t text, e vector<2>, g vector<2> @hnsw(l2))",
		"create collection d (of int @hash, n int)", "create collection empty (n int)")
	rows := func(row func(i int) []any) func(func([]any, error) bool) {
		return func(yield func([]any, error) bool) {
			for i := range n {
				if !yield(row(i), nil) {
					return
				}
			}
		}
	}
	_, err := db.Load(t.Context(), "put c {n: $1, k: $2, s: $3, t: $3, e: $4, g: $4}", rows(func(i int) []any {
		return []any{i * 7919 % n, i, fmt.Sprintf("fox %d", i%10), []float32{float32(i % 100), float32(i % 77)}}
	}))
	require.NoError(t, err)
	_, err = db.Load(t.Context(), "put d {of: $1, n: $1}", rows(func(i int) []any { return []any{i} }))
	require.NoError(t, err)
	require.NoError(t, db.Checkpoint(t.Context()))
	require.NoError(t, db.Warm(t.Context()))
}

// Whatever takes long looks at its context all the time, and when that has ended it
// ends, with nothing written.
func TestDeadlines(t *testing.T) {
	sequential(t)
	const n = 20_000
	db := file(t, fenec.Options{}, "create collection other (n int)")
	crowd(t, db, n)
	one := func(text string, args ...any) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := db.Query(ctx, text, args...)
			return err
		}
	}
	many := documents(n)
	for i := range many {
		many[i] = map[string]any{"n": i}
	}
	var words strings.Builder
	for i := range n {
		fmt.Fprintln(&words, i)
	}
	every := func(rows int64) int64 { return n / rows }
	for name, x := range map[string]struct {
		run    func(ctx context.Context) error
		looks  int64 // that it makes at least
		writes bool
	}{
		"scan":                     {one("get c where t ~ \"none\""), every(2048), false},
		"scan and keep":            {one("get c"), every(2048), false},
		"index":                    {one("get c where n > 0 and t ~ \"none\""), every(2048), false},
		"sort":                     {one("get c order t desc, k"), 2 * every(2048), false},
		"sort by an index":         {one("get c order n limit 2000"), 1, false},
		"group":                    {one("get k, count(*) as n from c group k order n"), 2 * every(2048), false},
		"inner":                    {one("get empty where n in (get k from c)"), every(2048), false},
		"lookup":                   {one("get k from c lookup d on of = k order n limit 1"), every(128), false},
		"required":                 {one("get c lookup d on of = k where n < 0 required"), every(2048), false},
		"facet":                    {one("get c where k < 0 facet n"), every(2048), false},
		"facets":                   {one("get c limit 1 facet t, n top 5"), every(2048), false},
		"match":                    {one("get c match s \"fox\" limit 10"), 1, false},
		"match many words":         {one("get c match s $1 limit 10", words.String()), every(64), false},
		"match and filter":         {one("get c match s \"fox\" where t ~ \"none\" limit 10"), every(2048), false},
		"near":                     {one("get c near g [3, 4] limit 100"), 1, false},
		"near by a scan":           {one("get c near g [3, 4] exact limit 3"), every(2048), false},
		"near and filter":          {one("get c near g [3, 4] where t ~ \"none\" limit 100"), 2, false},
		"put":                      {one("put other $1", many), every(128), true},
		"set":                      {one("set d {n: n + 1}"), every(128), true},
		"del":                      {one("del d"), every(128), true},
		"create index":             {one("create index on c (k) @unique"), every(2048), true},
		"create index for words":   {one("create index on c (t) @text"), every(2048), true},
		"create index for vectors": {one("create index on c (e) @hnsw(l2)"), every(2048), true},
		"alter":                    {one("alter collection d add m int @hash"), 1, true},
		"batch": {func(ctx context.Context) error {
			_, err := db.Batch(ctx, []fenec.Statement{{Text: "put other {n: 1}"}, {Text: "get c"}, {Text: "set d {n: 0}"}})
			return err
		}, every(128), true},
		"a batch of reads": {func(ctx context.Context) error {
			_, err := db.Batch(ctx, []fenec.Statement{{Text: "get c"}, {Text: "get d"}})
			return err
		}, 2 * every(2048), false},
		"update": {func(ctx context.Context) error {
			_, err := db.Update(ctx, func(tx *fenec.Tx) error {
				for range 100 {
					if _, err := tx.Exec(ctx, "put other {n: 1}"); err != nil {
						return err
					}
				}
				return nil
			})
			return err
		}, 100, true},
		"rows": {func(ctx context.Context) error {
			for _, err := range db.Rows(ctx, "get c") {
				if err != nil {
					return err
				}
			}
			return nil
		}, every(600), false},
	} {
		t.Run(name, func(t *testing.T) {
			before, schemas := stats(t, db), body(t, db, "collections")
			looks := x.looks
			if !x.writes {
				require.NoError(t, x.run(t.Context())) // which loads what the others find loaded
				ctx := countedContext(t.Context(), 0)
				require.NoError(t, x.run(ctx))
				looks = ctx.looks.Load()
				require.GreaterOrEqual(t, looks, x.looks)
			}
			for _, at := range []int64{1, looks/3 + 1, looks/2 + 1, looks} {
				ctx := countedContext(t.Context(), at)
				err := x.run(ctx)
				if at > 1 && ctx.looks.Load() < at { // a search of a graph in memory is not the same each time
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, context.DeadlineExceeded, "ended at look %d of %d", at, looks)
				require.Less(t, ctx.looks.Load(), at+20, "it goes on")
			}
			require.Equal(t, before.Collections, stats(t, db).Collections)
			require.Equal(t, schemas, body(t, db, "collections"))
			require.Equal(t, "[]", body(t, db, "get id from d where n != of"))
		})
	}
}
