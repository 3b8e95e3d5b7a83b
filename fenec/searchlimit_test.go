package fenec_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// Marks do not make a value larger than values may be, however small the text and
// the tags are.
func TestMarksTooLong(t *testing.T) {
	sequential(t)
	const most = 16 << 20
	db := memory(t, "create collection docs (id2 int, body text @text)")
	query(t, db, "put docs {body: $1}", strings.Repeat("a ", 1<<11))
	query(t, db, "put docs {body: $1}", strings.Repeat("b ", most/16+1))
	tag := strings.Repeat("<", most/(1<<12))
	for _, column := range []string{`highlight(body, $1, $2)`, `snippet(body, 100000, "", $1, $2)`} {
		text := "get " + column + " from docs match body \"a\""
		_, err := db.Query(t.Context(), text, tag, tag)
		require.ErrorIs(t, err, fenec.ErrQuery, column)
		require.ErrorContains(t, err, "2048 marks", column)
		require.ErrorContains(t, err, fmt.Sprint(most), column)
		res := query(t, db, text, tag, tag[2:])
		require.True(t, res.Next())
		s, err := res.Row().Text(res.Columns()[0])
		require.NoError(t, err)
		require.Len(t, s, 1<<12+1<<11*(2*len(tag)-2))
	}
	_, err := db.Query(t.Context(), `get highlight(body, $1, $1) from docs match body "a"`, strings.Repeat("<", 15<<20))
	require.ErrorIs(t, err, fenec.ErrQuery)
	for _, column := range []string{"highlight(body)", "snippet(body, 100000000)"} {
		_, err = db.Query(t.Context(), "get "+column+" from docs match body \"b\"")
		require.ErrorIs(t, err, fenec.ErrQuery, column)
		query(t, db, "get "+column+" from docs match body \"a\"")
	}
}

// A document is found by all of its own words, with the scores that they have one by
// one.
func TestMatchManyTerms(t *testing.T) {
	db := file(t, fenec.Options{}, "create collection docs (body text @text(k1=0))")
	_, err := db.Load(t.Context(), "put docs {body: $1}", func(yield func([]any, error) bool) {
		for i := range 600 {
			if !yield([]any{fmt.Sprintf("w%d w%d w%d", i, i+1, i*7%600)}, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
	var words []string
	for i := range 300 {
		words = append(words, fmt.Sprint("w", i))
	}
	scores := func(text string) map[int64]float64 {
		out := map[int64]float64{}
		res := query(t, db, "get id from docs match body $1", text)
		for res.Next() {
			id, err := res.Row().Int("id")
			require.NoError(t, err)
			out[id], err = res.Row().Float("_score")
			require.NoError(t, err)
		}
		return out
	}
	for range 2 {
		want := map[int64]float64{}
		for _, w := range words {
			for id, score := range scores(w) {
				want[id] += score
			}
		}
		got := scores(strings.Join(words, " "))
		require.Len(t, got, len(want))
		for id, score := range got {
			require.InDelta(t, want[id], score, 1e-4, id)
		}
		require.NoError(t, db.Checkpoint(t.Context()))
	}
}

// A search that reads more posting lists than memory is set apart for is refused.
func TestMatchTooManyTerms(t *testing.T) {
	sequential(t)
	const most = 100_000
	var words strings.Builder
	for i := range most {
		fmt.Fprintln(&words, i)
	}
	db := memory(t, "create collection docs (body text @text)")
	query(t, db, "put docs {body: $1}", words.String())
	require.Equal(t, 1, query(t, db, "get docs match body $1", words.String()+" absent").Len())
	query(t, db, `put docs {body: "more"}`)
	_, err := db.Query(t.Context(), "get docs match body $1", words.String()+" more")
	require.ErrorIs(t, err, fenec.ErrQuery)
	require.ErrorContains(t, err, fmt.Sprint(most))
}

// The column of scores has its name to itself.
func TestScoreName(t *testing.T) {
	db := memory(t, "create collection docs (body text @text, v vector<1> @hnsw, n int)", `put docs {body: "fox", v: [1], n: 3}`)
	for _, text := range []string{
		"create collection other (_score int)", "alter collection docs add _score float", "alter collection docs rename n to _score",
		`get n as _score from docs match body "fox"`, "get n as _score from docs near v [1]",
		`get n * 2 as _score from docs match body "fox" near v [1] fuse`,
	} {
		_, err := db.Query(t.Context(), text)
		require.ErrorIs(t, err, fenec.ErrQuery, text)
		require.ErrorContains(t, err, "_score", text)
	}
	require.Equal(t, `[{"_score":3}]`, body(t, db, "get n as _score from docs"))
}

// The ranks of a fuse count however great k is.
func TestFuseGreatK(t *testing.T) {
	db := memory(t, "create collection docs (body text @text, v vector<1> @hnsw)", `put docs {body: "fox", v: [1]}`)
	for _, k := range []int64{math.MaxInt64, math.MaxInt64 - 1} {
		res := query(t, db, fmt.Sprintf(`get id from docs match body "fox" near v [1] fuse k %d`, k))
		require.True(t, res.Next())
		score, err := res.Row().Float("_score")
		require.NoError(t, err)
		require.InEpsilon(t, 2/float64(k), score, 1e-6)
	}
}
