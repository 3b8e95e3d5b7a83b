package graphs_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/graphs"
	"github.com/fenec-go/fenecdb/fenec/internal/hnsw"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// stored returns the graph as the base has it, by key.
func stored(t *testing.T, d *db) (keys []string, values [][]byte) {
	t.Helper()
	tx, err := d.Base()
	require.NoError(t, err)
	defer tx.Release()
	cur, err := tx.Cursor(d.index().GraphSpace())
	require.NoError(t, err)
	for err = cur.SeekGE(nil); err == nil && cur.Key != nil; err = cur.Next() {
		keys, values = append(keys, string(cur.Key)), append(values, slices.Clone(cur.Value))
	}
	require.NoError(t, err)
	return keys, values
}

// Damage to what is stored gives an error, each time it is asked for, or does no
// harm: no graph lacks rows that nothing tells of.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 72))
	d := newDB(t)
	rows := some(r, 1, 200)
	d.put(t, rows)
	require.NoError(t, d.Checkpoint(ctx))
	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	d = d.reopened(t)
	keys, values := stored(t, d)
	require.Greater(t, len(keys), 2)
	f := copyOf(t, d)
	refused, lost := 0, 0
	for trial := range 300 {
		i := r.IntN(len(keys))
		b := slices.Clone(values[i])
		if trial%10 == 0 {
			b = b[:r.IntN(len(b))]
		} else {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		write := func(val []byte) {
			fold(t, f, []base.Change{{Space: d.index().GraphSpace(), Key: []byte(keys[i]), Value: val}})
		}
		write(b)
		set := graphs.New(d.path, f.Acquire, d.cat.Load, graphs.Folds{})
		g, err := set.Graph(ctx, d.c(), d.index())
		if err != nil {
			require.True(t, errors.Is(err, hnsw.ErrCorrupt) || errors.Is(err, table.ErrCorrupt) || errors.Is(err, row.ErrCorrupt), "%v", err)
			_, again := set.Graph(ctx, d.c(), d.index())
			require.EqualError(t, again, err.Error())
			refused++
		} else {
			for id, v := range rows {
				if nearest(t, g, v) != id {
					lost++
					break
				}
			}
		}
		set.Close()
		write(values[i])
	}
	require.Positive(t, refused)
	require.Zero(t, lost, "graphs that lack rows, and say nothing")
	require.NoError(t, f.Close())
	d.close(t)
}

// A row under a key that is no id gives an error, wherever it stands.
func TestNoID(t *testing.T) {
	d := newDB(t)
	d.put(t, some(rand.New(rand.NewPCG(9, 72)), 1, 40))
	require.NoError(t, d.Checkpoint(ctx))
	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	d = d.reopened(t)
	keys, _ := stored(t, d)
	require.Greater(t, len(keys), 2)
	for _, key := range []string{"\x00", "\x00\x00\x00\x00\x00\x00\x00\x08x", "\xff\xff\xff"} {
		f := copyOf(t, d)
		fold(t, f, []base.Change{{Space: d.c().RowSpace, Key: []byte(key), Value: row.Seal(nil)}})
		set := graphs.New(d.path, f.Acquire, d.cat.Load, graphs.Folds{})
		_, err := set.Graph(ctx, d.c(), d.index())
		require.ErrorIs(t, err, table.ErrCorrupt, "%x", key)
		set.Close()
		require.NoError(t, f.Close())
	}
	d.close(t)
}

// A row that a stored graph has and that is not there is damage, unless the change is
// pending.
func TestLostRow(t *testing.T) {
	d := newDB(t)
	d.put(t, some(rand.New(rand.NewPCG(9, 73)), 1, 40))
	require.NoError(t, d.Checkpoint(ctx))
	require.NoError(t, d.set.Link(ctx, d.c(), d.index()))
	d = d.reopened(t)
	key := binary.BigEndian.AppendUint64(nil, 7)
	for _, pending := range []bool{false, true} {
		f := copyOf(t, d)
		changes := []base.Change{{Op: base.OpDelete, Space: d.c().RowSpace, Key: key}}
		if pending {
			p := table.Pending{Seq: 1 << 40, ID: 7}
			changes = append(changes, base.Change{Space: d.index().Space, Key: p.Append(nil)})
		}
		fold(t, f, changes)
		set := graphs.New(d.path, f.Acquire, d.cat.Load, graphs.Folds{})
		_, err := set.Graph(ctx, d.c(), d.index())
		if pending {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, table.ErrCorrupt)
		}
		set.Close()
		require.NoError(t, f.Close())
	}
	d.close(t)
}

// copyOf returns a base in memory with what the one of d has of c.
func copyOf(t *testing.T, d *db) *base.File {
	t.Helper()
	f, err := base.OpenMemory()
	require.NoError(t, err)
	tx, err := d.Base()
	require.NoError(t, err)
	defer tx.Release()
	var all []base.Change
	for _, space := range []uint32{d.c().RowSpace, d.index().Space, d.index().GraphSpace()} {
		cur, err := tx.Cursor(space)
		require.NoError(t, err)
		for err = cur.SeekGE(nil); err == nil && cur.Key != nil; err = cur.Next() {
			all = append(all, base.Change{Space: space, Key: slices.Clone(cur.Key), Value: slices.Clone(cur.Value)})
		}
		require.NoError(t, err)
	}
	fold(t, f, all)
	return f
}

func fold(t *testing.T, f *base.File, list []base.Change) {
	t.Helper()
	require.NoError(t, f.Fold(f.Folded(), func() (base.Change, bool) {
		if len(list) == 0 {
			return base.Change{}, false
		}
		c := list[0]
		list = list[1:]
		return c, true
	}))
}
