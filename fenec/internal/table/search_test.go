package table_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// page is a collection with all search indexes.
const page = "create collection page (body text @text, s sparse<4> @inverted, v vector<2> @hnsw)"

func pageOf(body string, v ...float32) []value.Value {
	s, _ := value.Sparse(4, []value.Entry{{Index: 2, Weight: 0.5}}) // in range
	vals := []value.Value{value.Text(body), s, value.Null}
	if v != nil {
		vals[2] = value.Vector(v)
	}
	return vals
}

func pageDB(t *testing.T) *db {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create(page) })
	d.must(t, func(x *tx) error {
		return errors.Join(x.put("page", 1, pageOf("oak oak elm", 1, 0)...), x.put("page", 2, pageOf("elm", 0, 1)...),
			x.put("page", 3, pageOf("")...))
	})
	return d
}

func (d *db) postings(t *testing.T, x *catalog.Index, prefix []byte) (list []posting.Posting) {
	t.Helper()
	d.read(t, "page", func(r *table.Reader) {
		l, err := r.Postings(x, prefix)
		require.NoError(t, err)
		for ; l.ID() != posting.End; l.Next() {
			p := l.Posting()
			p.ID = l.ID()
			list = append(list, p)
		}
		require.NoError(t, l.Err())
		require.EqualValues(t, len(list), l.DF())
	})
	return list
}

// Postings follow the rows, whether they are folded or not, and in one block as
// over many.
func TestPostings(t *testing.T) {
	d := pageDB(t)
	body, s := d.cat.Find("page").Fields[0].Index, d.cat.Find("page").Fields[1].Index
	term := func(text string) []byte { return posting.TermPrefix(nil, text) }
	for folded := range 3 {
		require.Equal(t, []posting.Posting{{ID: 1, TF: 2, Length: 3}}, d.postings(t, body, term("oak")))
		require.Equal(t, []posting.Posting{{ID: 1, TF: 1, Length: 3}, {ID: 2, TF: 1, Length: 1}}, d.postings(t, body, term("elm")))
		require.Equal(t, []posting.Posting{{ID: 1, TF: 1, Length: 3}, {ID: 2, TF: 1, Length: 1}}, d.postings(t, body, term("")))
		require.Empty(t, d.postings(t, body, term("el")))
		require.Equal(t, []posting.Posting{{ID: 1, Weight: 0.5}, {ID: 2, Weight: 0.5}, {ID: 3, Weight: 0.5}},
			d.postings(t, s, posting.IndexPrefix(nil, 2)))
		require.Empty(t, d.postings(t, s, posting.IndexPrefix(nil, 1)))
		if folded == 0 {
			require.NoError(t, d.Checkpoint(ctx))
			continue
		}
		d.must(t, func(x *tx) error { // there and back in one block, over what is folded
			return errors.Join(x.put("page", 1, pageOf("fir", 1, 0)...), x.delete("page", 2), x.put("page", 2, pageOf("elm", 0, 1)...),
				x.put("page", 1, pageOf("oak elm oak", 1, 0)...))
		})
	}
	d.must(t, func(x *tx) error { return errors.Join(x.delete("page", 1), x.put("page", 2, pageOf("")...)) })
	for range 2 {
		require.Empty(t, d.postings(t, body, term("oak")))
		require.Empty(t, d.postings(t, body, term("elm")))
		require.Empty(t, d.postings(t, body, term("")))
		require.NoError(t, d.Checkpoint(ctx))
	}
	d.check(t)
}

// The figures of a text index are those of the rows, within a block too, and a
// block that is rolled back leaves them.
func TestTextFigures(t *testing.T) {
	d := pageDB(t)
	index := func() *catalog.Index { return d.cat.Find("page").Fields[0].Index }
	figures := func() (f table.TextFigures) {
		d.read(t, "page", func(r *table.Reader) {
			var err error
			f, err = r.TextFigures(index())
			require.NoError(t, err)
		})
		return f
	}
	require.Equal(t, table.TextFigures{Documents: 2, Length: 4}, figures())
	undone := errors.New("undone")
	for _, err := range []error{undone, nil} {
		got := d.block(t, func(x *tx) error {
			require.NoError(t, errors.Join(x.put("page", 3, pageOf("a b c d")...), x.put("page", 1, pageOf("oak")...), x.delete("page", 2)))
			f, ferr := x.Reader(x.cat.Find("page")).TextFigures(index())
			require.NoError(t, ferr)
			require.Equal(t, table.TextFigures{Documents: 2, Length: 5}, f)
			return err
		})
		require.Equal(t, err, got)
		if err != nil {
			require.Equal(t, table.TextFigures{Documents: 2, Length: 4}, figures())
		}
	}
	require.Equal(t, table.TextFigures{Documents: 2, Length: 5}, figures())
	d.must(t, func(x *tx) error {
		return errors.Join(x.put("page", 3, pageOf("")...), x.change("alter collection page drop body"), x.change("alter collection page add body text"))
	})
	d.must(t, func(x *tx) error {
		require.NoError(t, x.change("create index on page (body) @text(chars)"))
		x2 := x.cat.Find("page")
		f, err := x.Reader(x2).TextFigures(x2.Fields[len(x2.Fields)-1].Index)
		require.NoError(t, err)
		require.Zero(t, f)
		return nil
	})
	d.check(t)
}

