package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func idKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

func entryKey(v value.Value, id uint64) []byte { return append(key.Append(nil, v), idKey(id)...) }

func figuresKey(c *catalog.Collection) []byte {
	return binary.BigEndian.AppendUint32([]byte{'f'}, c.Number)
}

// tamper changes a key in the block of x, past everything that keeps the rest
// in step. nil takes the key away.
func tamper(d *db, x *tx, space uint32, k, val []byte) error {
	b := x.Block()
	if val == nil {
		return b.Delete(space, k)
	}
	return b.Put(space, k, val)
}

// Verify finds whatever does not agree with the rest.
func TestVerify(t *testing.T) {
	ann := person("ann", 1, "x")
	sealed := func(c *catalog.Collection, vals []value.Value) []byte { return row.Seal(encode(c, vals)) }
	for name, c := range map[string]struct {
		tamper func(d *db, x *tx, c *catalog.Collection) error
		want   string
	}{
		"nothing": {func(*db, *tx, *catalog.Collection) error { return nil }, ""},
		"a row lost": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.RowSpace, idKey(1), nil)
		}, "figures are"},
		"a row changed": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.RowSpace, idKey(1), sealed(c, person("ann", 2, "x")))
		}, `id 1 is missing in the index of "age"`},
		"a checksum wrong": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.RowSpace, idKey(1), append(encode(c, ann), 1, 2, 3, 4))
		}, "damaged"},
		"no row under the seal": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.RowSpace, idKey(1), row.Seal([]byte("rubbish")))
		}, `id 1: value`},
		"a row too many": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.RowSpace, idKey(7), sealed(c, person("eve", 2, "x")))
		}, "id 7 is missing"},
		"an id of another length": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.RowSpace, []byte{1}, sealed(c, ann))
		}, "an id of 1 bytes"},
		"an entry lost": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.Fields[2].Index.Space, entryKey(value.Text("x"), 1), nil)
		}, `id 1 is missing in the index of "town"`},
		"an entry too many": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.Fields[1].Index.Space, entryKey(value.Int(9), 1), []byte{})
		}, `the index of "age" has 3 entries for 2 rows`},
		"an entry too short": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, c.Fields[1].Index.Space, []byte{1, 2}, []byte{})
		}, "an index entry of 2 bytes"},
		"a unique value twice": {func(d *db, x *tx, c *catalog.Collection) error {
			return errors.Join(
				tamper(d, x, c.RowSpace, idKey(2), sealed(c, ann)),
				tamper(d, x, c.Fields[0].Index.Space, entryKey(value.Text("bob"), 2), nil),
				tamper(d, x, c.Fields[0].Index.Space, entryKey(value.Text("ann"), 2), []byte{}))
		}, "holds a value twice, the second time for id 2"},
		"figures lost": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, table.Meta, figuresKey(c), nil)
		}, "figures are"},
		"figures too short": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, table.Meta, figuresKey(c), []byte{1})
		}, "figures of 1 bytes"},
		"a highest id too low": {func(d *db, x *tx, c *catalog.Collection) error {
			f := make([]byte, 24)
			f[7], f[23] = 2, 1
			binary.BigEndian.PutUint64(f[8:], uint64(len(encode(c, ann))+len(encode(c, person("bob", 1, "x")))))
			return tamper(d, x, table.Meta, figuresKey(c), f)
		}, "figures are"},
		"a sum wrong": {func(d *db, x *tx, c *catalog.Collection) error {
			f, err := x.View().Get(table.Meta, figuresKey(c))
			f = bytes.Clone(f)
			f[31] ^= 1
			return errors.Join(err, tamper(d, x, table.Meta, figuresKey(c), f))
		}, "figures are"},
		"no sum": {func(d *db, x *tx, c *catalog.Collection) error {
			f, err := x.View().Get(table.Meta, figuresKey(c))
			return errors.Join(err, tamper(d, x, table.Meta, figuresKey(c), bytes.Clone(f[:24])))
		}, ""},
		"a definition damaged": {func(d *db, x *tx, c *catalog.Collection) error {
			return tamper(d, x, table.Meta, binary.BigEndian.AppendUint32([]byte{'c'}, c.Number), []byte("rubbish"))
		}, "damaged"},
		"the next number lost": {func(d *db, x *tx, _ *catalog.Collection) error {
			return tamper(d, x, table.Meta, []byte{'n'}, nil)
		}, "damaged"},
		"a next number too short": {func(d *db, x *tx, _ *catalog.Collection) error {
			return tamper(d, x, table.Meta, []byte{'n'}, []byte{1})
		}, "a next number of 1 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDB(t)
			d.must(t, func(x *tx) error { return x.create(people) })
			d.must(t, func(x *tx) error {
				return errors.Join(x.put("people", 1, ann...), x.put("people", 2, person("bob", 1, "x")...))
			})
			d.must(t, func(x *tx) error { return c.tamper(d, x, x.cat.Find("people")) })
			sn, err := d.Snapshot()
			require.NoError(t, err)
			defer sn.Close()
			v := sn.View()
			defer v.Release()
			err = table.Verify(v)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.True(t, errors.Is(err, table.ErrCorrupt) || errors.Is(err, catalog.ErrCorrupt) || errors.Is(err, row.ErrCorrupt))
		})
	}
}
