package table_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// threePeople opens a database with three rows.
func threePeople(t testing.TB) *db {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create(people) })
	d.must(t, func(x *tx) error {
		return errors.Join(
			x.put("people", 1, person("ann", 30, "oslo")...),
			x.put("people", 2, person("bob", 20, "rome")...),
			x.put("people", 3, person("", 20, "oslo")...))
	})
	return d
}

// entries returns the ids of an index, in its order.
func (d *db) entries(t testing.TB, name string, field int, keys ...string) (ids []uint64) {
	t.Helper()
	c := d.cat.Find(name)
	x := c.Fields[field].Index
	if keys != nil {
		x = c.PathIndex(field, keys)
	}
	require.NotNil(t, x)
	d.read(t, name, func(r *table.Reader) {
		s := r.Index(x, nil, nil, false)
		for s.Next() {
			ids = append(ids, s.ID())
		}
		require.NoError(t, s.Err())
	})
	return ids
}

// An alteration holds for the rows that are there, and still does after a
// restart.
func TestAlter(t *testing.T) {
	d := threePeople(t)
	d.must(t, func(x *tx) error { return x.change("alter collection people add zip int @hash") })
	d.must(t, func(x *tx) error { return x.change("alter collection people drop age") })
	d.must(t, func(x *tx) error { return x.change("alter collection people rename town to city") })
	d.must(t, func(x *tx) error { return x.change("create index on people (note) @sorted") })
	d.must(t, func(x *tx) error {
		return x.put("people", 2, value.Text("bob"), value.Null, value.Text("pisa"), value.Text("x"), value.Int(7))
	})
	for range 2 {
		require.Equal(t, []string{`1 "ann" "oslo" null null`, `2 "bob" "pisa" "x" 7`, `3 null "oslo" null null`},
			d.rows(t, "people", 0, ^uint64(0), false))
		require.Equal(t, []uint64{1, 3, 2}, d.entries(t, "people", 4))
		require.Equal(t, []uint64{1, 3, 2}, d.entries(t, "people", 2))
		require.Equal(t, []uint64{1, 3, 2}, d.entries(t, "people", 3))
		d = d.check(t)
	}
	d.must(t, func(x *tx) error { return x.change("alter collection people add age int @sorted") })
	require.Equal(t, `1 "ann" "oslo" null null null`, d.rows(t, "people", 0, 1, false)[0], "what was dropped stays gone")
	require.Equal(t, []uint64{1, 2, 3}, d.entries(t, "people", 5))
	require.NoError(t, d.Checkpoint(ctx))
	d.check(t)
}

// Each alteration takes one number, and what was dropped leaves no entries once
// it is folded.
func TestAlterSequence(t *testing.T) {
	d := threePeople(t)
	spaces := map[uint32]bool{}
	for _, text := range []string{
		"alter collection people add j json @hash", "create index on people (j.k) @unique", "alter collection people rename j to l",
		"alter collection people drop l", "alter collection people drop age",
	} {
		for _, s := range d.cat.Find("people").Spaces() {
			spaces[s] = true
		}
		before := d.Seq()
		d.must(t, func(x *tx) error { return x.change(text) })
		require.Equal(t, before+1, d.Seq(), text)
	}
	require.NoError(t, d.Checkpoint(ctx))
	for _, s := range d.cat.Find("people").Spaces() {
		delete(spaces, s)
	}
	require.Len(t, spaces, 3)
	d.read(t, "people", func(r *table.Reader) {
		for s := range spaces {
			require.False(t, r.Index(&catalog.Index{Space: s}, nil, nil, false).Next(), s)
		}
	})
	d.check(t)
}

func TestCreateUniqueIndex(t *testing.T) {
	long := strings.Repeat("x", 2*key.MaxLen)
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create("create collection c (a text, j json, k int)") })
	put := func(id uint64, a string, j value.Value) {
		d.must(t, func(x *tx) error { return x.put("c", id, value.Text(a), j) })
	}
	put(1, "one", object("k", value.Int(3)))
	put(4, long+"1", object("k", value.Text(long+"1")))
	put(5, long+"2", object("k", value.Text(long+"2")))
	put(7, "two", object("x", value.Int(3)))
	put(8, "three", value.Null)
	d.must(t, func(x *tx) error {
		return errors.Join(x.change("create index on c (a) @unique"), x.change("create index on c (j.k) @unique"))
	})
	require.Equal(t, []uint64{7, 8, 1}, d.entries(t, "c", 1, "k")[:3])
	d.must(t, func(x *tx) error {
		return errors.Join(x.change("alter collection c drop a"), x.change("alter collection c add b text"))
	})
	d = d.check(t)

	d = newDB(t)
	d.must(t, func(x *tx) error { return x.create("create collection c (a text, j json)") })
	put(1, "one", object("k", value.Int(3)))
	put(2, "two", value.Text("no object"))
	put(5, "one", object("k", value.Float(3)))
	put(6, long+"1", object("l", value.Text(long+"1")))
	put(7, long+"2", object("l", value.Text(long+"2")))
	put(9, long+"1", object("l", value.Text(long+"1")))
	d.must(t, func(x *tx) error { return x.change("alter collection c add m json") })
	for text, want := range map[string]string{
		"create index on c (a) @unique":   `duplicate: c.a: "one" is held by id 1 and id 5`,
		"create index on c (j.k) @unique": `duplicate: c.j.k: 3 is held by id 1 and id 5`,
		"create index on c (j.l) @unique": `is held by id 6 and id 9`,
	} {
		before := d.cat
		err := d.block(t, func(x *tx) error { return x.change(text) })
		require.ErrorIs(t, err, &fault.Error{Kind: fault.Duplicate}, text)
		require.ErrorContains(t, err, want, text)
		require.Same(t, before, d.cat)
	}
	d.must(t, func(x *tx) error { return x.change("create index on c (j.x) @unique") }) // null all over
	d.check(t)
}

