package fenec_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

const (
	firstPage = `get k from t order k, id limit 20`
	nextPage  = `get k, id from t where k > $1 or k = $1 and id > $2 order k, id limit 20`
)

// TestPagesBesideInserts follows the pages of a collection while others insert
// before, within and after the page at hand: every document that was there from
// the beginning comes once, in order, and none comes twice.
func TestPagesBesideInserts(t *testing.T) {
	for _, index := range []string{"", "@sorted", "@hash"} {
		t.Run("index "+index, func(t *testing.T) {
			db := memory(t)
			ctx := context.Background()
			query(t, db, "create collection t (k int "+index+")")
			rng := rand.New(rand.NewPCG(1, 2))
			for range 500 {
				query(t, db, "put t {k: $1}", rng.IntN(60)) // many have one key
			}
			var writer sync.WaitGroup
			writer.Go(func() {
				for i := range 3000 {
					if _, err := db.Exec(ctx, "put t {k: $1}", i%60); err != nil {
						t.Error(err)
						return
					}
				}
			})
			seen := followPages(t, db, 500)
			writer.Wait()
			for id := int64(1); id <= 500; id++ {
				require.True(t, seen[id], "document %d was passed over", id)
			}
		})
	}
}

// followPages reads pages until the documents that were there first, those with
// ids up to last, have all come or a page is empty.
func followPages(t *testing.T, db *fenec.DB, last int64) map[int64]bool {
	t.Helper()
	seen := map[int64]bool{}
	old := int64(0)
	key, id := int64(-1), int64(0)
	for old < last {
		res, err := db.Query(context.Background(), nextPage, key, id)
		require.NoError(t, err)
		if res.Len() == 0 {
			break
		}
		for row := range res.All() {
			k, err := row.Int("k")
			require.NoError(t, err)
			n, err := row.Int("id")
			require.NoError(t, err)
			require.True(t, k > key || k == key && n > id, "(%d, %d) after (%d, %d)", k, n, key, id)
			require.False(t, seen[n], "document %d comes twice", n)
			seen[n] = true
			if n <= last {
				old++
			}
			key, id = k, n
		}
	}
	return seen
}

// A page deep in a large collection costs no more than the first.
func TestPagesReadWhatTheyAnswer(t *testing.T) {
	db := memory(t)
	query(t, db, "create collection t (k int @sorted)")
	var docs []map[string]any
	for i := range 20_000 {
		docs = append(docs, map[string]any{"k": i / 3})
	}
	query(t, db, "put t $1", docs)
	require.LessOrEqual(t, rowsRead(t, db, firstPage), 40)
	for _, at := range []int{0, 3333, 6600} {
		require.LessOrEqual(t, rowsRead(t, db, nextPage, at, 3*at+2), 40, "after %d", at)
	}
}

var readRows = regexp.MustCompile(`(\d+) rows? read`)

// rowsRead returns how many rows a get reads, by its explain.
func rowsRead(t *testing.T, db *fenec.DB, text string, args ...any) int {
	t.Helper()
	res := query(t, db, "explain "+text, args...)
	require.True(t, res.Next())
	line, err := res.Row().Text("plan")
	require.NoError(t, err)
	m := readRows.FindStringSubmatch(line)
	require.NotNil(t, m, line)
	n, err := strconv.Atoi(m[1])
	require.NoError(t, err, fmt.Sprint(m))
	return n
}
