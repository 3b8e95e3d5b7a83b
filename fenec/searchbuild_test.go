package fenec_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// Search indexes on so many rows that they are built beside writes have what the
// rows give them in the end, whatever the writers did.
func TestSearchIndexBuiltBesideWrites(t *testing.T) {
	db, err := fenec.Open(filepath.Join(t.TempDir(), "docs.fenec"), fenec.Options{Sync: fenec.SyncOff})
	require.NoError(t, err)
	runAll(t, db, `create collection docs (body text, v vector<3>, s sparse<9>, n int @hash)`)
	r := rand.New(rand.NewPCG(11, 64))
	const rows = 6000
	doc := func(r *rand.Rand, id int) map[string]any {
		return map[string]any{"id": id, "body": prose(r, 6), "v": point(r, 3, false), "s": sparseText(r), "n": id % 50}
	}
	var docs []any
	for id := 1; id <= rows; id++ {
		docs = append(docs, doc(r, id))
	}
	query(t, db, "put docs $1", docs)

	stop, errs := make(chan struct{}), make([]error, 3)
	var writers sync.WaitGroup
	for w := range errs {
		r := rand.New(rand.NewPCG(uint64(w), 65))
		writers.Go(func() {
			for n := 0; errs[w] == nil; n++ {
				select {
				case <-stop:
					return
				default:
				}
				errs[w] = disturb(db, r, n, doc(r, 1+r.IntN(rows+500)))
			}
		})
	}
	for _, text := range []string{
		"create index on docs (body) @text(k1=1.2)", "create index on docs (s) @inverted",
		"create index on docs (v) @hnsw(l2, m=6, ef_construction=40, ef_search=40)",
	} {
		query(t, db, text)
	}
	close(stop)
	writers.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	for range 2 {
		compareBuilt(t, db, r)
		db = reopened(t, db, fenec.Options{})
	}
	require.NoError(t, db.Close())
}

// disturb changes some rows, and folds now and then.
func disturb(db *fenec.DB, r *rand.Rand, n int, doc map[string]any) error {
	var err error
	switch r.IntN(8) {
	case 0:
		_, err = db.Exec(ctx, "del docs where id = $1", doc["id"])
	case 1:
		_, err = db.Exec(ctx, "set docs {body: $1, v: $2} where id = $3", doc["body"], doc["v"], doc["id"])
	case 2:
		_, err = db.Exec(ctx, "set docs {body: null, s: null, v: null} where id = $1", doc["id"])
	default:
		_, err = db.Exec(ctx, "put docs $1", doc)
	}
	if err == nil && n%200 == 0 {
		err = db.Checkpoint(ctx)
	}
	return err
}

func compareBuilt(t *testing.T, db *fenec.DB, r *rand.Rand) {
	w := words{field: "body", k1: 1.2, b: 0.4}
	texts, vectors := textsOf(t, db, "docs", "body"), vectorsOf(t, db, "docs", "v")
	recall := 0.0
	for range 10 {
		q := prose(r, 4)
		w.match(texts, q).require(t, hitsOf(t, db, "get id from docs match body $1 limit 50", q), false, 0, 50, q)
		v := point(r, 3, false)
		recall += measure("l2", vectors, v).recall(t, hitsOf(t, db, "get id from docs near v $1 limit 10", v), true, 10)
		s := sparseText(r)
		require.Equal(t, hitsOf(t, db, "get id from docs near s $1 exact limit 50", s), hitsOf(t, db, "get id from docs near s $1 limit 50", s))
	}
	require.GreaterOrEqual(t, recall, 9.5)
}

// An index that is made on few rows, within its statement or a batch, has them
// all, and one that a batch fails after leaves nothing behind.
func TestSearchIndexBuiltInBlock(t *testing.T) {
	db := file(t, fenec.Options{}, `create collection docs (body text, v vector<3>, s sparse<9>)`)
	r := rand.New(rand.NewPCG(12, 64))
	for id := range 200 {
		query(t, db, "put docs $1", map[string]any{"id": id + 1, "body": prose(r, 5), "v": point(r, 3, false), "s": sparseText(r)})
	}
	creates := []fenec.Statement{
		{Text: "create index on docs (body) @text(k1=1.2)"}, {Text: "del docs where id > 190"},
		{Text: "create index on docs (s) @inverted"}, {Text: "create index on docs (v) @hnsw(l2, m=4, ef_construction=40, ef_search=16)"},
		{Text: `put docs {id: 1, body: "oak elm oak", v: [1, 2, 3]}`},
	}
	for _, folded := range []bool{false, true} {
		_, err := db.Batch(ctx, append(creates[:len(creates):len(creates)], fenec.Statement{Text: "put docs {nope: 1}"}))
		require.ErrorIs(t, err, fenec.ErrNotFound)
		_, err = db.Query(ctx, `get docs match body "oak"`)
		require.ErrorIs(t, err, fenec.ErrQuery)
		if folded {
			require.NoError(t, db.Checkpoint(ctx))
		}
	}
	_, err := db.Batch(ctx, creates)
	require.NoError(t, err)
	for range 2 {
		compareBuilt(t, db, r)
		require.NoError(t, db.Checkpoint(ctx))
	}
	for _, field := range []string{"body", "v", "s"} {
		_, err := db.Query(ctx, fmt.Sprintf("create index on docs (%s) @text", field))
		require.ErrorIs(t, err, fenec.ErrExists)
	}
}