// A unique path is checked by writes as a unique field is.
func TestUniquePath(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create("create collection note (body json)") })
	d.must(t, func(x *tx) error { return x.change("create index on note (body.a.b) @unique") })
	at := func(v value.Value) value.Value { return object("a", object("b", v)) }
	d.must(t, func(x *tx) error {
		return errors.Join(x.put("note", 1, at(value.Text("x"))), x.put("note", 2, at(value.Null)), x.put("note", 3, value.Int(1)),
			x.put("note", 4, object("a", value.Text("x"))), x.put("note", 5), x.put("note", 1, at(value.Text("x"))))
	})
	err := d.block(t, func(x *tx) error { return x.put("note", 6, at(value.Text("x"))) })
	require.EqualError(t, err, `duplicate: note.body.a.b: "x" is held by id 1`)
	c := d.cat.Find("note")
	d.must(t, func(x *tx) error {
		holder, err := x.Writer(c).Holder(c.Paths[0], value.Text("x"), 0)
		require.EqualValues(t, 1, holder)
		return errors.Join(err, x.put("note", 1, at(value.Text("y"))), x.put("note", 6, at(value.Text("x"))), x.delete("note", 6), x.put("note", 7, at(value.Text("x"))))
	})
	d.check(t)
}

// Entries of a collated field are in the order of its collation, those of
// points in the order of cells.
func TestIndexKinds(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error {
		return x.create("create collection c (w text collate tr @sorted, p geo @geo, l [text] collate tr @hash)")
	})
	for i, w := range []string{"şal", "su", "ışık", "iz", "çam", "can"} {
		d.must(t, func(x *tx) error {
			return x.put("c", uint64(i+1), value.Text(w), value.Point(float64(i), float64(i)), value.List([]value.Value{value.Text(w)}))
		})
	}
	d.must(t, func(x *tx) error { return x.put("c", 7) })
	require.Equal(t, []uint64{7, 6, 5, 3, 4, 2, 1}, d.entries(t, "c", 0))
	require.Equal(t, []uint64{7, 6, 5, 3, 4, 2, 1}, d.entries(t, "c", 2))
	require.Equal(t, []uint64{7, 1, 2, 3, 4, 5, 6}, d.entries(t, "c", 1))
	d.check(t)
}

// An alteration counts toward a block as what it adds, and not as rows.
func TestAlterChange(t *testing.T) {
	d := threePeople(t)
	for text, grew := range map[string]bool{
		"alter collection people add a int":           true,
		"create index on people (note) @hash":         true,
		"alter collection people rename town to city": false,
		"alter collection people drop age":            false,
	} {
		d.must(t, func(x *tx) error {
			err := x.change(text)
			require.Equal(t, table.Change{Grew: grew}, x.Change(), text)
			return err
		})
	}
	d.check(t)
}

// A block that fails leaves the definition and the indexes as they were.
func TestAlterRolledBack(t *testing.T) {
	d := threePeople(t)
	failed := errors.New("failed")
	require.ErrorIs(t, d.block(t, func(x *tx) error {
		return errors.Join(x.change("alter collection people drop age"), x.put("people", 4, person("d", 1, "")...),
			x.change("create index on people (note) @hash"), x.change("alter collection people drop note"), failed)
	}), failed)
	require.Equal(t, []uint64{2, 3, 1}, d.entries(t, "people", 1))
	d.must(t, func(x *tx) error {
		return errors.Join(x.change("create index on people (note) @hash"), x.put("people", 4, person("d", 1, "")...),
			x.change("alter collection people drop note"), x.change("alter collection people add note int @unique"),
			x.put("people", 5, value.Text("e"), value.Int(2), value.Null, value.Null, value.Int(5)))
	})
	require.Equal(t, []uint64{1, 2, 3, 4, 5}, d.entries(t, "people", 4))
	d.check(t)
}

// Building an index heeds its context and the bound of a block's memory.
func TestBuildStopped(t *testing.T) {
	s, err := store.Open("", store.Options{BlockBytes: 1 << 20})
	require.NoError(t, err)
	d := &db{Store: s, cat: new(catalog.Catalog)}
	defer s.Close()
	d.must(t, func(x *tx) error { return x.create(people) })
	for from := range 20 {
		d.must(t, func(x *tx) error {
			for i := range 500 {
				if err := x.put("people", uint64(from*500+i+1), value.Text(fmt.Sprint(from*500+i)), value.Null, value.Null, value.Text(strings.Repeat("n", 100))); err != nil {
					return err
				}
			}
			return nil
		})
	}
	alter := func(ctx context.Context) error {
		return d.block(t, func(x *tx) error {
			stmt, err := ql.Parse("create index on people (note) @hash")
			require.NoError(t, err)
			cat, before, after, _, err := x.cat.CreateIndex(stmt.(*ql.CreateIndex))
			require.NoError(t, err)
			return x.Alter(ctx, cat, before, after)
		})
	}
	require.ErrorIs(t, alter(ctx), store.ErrBlockTooLarge)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, alter(ended), context.Canceled)
}
