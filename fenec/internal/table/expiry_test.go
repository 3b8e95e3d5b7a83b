package table_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// now is when the tests of expiry take place, and minute how long rows live.
const now, minute = 1_000_000_000_000, 60_000

// sessions opens a database whose row 2 is expired at now, to the millisecond.
func sessions(t testing.TB) (*db, *catalog.Collection) {
	d := newDB(t)
	d.must(t, func(x *tx) error {
		return x.create("create collection ses (who text @unique, seen timestamp @ttl(1m))")
	})
	d.must(t, func(x *tx) error {
		return errors.Join(
			x.put("ses", 1, session("a", now)...), x.put("ses", 2, session("b", now-minute)...),
			x.put("ses", 3, session("c", now-minute+1)...), x.put("ses", 4, value.Text("d")),
			x.put("ses", 5, session("e", now-2*minute)...))
	})
	return d, d.cat.Find("ses")
}

func session(who string, seen int64) []value.Value {
	return []value.Value{value.Text(who), value.Timestamp(seen)}
}

// writer returns a writer for which rows expire.
func (x *tx) writer(name string) *table.Writer {
	w := x.Writer(x.cat.Find(name))
	w.Now = now
	return w
}

func TestExpired(t *testing.T) {
	d, c := sessions(t)
	d.read(t, "ses", func(r *table.Reader) {
		for id, want := range map[uint64]bool{1: false, 2: true, 3: false, 4: false, 5: true} {
			b, err := r.Get(id)
			require.NoError(t, err)
			got, err := table.Expired(c, b, now)
			require.NoError(t, err)
			require.Equal(t, want, got, id)
		}
		for _, most := range []struct {
			n    int
			want []uint64
		}{{1, []uint64{5}}, {2, []uint64{5, 2}}, {9, []uint64{5, 2}}} {
			ids, err := r.ExpiredIDs(now, most.n)
			require.NoError(t, err)
			require.Equal(t, most.want, ids)
		}
		for at, want := range map[int64]int64{now: 2, now + 1: 3, now + minute: 4, now - minute: 1, now - minute - 1: 0, -1 << 63: 0} {
			n, err := r.ExpiredRows(at)
			require.NoError(t, err)
			require.Equal(t, want, n, at)
		}
	})

	plain := threePeople(t)
	plain.read(t, "people", func(r *table.Reader) {
		ids, err := r.ExpiredIDs(now, 9)
		require.NoError(t, err)
		require.Empty(t, ids)
		b, err := r.Get(1)
		require.NoError(t, err)
		gone, err := table.Expired(r.Collection(), b, now)
		require.NoError(t, err)
		require.False(t, gone)
	})
}

// Whether a row is expired is nothing to a writer that was told no time.
func TestWriterWithoutTime(t *testing.T) {
	d, c := sessions(t)
	require.ErrorIs(t, d.block(t, func(x *tx) error { return x.put("ses", 9, session("b", now)...) }), &fault.Error{Kind: fault.Duplicate})
	d.must(t, func(x *tx) error {
		b, err := x.Writer(c).Get(2)
		require.NotNil(t, b)
		return err
	})
}

// What an expired row holds is free, and the row goes before it is taken.
func TestExpiredIsFree(t *testing.T) {
	d, c := sessions(t)
	unique := c.Fields[0].Index
	d.must(t, func(x *tx) error {
		w := x.writer("ses")
		for id, want := range map[uint64]bool{1: true, 2: false, 3: true, 4: true} {
			b, err := w.Get(id)
			require.NoError(t, err)
			require.Equal(t, want, b != nil, id)
		}
		for who, want := range map[string]uint64{"a": 1, "b": 0, "c": 3, "nobody": 0} {
			holder, err := w.Holder(unique, value.Text(who), 0)
			require.NoError(t, err)
			require.Equal(t, want, holder, who)
		}
		b, err := w.Named(2)
		require.NoError(t, err, "it is there, though expired")
		require.Nil(t, b)
		_, err = w.Named(99)
		require.ErrorIs(t, err, table.ErrCorrupt)
		b, err = w.TxReader.Get(2)
		require.NotNil(t, b, "its reader sees it")
		return err
	})
	for _, step := range []struct {
		name    string
		do      func(w *table.Writer) error
		numbers uint64
		change  table.Change // without bytes
	}{
		{"a unique value", func(w *table.Writer) error { return w.Put(9, encode(c, session("b", now))) }, 2, table.Change{Written: 2, Grew: true}},
		{"the id", func(w *table.Writer) error { return w.Put(5, encode(c, session("x", now))) }, 2, table.Change{Written: 2, Grew: true}},
		{"an id that is live", func(w *table.Writer) error { return w.Put(5, encode(c, session("x", now-minute))) }, 1, table.Change{Written: 1}},
		{"a unique value under a live id", func(w *table.Writer) error { return w.Put(9, encode(c, session("x", now-minute))) }, 2, table.Change{Written: 2, Rows: -1}},
		{"its own value", func(w *table.Writer) error { return w.Put(9, encode(c, session("x", now))) }, 2, table.Change{Written: 2, Grew: true}},
	} {
		before := d.Seq()
		d.must(t, func(x *tx) error {
			err := step.do(x.writer("ses"))
			got := x.Change()
			got.LiveBytes = 0
			require.Equal(t, step.change, got, step.name)
			return err
		})
		require.Equal(t, before+step.numbers, d.Seq(), step.name)
	}
	require.ErrorIs(t, d.block(t, func(x *tx) error { return x.writer("ses").Put(8, encode(c, session("c", now))) }), &fault.Error{Kind: fault.Duplicate})
	require.Len(t, d.rows(t, "ses", 0, ^uint64(0), false), 4)
	d.check(t)
}

// An expired row can be changed and deleted where it is.
func TestReplaceExpired(t *testing.T) {
	d, c := sessions(t)
	before := d.Seq()
	d.must(t, func(x *tx) error {
		w := x.writer("ses")
		return errors.Join(w.Replace(2, encode(c, session("b", now))), w.Delete(5))
	})
	require.Equal(t, before+2, d.Seq())
	for _, write := range []func(w *table.Writer) error{
		func(w *table.Writer) error { return w.Replace(5, encode(c, session("f", now))) },
		func(w *table.Writer) error { return w.Replace(99, encode(c, session("f", now))) },
		func(w *table.Writer) error { return w.Delete(5) },
	} {
		require.ErrorIs(t, d.block(t, func(x *tx) error { return write(x.writer("ses")) }), table.ErrCorrupt)
	}
	d.check(t)
}
