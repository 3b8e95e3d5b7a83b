package fenec_test

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// forest returns a database of n vectors, all folded, with an index that has linked
// none.
func forest(t *testing.T, n int) *fenec.DB {
	t.Helper()
	db, err := fenec.Open(filepath.Join(t.TempDir(), "db"), fenec.Options{Sync: fenec.SyncOff})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.Exec(ctx, "create collection trees (v vector<3> @hnsw(l2, m=6, ef_construction=40, ef_search=24))")
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(5, 63))
	_, err = db.Load(ctx, "put trees {v: $1}", func(yield func([]any, error) bool) {
		for range n {
			if !yield([]any{point(r, 3, false)}, nil) {
				return
			}
		}
	})
	require.NoError(t, err)
	require.NoError(t, db.Checkpoint(ctx))
	return db
}

const nearTrees = "get id from trees near v $1 limit 3"

// copied returns a database made of an image of db.
func copied(t *testing.T, db *fenec.DB) *fenec.DB {
	t.Helper()
	var image bytes.Buffer
	require.NoError(t, db.Image(ctx, &image))
	path := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, fenec.Install(path, &image))
	c, err := fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		require.NoError(t, fenec.Check(path))
	})
	return c
}

func unlinkedVectors(t *testing.T, db *fenec.DB) int64 {
	t.Helper()
	st, err := db.Stats()
	require.NoError(t, err)
	return st.UnlinkedVectors
}

// An image has the graphs as they are linked when it is made, though nothing has been
// written since.
func TestImageHasWhatIsLinked(t *testing.T) {
	db := forest(t, 3000)
	v := []float32{0, 0, 1}
	untilLinked(t, db, nearTrees, v)
	seq := db.Seq()
	c := copied(t, db)
	require.Equal(t, seq, c.Seq())
	require.Zero(t, unlinkedVectors(t, c))
	plan := planOf(t, c, nearTrees, v)
	require.Contains(t, plan, "graph of 3000 vectors")
	require.Contains(t, plan, "and 0 rows that changed")
}

// A copy of what is not linked yet links it by itself, once it is searched.
func TestCopyLinksTheRest(t *testing.T) {
	const n = 3000
	c := copied(t, forest(t, n))
	require.EqualValues(t, n, unlinkedVectors(t, c))
	v := []float32{0, 0, 1}
	require.Contains(t, untilLinked(t, c, nearTrees, v), "graph of 3000 vectors")
	require.Zero(t, unlinkedVectors(t, c))
	require.Zero(t, unlinkedVectors(t, copied(t, c)), "and hands it on")
}
