package fenec_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// The pages of a search that stands at one snapshot are one ranking: nothing is
// there twice or left out, whatever is written meanwhile.
func TestSearchPages(t *testing.T) {
	db := memory(t, `create collection lot (body text @text, v vector<4> @hnsw(l2), s sparse<9> @inverted, n int)`)
	r := rand.New(rand.NewPCG(10, 62))
	doc := func(id int) map[string]any {
		return map[string]any{"id": id, "body": prose(r, 6), "v": point(r, 4, true), "s": sparseText(r), "n": id % 10}
	}
	var docs []any
	for id := range 1000 {
		docs = append(docs, doc(id+1))
	}
	query(t, db, "put lot $1", docs)
	require.NoError(t, db.View(ctx, func(sn *fenec.Snapshot) error {
		for _, get := range []string{
			`near v $1`, `near v $1 exact where n < 8`, `near s "{1:1,2:-1,7:3}/9"`, `near s "{1:1,2:-1,7:3}/9" where n > 1`,
			`match body "oak elm şal"`, `match body "oak pine" where n > 1`,
			`match body "oak pine" rerank v $1 candidates 500`, `match body "oak" near v $1 fuse candidates 500`,
		} {
			v := point(r, 4, false)
			pagesAreOne(t, sn, "get id from lot "+get, 300, func() {
				query(t, db, "put lot $1", doc(1+r.IntN(1100)))
				require.NoError(t, db.Checkpoint(ctx))
			}, v)
		}
		return nil
	}))
}

// pagesAreOne gets the first rows of a ranking in pages, with something between
// each and the next, and then all of them at once.
func pagesAreOne(t *testing.T, q querier, get string, rows int, between func(), v []float32) {
	t.Helper()
	whole := hitsOf(t, q, fmt.Sprintf("%s limit %d", get, rows), v)
	require.Greater(t, len(whole), 100)
	var pages []hit
	for len(pages) < len(whole) {
		page := hitsOf(t, q, fmt.Sprintf("%s limit %d offset %d", get, min(37, len(whole)-len(pages)), len(pages)), v)
		require.NotEmpty(t, page)
		pages = append(pages, page...)
		between()
	}
	require.Equal(t, whole, pages, get)
}

// The same holds for searches of a graph that nobody changes, if ef says for all
// pages how many candidates they are from.
func TestSearchPagesOfGraph(t *testing.T) {
	l := newLot(t)
	for _, m := range lotMetrics {
		l.untilLinked(t, m)
		for _, where := range []string{"", " where chanced < 4000"} {
			get := fmt.Sprintf("get id from lot near %s $1 ef 300%s", m, where)
			v := make([]float32, lotDim)
			v[1] = 1
			if where == "" {
				require.Contains(t, planOf(t, l.db, get+" limit 300", v), "graph of 5000 vectors")
			}
			pagesAreOne(t, l.db, get, 300, func() {}, v)
		}
	}
}

// A page without room is refused for the same reasons as another.
func TestLimitZeroRefuses(t *testing.T) {
	db := memory(t, "create collection c (t text @text, v vector<2> @hnsw, s sparse<4> @inverted, p geo)",
		`put c {t: "a", v: [1, 0], s: "{1:1}/4", p: [1, 1]}`)
	for _, c := range []struct {
		get  string
		arg  any
		want error // nil if it is answered
	}{
		{"get c match t $1", "a", nil},
		{"get c match t $1", 5, fenec.ErrType},
		{"get c match t $1", nil, fenec.ErrType},
		{"get c near v $1", []float32{1, 0}, nil},
		{"get c near v $1", []float32{1, 0, 0}, fenec.ErrType},
		{"get c near v $1", "north", fenec.ErrType},
		{"get c near v $1 exact", nil, fenec.ErrType},
		{"get c near s $1", "{1:1}/4", nil},
		{"get c near s $1", "{1:1}/5", fenec.ErrType},
		{"get c near s $1", nil, fenec.ErrType},
		{"get c near p $1", []float64{1, 2}, nil},
		{"get c near p $1", []float64{200, 2}, fenec.ErrType},
		{"get c near p $1", nil, fenec.ErrType},
		{`get c match t "a" rerank v $1`, []float32{1, 0}, nil},
		{`get c match t "a" rerank v $1`, []float32{1}, fenec.ErrType},
		{"get c match t $1 rerank v [1, 0]", 5, fenec.ErrType},
		{`get c match t "a" near v $1 fuse`, []float32{1, 0}, nil},
		{`get c match t "a" near v $1 fuse`, []float32{1}, fenec.ErrType},
		{"get c match t $1 near v [1, 0] fuse", 5, fenec.ErrType},
	} {
		_, one := db.Query(ctx, c.get+" limit 1", c.arg)
		res, none := db.Query(ctx, c.get+" limit 0", c.arg)
		if c.want == nil {
			require.NoError(t, one, c.get)
			require.NoError(t, none, c.get)
			require.Zero(t, res.Len())
			continue
		}
		require.ErrorIs(t, one, c.want, c.get)
		require.EqualError(t, none, one.Error(), c.get)
	}
}
