package exec_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/exec"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/graphs"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// t0 is the clock of statements, unless a test moves it: 2026-06-01T00:00:00Z.
const t0 = 1780272000000

// testDB is as much of a database as statements need: a store in memory and a
// catalog.
type testDB struct {
	t     testing.TB
	store *store.Store
	cat   *catalog.Catalog
	cache table.Cache
	now   int64 // the clock
}

// openTest opens a database in memory and runs statements in it.
func openTest(t testing.TB, statements ...string) *testDB { return openFile(t, "", statements...) }

func openFile(t testing.TB, path string, statements ...string) *testDB {
	s, err := store.Open(path, store.Options{Sync: store.SyncOff, Load: noLoad, Replay: noReplay})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	db := &testDB{t: t, store: s, cat: &catalog.Catalog{}, now: t0}
	for _, text := range statements {
		_, err := db.run(text)
		require.NoError(t, err, text)
	}
	return db
}

func noLoad(*store.View) error { return nil }

func noReplay(*store.Block, []byte) error { return errors.New("a new store has nothing to replay") }

// outcome is what a statement came to: rows, or documents written.
type outcome struct {
	res      *exec.Result
	affected int
}

// json returns the rows as JSON.
func (o outcome) json(t testing.TB) string {
	require.NotNil(t, o.res)
	b, err := o.res.AppendJSON(nil)
	require.NoError(t, err)
	return string(b)
}

// ids returns the ids of the rows.
func (o outcome) ids() []uint64 {
	ids := []uint64{}
	for i := range o.res.Len() {
		ids = append(ids, o.res.ID(i))
	}
	return ids
}

// params returns Go values as parameters.
func params(t testing.TB, args ...any) []value.Value {
	var out []value.Value
	for _, a := range args {
		v, err := value.FromGo(a)
		require.NoError(t, err)
		out = append(out, v)
	}
	return out
}

// run parses and runs one statement.
func (db *testDB) run(text string, args ...any) (outcome, error) {
	s, err := ql.Parse(text)
	if err != nil {
		return outcome{}, err
	}
	env := exec.Env{Params: params(db.t, args...), Now: db.now}
	switch s := s.(type) {
	case *ql.CreateCollection, *ql.DropCollection, *ql.AlterCollection, *ql.CreateIndex:
		return outcome{}, db.change(func(tx *table.Tx) error { return db.define(tx, s) })
	default:
		c, err := exec.Compile(db.cat, s, exec.Options{})
		if err != nil {
			return outcome{}, err
		}
		return db.exec(context.Background(), c, env)
	}
}

// exec runs a compiled statement.
func (db *testDB) exec(ctx context.Context, c exec.Statement, env exec.Env) (out outcome, err error) {
	if q, ok := c.(exec.Query); ok {
		out.res, err = db.query(ctx, q, env)
		return out, err
	}
	err = db.change(func(tx *table.Tx) error {
		env.Source = inBlock{tx}
		got, err := c.(exec.Write).Run(ctx, env, tx)
		out.affected, out.res = got.Affected, got.Rows
		return err
	})
	return out, err
}

// inView is the collections as a view sees them.
type inView struct{ *store.View }

func (v inView) Table(c *catalog.Collection) plan.Table { return table.NewReader(v.View, c) }

func (inView) Graph(context.Context, *catalog.Collection, *catalog.Index) (*graphs.Graph, error) {
	return nil, errNoGraph
}

// inBlock is the collections as a block has them.
type inBlock struct{ *table.Tx }

func (b inBlock) Table(c *catalog.Collection) plan.Table { return b.Reader(c) }

func (inBlock) Graph(context.Context, *catalog.Collection, *catalog.Index) (*graphs.Graph, error) {
	return nil, errNoGraph
}

var errNoGraph = errors.New("no graphs are kept here")

func (db *testDB) query(ctx context.Context, q exec.Query, env exec.Env) (*exec.Result, error) {
	sn, err := db.store.Snapshot()
	require.NoError(db.t, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	env.Source = inView{v}
	return q.Run(ctx, env)
}

// change runs fn in a block.
func (db *testDB) change(fn func(tx *table.Tx) error) error {
	b, err := db.store.Begin(context.Background(), nil)
	if err != nil {
		return err
	}
	before := db.cat
	tx := db.cache.Begin(b)
	if err = fn(tx); err == nil {
		err = tx.Seal()
	}
	if err != nil {
		b.Rollback()
		db.cat = before
		return err
	}
	_, err = b.Commit(func(uint64) { tx.Publish() })
	return err
}

func (db *testDB) define(tx *table.Tx, s ql.Statement) error {
	switch s := s.(type) {
	case *ql.CreateCollection:
		if s.IfNotExists && db.cat.Find(s.Name.Text) != nil {
			return nil
		}
		cat, col, err := db.cat.Create(s)
		if err != nil {
			return err
		}
		db.cat = cat
		return tx.Create(cat, col)
	case *ql.DropCollection:
		if s.IfExists && db.cat.Find(s.Name.Text) == nil {
			return nil
		}
		cat, col, err := db.cat.Drop(s.Name.Text)
		if err != nil {
			return err
		}
		db.cat = cat
		return tx.Drop(col)
	case *ql.AlterCollection:
		cat, before, after, err := db.cat.Alter(s)
		if err != nil {
			return err
		}
		db.cat = cat
		return tx.Alter(context.Background(), cat, before, after)
	case *ql.CreateIndex:
		cat, before, after, _, err := db.cat.CreateIndex(s)
		if err != nil {
			return err
		}
		db.cat = cat
		return tx.Alter(context.Background(), cat, before, after)
	}
	return nil
}

// must runs a statement that succeeds.
func (db *testDB) must(text string, args ...any) outcome {
	db.t.Helper()
	out, err := db.run(text, args...)
	require.NoError(db.t, err, text)
	return out
}

// fails requires a statement to fail with an error of kind k.
func (db *testDB) fails(k fault.Kind, text string, args ...any) error {
	db.t.Helper()
	_, err := db.run(text, args...)
	require.Error(db.t, err, text)
	require.Equal(db.t, k, fault.KindOf(err), "%s: %v", text, err)
	return err
}

var _ plan.Table = (*table.Writer)(nil)
