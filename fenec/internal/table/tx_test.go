package table_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// A hook is told of each row before it is written, with the row that it
// replaces, and not of what the uniqueness check refuses.
func TestHook(t *testing.T) {
	d, c := sessions(t)
	type call struct {
		id            uint64
		before, after []byte
	}
	row := func(who string, seen int64) []byte { return encode(c, session(who, seen)) }
	var calls []call
	refused := errors.New("refused")
	hook := func(col *catalog.Collection, id uint64, before, after []byte) error {
		require.Same(t, c, col)
		calls = append(calls, call{id, bytes.Clone(before), bytes.Clone(after)})
		if id == 66 {
			return refused
		}
		return nil
	}
	d.must(t, func(x *tx) error {
		x.Hook = hook
		w := x.writer("ses")
		return errors.Join(w.Put(7, row("f", now)), w.Put(7, row("b", now)), w.Delete(1), w.Replace(5, row("e", now)))
	})
	require.Equal(t, []call{
		{7, nil, row("f", now)},
		{2, row("b", now-minute), nil}, // which held "b"
		{7, row("f", now), row("b", now)},
		{1, row("a", now), nil},
		{5, row("e", now-2*minute), row("e", now)},
	}, calls)

	calls = nil
	before := d.Seq()
	require.ErrorIs(t, d.block(t, func(x *tx) error {
		x.Hook = hook
		return x.writer("ses").Put(9, row("b", now))
	}), &fault.Error{Kind: fault.Duplicate})
	require.Empty(t, calls)
	require.ErrorIs(t, d.block(t, func(x *tx) error {
		x.Hook = hook
		return x.writer("ses").Put(66, row("g", now))
	}), refused)
	require.Equal(t, before, d.Seq())
	d.must(t, func(x *tx) error { return x.put("ses", 8, session("h", now)...) })
	require.Len(t, calls, 1, "a hook lasts as long as its block")
	d.check(t)
}

// Readers of a block stand beside its writer and each other, and see what it
// has written.
func TestTxReader(t *testing.T) {
	d, c := sessions(t)
	d.must(t, func(x *tx) error {
		require.NoError(t, x.create(people))
		other := x.cat.Find("people")
		ses, ppl := x.Reader(c), x.Reader(other)
		w := x.Writer(other)
		require.NoError(t, w.Put(40, encode(other, person("ann", 1, "x"))))
		require.NoError(t, x.Writer(c).Delete(1))

		n, err := ppl.Rows()
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		b, err := ppl.Get(40)
		require.NoError(t, err)
		require.Equal(t, encode(other, person("ann", 1, "x")), b)
		b, err = ppl.Get(41)
		require.NoError(t, err)
		require.Nil(t, b)
		require.True(t, ppl.Index(other.Fields[0].Index, nil, nil, false).Next())

		f, err := ses.Figures()
		require.NoError(t, err)
		require.EqualValues(t, 4, f.Rows)
		require.EqualValues(t, 5, f.Highest)
		b, err = ses.Get(1)
		require.NoError(t, err)
		require.Nil(t, b)
		ids, err := ses.ExpiredIDs(now, 9)
		require.NoError(t, err)
		require.Equal(t, []uint64{5, 2}, ids)
		return nil
	})
}

// A collection without indexes pays nothing for those that have some.
func TestPutAllocations(t *testing.T) {
	d := newDB(t)
	d.must(t, func(x *tx) error { return x.create("create collection c (a int, b text)") })
	c := d.cat.Find("c")
	b := encode(c, []value.Value{value.Int(1), value.Text("a text of some length")})
	d.must(t, func(x *tx) error {
		put := func(w *table.Writer) { require.NoError(t, w.Put(1, b)) }
		put(x.Writer(c))
		require.Zero(t, testing.AllocsPerRun(100, func() { put(x.Writer(c)) }))
		w := x.Writer(c)
		w.Now = now
		require.Zero(t, testing.AllocsPerRun(100, func() { put(w) }))
		return nil
	})
}
