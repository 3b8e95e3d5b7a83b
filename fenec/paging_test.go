package fenec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
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

// walk is a way through a collection page by page: the first page, and the one
// after a row with a key, and after one without.
type walk struct{ first, after, afterNull string }

// walks are those that the language's page shows.
var walks = map[string]walk{
	"ascending": {
		`get book order pages, id limit 20`,
		`get book where pages > $1 or pages = $1 and id > $2 order pages, id limit 20`,
		`get book where pages is null and id > $1 or pages is not null order pages, id limit 20`,
	},
	"descending": {
		`get book order pages desc, id limit 20`,
		`get book where pages < $1 or pages = $1 and id > $2 or pages is null order pages desc, id limit 20`,
		`get book where pages is null and id > $1 order id limit 20`,
	},
}

// Pages visit every document once, in the order of one large get, whatever the
// keys and the index.
func TestPagesWithNulls(t *testing.T) {
	page, err := os.ReadFile("../docs/fenecql.md")
	require.NoError(t, err)
	shown := strings.Join(strings.Fields(comment.ReplaceAllString(string(page), "")), " ")
	for name, w := range walks {
		for _, index := range []string{"", "@sorted", "@hash"} {
			t.Run(name+index, func(t *testing.T) {
				db := memory(t, "create collection book (pages int "+index+")")
				rng := rand.New(rand.NewPCG(3, 4))
				for range 300 {
					query(t, db, "put book {pages: $1}", []any{nil, rng.IntN(30), nil, rng.IntN(9)}[rng.IntN(4)])
				}
				require.Equal(t, body(t, db, strings.Replace(w.first, "20", "1000", 1)), "["+strings.Join(w.rows(t, db), ",")+"]")
			})
		}
		for _, text := range []string{w.first, w.after, w.afterNull} {
			require.Contains(t, shown, text)
		}
	}
}

// rows returns the rows of all pages as JSON.
func (w walk) rows(t *testing.T, db *fenec.DB) (rows []string) {
	t.Helper()
	for res := query(t, db, w.first); res.Len() > 0; {
		var id int64
		var pages *int64
		for res.Next() {
			require.NoError(t, res.Scan(&id, &pages))
			b, err := json.Marshal(struct {
				ID    int64  `json:"id"`
				Pages *int64 `json:"pages"`
			}{id, pages})
			require.NoError(t, err)
			rows = append(rows, string(b))
		}
		if pages == nil {
			res = query(t, db, w.afterNull, id)
		} else {
			res = query(t, db, w.after, *pages, id)
		}
	}
	return rows
}

// A page with nulls around costs no more than one without.
func TestPagesWithNullsReadWhatTheyAnswer(t *testing.T) {
	db := memory(t, "create collection book (pages int @sorted)")
	docs := make([]map[string]any, 20_000)
	for i := range docs {
		if docs[i] = map[string]any{}; i%2 == 0 {
			docs[i]["pages"] = i / 6
		}
	}
	query(t, db, "put book $1", docs)
	for _, w := range walks {
		require.LessOrEqual(t, rowsRead(t, db, w.first), 40)
		require.LessOrEqual(t, rowsRead(t, db, w.after, 1500, 9003), 40, w.after)
		for _, id := range []int{2, 10_000, 19_990} {
			require.LessOrEqual(t, rowsRead(t, db, w.afterNull, id), 40, "%s after %d", w.afterNull, id)
		}
	}
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