// What fronts say of vectors becomes pending in the base, by the order of changes,
// one for each change that was the last of its row in a fold.
func TestPendingVectors(t *testing.T) {
	d := pageDB(t)
	x := d.cat.Find("page").Fields[2].Index
	named := func(after table.Pending) (fresh []uint64, pending []table.Pending) {
		d.read(t, "page", func(r *table.Reader) {
			var err error
			fresh, err = r.Fresh(x)
			require.NoError(t, err)
			pending, err = r.PendingAfter(x, after)
			require.NoError(t, err)
		})
		return fresh, pending
	}
	fresh, pending := named(table.Pending{})
	require.Equal(t, []uint64{1, 2}, fresh, "a null that comes is no change")
	require.Empty(t, pending)
	first := d.Seq() - 2
	require.NoError(t, d.Checkpoint(ctx))
	fresh, pending = named(table.Pending{})
	require.Empty(t, fresh)
	require.Equal(t, []table.Pending{{Seq: first, ID: 1}, {Seq: first + 1, ID: 2}}, pending)

	d.must(t, func(x *tx) error { return x.put("page", 1, pageOf("other words", 1, 0)...) })
	d.must(t, func(x *tx) error { return x.put("page", 3, pageOf("", 2, 2)...) })
	d.must(t, func(x *tx) error { return x.put("page", 2, pageOf("")...) })
	d.must(t, func(x *tx) error { return x.delete("page", 3) })
	fresh, _ = named(table.Pending{})
	require.Equal(t, []uint64{2, 3}, fresh, "a text is no vector")
	require.NoError(t, d.Checkpoint(ctx))
	_, pending = named(table.Pending{Seq: first, ID: 1})
	require.Equal(t, []table.Pending{{Seq: first + 1, ID: 2}, {Seq: d.Seq() - 1, ID: 2}, {Seq: d.Seq(), ID: 3}}, pending)

	tx, err := d.Base()
	require.NoError(t, err)
	defer tx.Release()
	some, err := table.PendingIn(tx, x, table.Pending{}, 2)
	require.NoError(t, err)
	require.Equal(t, []table.Pending{{Seq: first, ID: 1}, {Seq: first + 1, ID: 2}}, some)
	linked, err := table.LinkedIn(tx, x.Space)
	require.NoError(t, err)
	require.Zero(t, linked)
}

// Verify finds whatever does not agree with the rows.
func TestVerifySearch(t *testing.T) {
	one := func(p posting.Posting, kind posting.Kind) []byte { return p.AppendValue(nil, kind) }
	at := func(prefix []byte, id uint64) []byte { return posting.AppendID(prefix, id) }
	oak := posting.TermPrefix(nil, "oak")
	for name, c := range map[string]struct {
		tamper func(d *db, x *tx, c *catalog.Collection) error
		want   string
	}{
		"nothing": {func(*db, *tx, *catalog.Collection) error { return nil }, ""},
		"a posting lost": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.Fields[0].Index.Space, at(oak, 1), nil)
		}, `the index of "body" has 4 postings`},
		"a posting too many": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.Fields[0].Index.Space, at(oak, 2), one(posting.Posting{ID: 2, TF: 1, Length: 1}, posting.Text))
		}, `the index of "body" has 6 postings`},
		"a frequency changed": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.Fields[0].Index.Space, at(oak, 1), one(posting.Posting{ID: 1, TF: 3, Length: 3}, posting.Text))
		}, `the index of "body" has 5 postings`},
		"a weight changed": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.Fields[1].Index.Space, at(posting.IndexPrefix(nil, 2), 1), one(posting.Posting{ID: 1, Weight: 2}, posting.Weights))
		}, `the index of "s" has 3 postings`},
		"a posting too short": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.Fields[0].Index.Space, at(oak, 1), []byte{1})
		}, `the index of "body"`},
		"a key without a term": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.Fields[0].Index.Space, []byte("oak"), one(posting.Posting{ID: 1, TF: 1, Length: 1}, posting.Text))
		}, "key 6f616b of a posting"},
		"a key without an index": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.Fields[1].Index.Space, []byte{1}, one(posting.Posting{ID: 1, Weight: 2}, posting.Weights))
		}, "key 01 of a posting"},
		"figures lost": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, table.Meta, binary.BigEndian.AppendUint32([]byte{'t'}, c.Fields[0].Index.Space), nil)
		}, `the figures of the index of "body"`},
		"figures too short": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, table.Meta, binary.BigEndian.AppendUint32([]byte{'t'}, c.Fields[0].Index.Space), []byte{1})
		}, "figures of a text index of 1 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			d := pageDB(t)
			d.must(t, func(x *tx) error { return c.tamper(d, x, x.cat.Find("page")) })
			sn, err := d.Snapshot()
			require.NoError(t, err)
			defer sn.Close()
			v := sn.View()
			defer v.Release()
			if err = table.Verify(v); c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.True(t, errors.Is(err, table.ErrCorrupt) || errors.Is(err, posting.ErrCorrupt), "%v", err)
		})
	}
}
