package table_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

var ctx = context.Background()

// db is a store with what a database keeps beside it.
type db struct {
	*store.Store
	path  string
	cache table.Cache
	cat   *catalog.Catalog
}

// open opens the database at path, which keeps its log when it is closed.
func open(t testing.TB, path string) *db {
	t.Helper()
	var r table.Replayer
	s, err := store.Open(path, store.Options{NoCheckpoint: true, Load: r.Load, Replay: r.Replay, Merger: table.Merger{}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return &db{Store: s, path: path, cat: r.Catalog()}
}

func newDB(t testing.TB) *db {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "db"))
}

// check closes the database, verifies it and opens it again.
func (d *db) check(t testing.TB) *db {
	t.Helper()
	require.NoError(t, d.Close())
	require.NoError(t, verify(d.path))
	return open(t, d.path)
}

func verify(path string) error {
	var r table.Replayer
	return store.Check(path, store.Options{Load: r.Load, Replay: r.Replay}, table.Verify)
}

// tx is an open block that may change the catalog.
type tx struct {
	*table.Tx
	t   testing.TB
	cat *catalog.Catalog
}

// block runs fn as one block. When fn fails nothing of it stays.
func (d *db) block(t testing.TB, fn func(*tx) error) error {
	t.Helper()
	b, err := d.Begin(ctx, nil)
	require.NoError(t, err)
	x := &tx{Tx: d.cache.Begin(b), t: t, cat: d.cat}
	if err := fn(x); err != nil {
		b.Rollback()
		return err
	}
	require.NoError(t, x.Seal())
	_, err = b.Commit(func(uint64) { x.Publish() })
	require.NoError(t, err)
	d.cat = x.cat
	return nil
}

// must is block for what has to succeed.
func (d *db) must(t testing.TB, fn func(*tx) error) {
	t.Helper()
	require.NoError(t, d.block(t, fn))
}

func (x *tx) create(text string) error {
	x.t.Helper()
	stmt, err := ql.Parse(text)
	require.NoError(x.t, err)
	cat, c, err := x.cat.Create(stmt.(*ql.CreateCollection))
	if err != nil {
		return err
	}
	x.cat = cat
	return x.Create(cat, c)
}

func (x *tx) drop(name string) error {
	cat, c, err := x.cat.Drop(name)
	if err != nil {
		return err
	}
	x.cat = cat
	return x.Drop(c)
}

// change runs an alter or a create index.
func (x *tx) change(text string) error {
	x.t.Helper()
	stmt, err := ql.Parse(text)
	require.NoError(x.t, err)
	var cat *catalog.Catalog
	var before, after *catalog.Collection
	if s, ok := stmt.(*ql.CreateIndex); ok {
		cat, before, after, _, err = x.cat.CreateIndex(s)
	} else {
		cat, before, after, err = x.cat.Alter(stmt.(*ql.AlterCollection))
	}
	if err != nil {
		return err
	}
	x.cat = cat
	return x.Alter(ctx, cat, before, after)
}

func (x *tx) put(name string, id uint64, vals ...value.Value) error {
	c := x.cat.Find(name)
	return x.Writer(c).Put(id, encode(c, vals))
}

func (x *tx) delete(name string, id uint64) error { return x.Writer(x.cat.Find(name)).Delete(id) }

func encode(c *catalog.Collection, vals []value.Value) []byte {
	types := make([]value.Type, len(c.Fields))
	for i := range c.Fields {
		types[i] = c.Fields[i].Type
	}
	return row.Encode(nil, types, vals)
}

// people is the collection most tests use.
const people = "create collection people (name text @unique, age int @sorted, town text @hash, note text)"

func person(name string, age int, town string) []value.Value {
	v := []value.Value{value.Text(name), value.Int(int64(age)), value.Text(town)}
	if name == "" {
		v[0] = value.Value{}
	}
	return v
}

// object returns the json object of one member.
func object(key string, v value.Value) value.Value {
	o, _ := value.Object([]value.Member{{Key: key, Value: v}}) // one member differs from all others
	return o
}

// read calls fn with a reader of a collection.
func (d *db) read(t testing.TB, name string, fn func(*table.Reader)) {
	t.Helper()
	sn, err := d.Snapshot()
	require.NoError(t, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	fn(table.NewReader(v, d.cat.Find(name)))
}

// rows returns the rows of a collection with their ids, first to last, as text.
func (d *db) rows(t testing.TB, name string, first, last uint64, reverse bool) (rows []string) {
	t.Helper()
	d.read(t, name, func(r *table.Reader) {
		s := r.Scan(first, last, reverse)
		for s.Next() {
			text := fmt.Sprint(s.ID())
			for i, f := range r.Collection().Fields {
				if f.Dropped() {
					continue
				}
				v, err := row.Field(s.Row(), i, f.Type)
				require.NoError(t, err)
				text += " " + v.String()
			}
			rows = append(rows, text)
		}
		require.NoError(t, s.Err())
	})
	return rows
}
