package store_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// lists is a Merger that keeps, for all keys with the same first byte, one key
// in the base: that byte, with the rest of the keys and their values as text.
type lists struct{}

func (lists) Merge(tx *base.Tx, space uint32, next func() (base.Change, bool)) (out []base.Change, err error) {
	var list map[string]string
	var head []byte
	flush := func() {
		if head != nil {
			out = append(out, base.Change{Space: space, Key: head, Value: appendList(nil, list)})
		}
	}
	for c, ok := next(); ok; c, ok = next() {
		if head == nil || head[0] != c.Key[0] {
			flush()
			head = []byte{c.Key[0]}
			old, err := tx.Get(space, head)
			if err != nil {
				return nil, err
			}
			list = parseList(old)
		}
		if c.Op == base.OpDelete {
			delete(list, string(c.Key[1:]))
		} else {
			list[string(c.Key[1:])] = string(c.Value)
		}
	}
	flush()
	return out, nil
}

func parseList(b []byte) map[string]string {
	list := map[string]string{}
	for entry := range strings.FieldsSeq(string(b)) {
		k, v, _ := strings.Cut(entry, "=")
		list[k] = v
	}
	return list
}

func appendList(dst []byte, list map[string]string) []byte {
	for _, k := range slices.Sorted(maps.Keys(list)) {
		dst = append(dst, k+"="+list[k]+" "...)
	}
	return dst
}

// contents returns what a merged space holds by base and fronts together.
func contents(t *testing.T, v *store.View, space uint32) map[string]string {
	t.Helper()
	out := map[string]string{}
	folded, err := v.Folded(space)
	require.NoError(t, err)
	for folded.SeekGE(nil); folded.Valid(); folded.Next() {
		require.Len(t, folded.Key(), 1)
		for rest, val := range parseList(folded.Value()) {
			out[string(folded.Key())+rest] = val
		}
	}
	require.NoError(t, folded.Err())
	var last []byte
	for fresh := v.Fresh(space, nil, nil); fresh.Next(); {
		require.True(t, last == nil || bytes.Compare(last, fresh.Key()) < 0)
		last = append(last[:0], fresh.Key()...)
		if fresh.Gone() {
			delete(out, string(fresh.Key()))
		} else {
			out[string(fresh.Key())] = string(fresh.Value())
		}
	}
	return out
}

// TestMergedSpaces writes to merged and to plain spaces, with checkpoints,
// snapshots that stand in their way, drops, compactions and reopening.
func TestMergedSpaces(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(3, seed))
		path := filepath.Join(t.TempDir(), "db")
		opts := store.Options{Merger: lists{}, Sync: store.SyncOff, NoCheckpoint: seed%2 == 0}
		s := open(t, path, opts)
		m := model{}
		var held *store.Snapshot
		var then model
		for range 60 {
			var ops []op
			for range 1 + r.IntN(20) {
				o := op{[]uint32{1, store.MergedSpaces, store.MergedSpaces + 7}[r.IntN(3)], fmt.Sprintf("%c%02d", 'a'+rune(r.IntN(4)), r.IntN(30)), nil}
				if r.IntN(3) > 0 {
					o.val = []byte(fmt.Sprint(r.IntN(1000)))
				}
				ops = append(ops, o)
				m.apply(o)
			}
			write(t, s, ops...)
			switch r.IntN(12) {
			case 0:
				require.NoError(t, s.Checkpoint(ctx))
			case 1:
				require.NoError(t, s.Compact(ctx))
			case 2:
				if held == nil {
					var err error
					held, err = s.Snapshot()
					require.NoError(t, err)
					then = m.clone()
				} else {
					requireMerged(t, held, then)
					held.Close()
					held = nil
				}
			case 3:
				if held == nil {
					require.NoError(t, s.Close())
					s = open(t, path, opts)
				}
			}
			sn, err := s.Snapshot()
			require.NoError(t, err)
			requireMerged(t, sn, m)
			sn.Close()
		}
		if held != nil {
			held.Close()
		}
	}
}

func requireMerged(t *testing.T, sn *store.Snapshot, m model) {
	t.Helper()
	v := sn.View()
	defer v.Release()
	for _, space := range []uint32{store.MergedSpaces, store.MergedSpaces + 7} {
		want := map[string]string{}
		for k, val := range m[space] {
			want[k] = string(val)
		}
		require.Equal(t, want, contents(t, v, space))
	}
}

// TestMergedSpaceDropped takes a merged space out, folded or not.
func TestMergedSpaceDropped(t *testing.T) {
	for _, folded := range []bool{false, true} {
		s := open(t, filepath.Join(t.TempDir(), "db"), store.Options{Merger: lists{}})
		write(t, s, op{store.MergedSpaces, "a1", []byte("1")}, op{store.MergedSpaces + 1, "a1", []byte("2")})
		if folded {
			require.NoError(t, s.Checkpoint(ctx))
			write(t, s, op{store.MergedSpaces, "b1", []byte("1")})
		}
		b, err := s.Begin(ctx, nil)
		require.NoError(t, err)
		require.NoError(t, b.DropSpace(store.MergedSpaces))
		require.NoError(t, b.Log([]byte{}, 1))
		_, err = b.Commit(nil)
		require.NoError(t, err)
		require.NoError(t, s.Checkpoint(ctx))
		tx, err := s.Base()
		require.NoError(t, err)
		n, err := tx.Count(store.MergedSpaces, nil, nil)
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = tx.Count(store.MergedSpaces+1, nil, nil)
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
		tx.Release()
	}
}

// TestFillMerged brings entries into the base under what blocks write meanwhile.
func TestFillMerged(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"), store.Options{Merger: lists{}})
	write(t, s, op{store.MergedSpaces, "a1", []byte("old")})
	require.NoError(t, s.Checkpoint(ctx))
	write(t, s, op{store.MergedSpaces, "a2", []byte("new")}, op{store.MergedSpaces, "b1", nil})
	require.NoError(t, s.Fill(store.MergedSpaces, func(*store.View) ([]store.Entry, error) {
		return []store.Entry{{Key: []byte("b1"), Value: []byte("filled")}, {Key: []byte("a3"), Value: []byte("filled")}, {Key: []byte("a2"), Value: []byte("filled")}}, nil
	}))
	want := map[string]string{"a1": "old", "a2": "new", "a3": "filled"}
	for range 2 {
		sn, err := s.Snapshot()
		require.NoError(t, err)
		v := sn.View()
		require.Equal(t, want, contents(t, v, store.MergedSpaces))
		v.Release()
		sn.Close()
		require.NoError(t, s.Checkpoint(ctx))
	}
}
