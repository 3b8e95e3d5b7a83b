package table_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// records returns the records of a log that does all there is to do.
func records(t testing.TB) [][]byte {
	t.Helper()
	d := newDB(t)
	d.must(t, func(x *tx) error {
		return errors.Join(x.create(people), x.create("create collection plain (a json, b [int])"))
	})
	d.must(t, func(x *tx) error {
		return errors.Join(x.put("people", 1, person("ann", 1, "x")...), x.put("people", 2, person("bob", 300, "y")...), x.put("plain", 200))
	})
	d.must(t, func(x *tx) error { return x.put("people", 2, person("eve", -1, "")...) })
	d.must(t, func(x *tx) error { return x.delete("people", 1) })
	d.must(t, func(x *tx) error {
		return errors.Join(x.change("alter collection people add more geo @geo"), x.change("create index on plain (a.k) @unique"),
			x.change("alter collection people drop age"), x.change("alter collection people rename note to remark"))
	})
	d.must(t, func(x *tx) error { return x.drop("plain") })
	require.NoError(t, d.Close())
	var list [][]byte
	h, err := wal.ReadHeader(store.LogPath(d.path), wal.Options{})
	require.NoError(t, err)
	_, err = wal.Read(store.LogPath(d.path), h.Base, wal.Options{}, func(b *wal.Block) error {
		list = append(list, bytes.Clone(b.Payload))
		return nil
	})
	require.NoError(t, err)
	require.Len(t, list, 6)
	return list
}

// replayAll replays records one after another into an empty database in memory,
// and returns the first error.
func replayAll(t testing.TB, list ...[]byte) error {
	t.Helper()
	s, err := store.Open("", store.Options{})
	require.NoError(t, err)
	defer s.Close()
	var r table.Replayer
	for i, rec := range list {
		b, err := s.Begin(ctx, nil)
		require.NoError(t, err)
		if i == 0 {
			require.NoError(t, r.Load(&b.View))
		}
		if err := r.Replay(b, rec); err != nil {
			b.Rollback()
			return err
		}
		require.NoError(t, b.Log(nil, 1))
		_, err = b.Commit(nil)
		require.NoError(t, err)
	}
	sn, err := s.Snapshot()
	require.NoError(t, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	return table.Verify(v)
}

func TestReplay(t *testing.T) {
	require.NoError(t, replayAll(t, records(t)...))
}

// A record that is cut, or in the wrong place, is refused.
func TestDamagedRecords(t *testing.T) {
	list := records(t)
	for i, rec := range list {
		for n := 1; n < len(rec); n++ {
			if err := replayAll(t, append(append([][]byte{}, list[:i]...), rec[:n])...); err != nil {
				requireDamage(t, err)
			} else { // it ends between two operations
				require.NotEqual(t, 5, i)
			}
		}
	}
	for name, rec := range map[string][]byte{
		"no operation":          {0},
		"unknown operation":     {9},
		"no collection":         {1},
		"unknown collection":    {1, 77, 1, 0},
		"a number without end":  bytes.Repeat([]byte{0xff}, 20),
		"a number past 32 bits": {4, 0x81, 0x80, 0x80, 0x80, 0x10},
		"a row past the end":    {1, 1, 1, 200, 1, 2, 3},
		"the same collection":   list[0],
		"a row that is none":    {1, 1, 1, 2, 7, 7},
		"a delete of nothing":   {2, 1, 99},
		"a definition past it":  {5, 200, 1},
		"no definition":         {5, 3, 1, 2, 3},
		"an unknown definition": append([]byte{5}, list[0][1:]...)[:1+len(list[0])/2],
	} {
		err := replayAll(t, list[0], rec)
		require.Error(t, err, name)
	}
	require.Error(t, replayAll(t, list[1]), "rows of a collection that is not there")
}

// requireDamage checks that err says that something is wrong with a record.
func requireDamage(t testing.TB, err error) {
	t.Helper()
	for _, want := range []error{table.ErrCorrupt, row.ErrCorrupt, catalog.ErrCorrupt} {
		if errors.Is(err, want) {
			return
		}
	}
	require.NotZero(t, fault.KindOf(err), "%v", err) // a name that is taken, or not there
}

// No bytes in a record make a replay, or what reads its work, panic.
func FuzzReplay(f *testing.F) {
	list := records(f)
	for _, rec := range list {
		f.Add(rec)
	}
	f.Add(bytes.Join(list[1:], nil))
	f.Fuzz(func(t *testing.T, rec []byte) {
		if err := replayAll(t, list[0], list[1], rec); err != nil {
			requireDamage(t, err)
		}
		_ = replayAll(t, rec)
	})
}
