package graphs_test

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/graphs"
	"github.com/fenec-go/fenecdb/fenec/internal/hnsw"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

var ctx = context.Background()

const dim = 3

// db is a store whose collection c has a vector index, with its graphs.
type db struct {
	*store.Store
	path  string
	set   *graphs.Set
	cat   atomic.Pointer[catalog.Catalog]
	cache table.Cache
}

// open opens the database at path, and makes one with the collection if there is
// none.
func open(t testing.TB, path string, opts store.Options) *db {
	t.Helper()
	d := &db{path: path}
	var r table.Replayer
	d.set = graphs.New(path, func() (*base.Tx, error) { return d.Base() }, func() *catalog.Catalog {
		if cat := d.cat.Load(); cat != nil {
			return cat
		}
		return new(catalog.Catalog)
	}, graphs.Folds{Soon: func() { d.FoldSoon() }, WhenIdle: func() { d.FoldWhenIdle() }})
	opts.Load, opts.Replay, opts.Merger, opts.Owners = r.Load, r.Replay, table.Merger{}, []store.Owner{d.set}
	var err error
	d.Store, err = store.Open(path, opts)
	require.NoError(t, err)
	d.cat.Store(r.Catalog())
	if r.Catalog().Find("c") == nil {
		d.create(t, "create collection c (v vector<3> @hnsw(l2, m=4, ef_construction=20), n int)")
	}
	return d
}

func newDB(t testing.TB) *db {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "db"), store.Options{})
}

// close closes the graphs and the store, which is checked.
func (d *db) close(t testing.TB) {
	t.Helper()
	d.set.Close()
	require.NoError(t, d.Store.Close())
	require.NoError(t, check(d.path, table.Verify))
	require.NoError(t, verify(d.path))
}

// check checks a closed database.
func check(path string, verify func(*store.View) error) error {
	var r table.Replayer
	return store.Check(path, store.Options{Load: r.Load, Replay: r.Replay}, verify)
}

// verify checks the graphs of a closed database.
func verify(path string) error {
	var r table.Replayer
	return store.Check(path, store.Options{Load: r.Load, Replay: r.Replay}, func(v *store.View) error {
		return graphs.Verify(v, r.Catalog())
	})
}

// reopened closes the database and opens it again.
func (d *db) reopened(t testing.TB) *db {
	t.Helper()
	d.close(t)
	return open(t, d.path, store.Options{})
}

// block runs fn as one block.
func (d *db) block(t testing.TB, fn func(*table.Tx) error) {
	t.Helper()
	b, err := d.Begin(ctx, nil)
	require.NoError(t, err)
	tx := d.cache.Begin(b)
	require.NoError(t, fn(tx))
	require.NoError(t, tx.Seal())
	_, err = b.Commit(func(uint64) { tx.Publish() })
	require.NoError(t, err)
}

func (d *db) create(t testing.TB, text string) {
	t.Helper()
	stmt, err := ql.Parse(text)
	require.NoError(t, err)
	cat, c, err := d.cat.Load().Create(stmt.(*ql.CreateCollection))
	require.NoError(t, err)
	d.block(t, func(tx *table.Tx) error { return tx.Create(cat, c) })
	d.cat.Store(cat)
}

func (d *db) drop(t testing.TB, name string) {
	t.Helper()
	cat, c, err := d.cat.Load().Drop(name)
	require.NoError(t, err)
	d.block(t, func(tx *table.Tx) error { return tx.Drop(c) })
	d.cat.Store(cat)
}

func (d *db) c() *catalog.Collection { return d.cat.Load().Find("c") }

func (d *db) index() *catalog.Index { return d.c().Fields[0].Index }

func (d *db) graph(t testing.TB) *graphs.Graph {
	t.Helper()
	g, err := d.set.Graph(ctx, d.c(), d.index())
	require.NoError(t, err)
	return g
}

// put writes rows in one block; one without a vector has null.
func (d *db) put(t testing.TB, rows map[uint64][]float32) {
	t.Helper()
	types := []value.Type{value.VectorType(dim, false), value.TypeInt}
	d.block(t, func(tx *table.Tx) error {
		for id, v := range rows {
			vals := []value.Value{value.Null, value.Int(int64(id % 7))}
			if v != nil {
				vals[0] = value.Vector(v)
			}
			if err := tx.Writer(d.c()).Put(id, row.Encode(nil, types, vals)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *db) delete(t testing.TB, id uint64) {
	t.Helper()
	d.block(t, func(tx *table.Tx) error { return tx.Writer(d.c()).Delete(id) })
}

// view calls fn with a reader of c at a snapshot of its own.
func (d *db) view(t testing.TB, fn func(*table.Reader)) {
	t.Helper()
	sn, err := d.Snapshot()
	require.NoError(t, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	fn(table.NewReader(v, d.c()))
}

func random(r *rand.Rand) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// some makes n rows with the ids from first on.
func some(r *rand.Rand, first, n int) map[uint64][]float32 {
	rows := map[uint64][]float32{}
	for i := range n {
		rows[uint64(first+i)] = random(r)
	}
	return rows
}

// nearest returns the id that the graph has nearest to v, 0 if it has none. All
// vectors are measured.
func nearest(t testing.TB, g *graphs.Graph, v []float32) (id uint64) {
	t.Helper()
	hits, err := g.Exhaust(ctx, hnsw.Query{Vector: v, K: 1}, nil)
	require.NoError(t, err)
	best := float32(math.Inf(1))
	for _, h := range hits {
		if h.Score < best {
			id, best = h.ID, h.Score
		}
	}
	return id
}
