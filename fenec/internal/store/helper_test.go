package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

var ctx = context.Background()

// A test's record is a list of operations: space, length and key, then 0 for a
// deletion, or 1, length and value.
func appendOp(dst []byte, space uint32, key, val []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, space)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(key)))
	dst = append(dst, key...)
	if val == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(val)))
	return append(dst, val...)
}

func replay(b *store.Block, rec []byte) error {
	next := func(n int) []byte { p := rec[:n]; rec = rec[n:]; return p }
	for len(rec) > 0 {
		space := binary.BigEndian.Uint32(next(4))
		key := next(int(binary.BigEndian.Uint32(next(4))))
		if next(1)[0] == 0 {
			if err := b.Delete(space, key); err != nil {
				return err
			}
			continue
		}
		if err := b.Put(space, key, next(int(binary.BigEndian.Uint32(next(4))))); err != nil {
			return err
		}
	}
	return nil
}

func open(t testing.TB, path string, opts store.Options) *store.Store {
	t.Helper()
	opts.Replay = replay
	s, err := store.Open(path, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

type op struct {
	space uint32
	key   string
	val   []byte // nil deletes
}

// write commits ops as one block.
func write(t testing.TB, s *store.Store, ops ...op) store.Ticket {
	t.Helper()
	b, err := s.Begin(ctx, nil)
	require.NoError(t, err)
	for _, o := range ops {
		if o.val == nil {
			require.NoError(t, b.Delete(o.space, []byte(o.key)))
		} else {
			require.NoError(t, b.Put(o.space, []byte(o.key), o.val))
		}
		require.NoError(t, b.Log(appendOp(nil, o.space, []byte(o.key), o.val), 1))
	}
	ticket, err := b.Commit(nil)
	require.NoError(t, err)
	require.NoError(t, ticket.Wait(ctx))
	return ticket
}

func get(t testing.TB, s *store.Store, space uint32, key string) []byte {
	t.Helper()
	sn, err := s.Snapshot()
	require.NoError(t, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	val, err := v.Get(space, []byte(key))
	require.NoError(t, err)
	return bytes.Clone(val)
}

// A counted block is one of a row of blocks of which a test knows how many there
// should be: block i puts key i into space 1, says in space 2 that it is the
// last, and takes away there what block i-1 left.
func counted(i, n int) []op {
	ops := []op{
		{1, countedKey(i), bytes.Repeat([]byte{byte('a' + i%26)}, n)},
		{2, "last", []byte(fmt.Sprint(i))},
		{2, fmt.Sprintf("only %d", i), []byte{1}},
	}
	if i > 1 {
		ops = append(ops, op{2, fmt.Sprintf("only %d", i-1), nil})
	}
	return ops
}

func countedKey(i int) string { return fmt.Sprintf("%08d", i) }

// tryWrite commits ops as one block and waits for it.
func tryWrite(s *store.Store, ops ...op) (store.Ticket, error) {
	b, err := s.Begin(ctx, nil)
	if err != nil {
		return store.Ticket{}, err
	}
	if err := fill(b, ops...); err != nil {
		b.Rollback()
		return store.Ticket{}, err
	}
	ticket, err := b.Commit(nil)
	if err != nil {
		return store.Ticket{}, err
	}
	return ticket, ticket.Wait(ctx)
}

// fill makes the changes in b and logs them.
func fill(b *store.Block, ops ...op) error {
	for _, o := range ops {
		if err := b.Log(appendOp(nil, o.space, []byte(o.key), o.val), 1); err != nil {
			return err
		}
		var err error
		if o.val == nil {
			err = b.Delete(o.space, []byte(o.key))
		} else {
			err = b.Put(o.space, []byte(o.key), o.val)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errTwice = errors.New("a block is replayed over itself")

// replayOnce is replay for counted blocks: it refuses one that is there already.
func replayOnce(b *store.Block, rec []byte) error {
	key := rec[8 : 8+binary.BigEndian.Uint32(rec[4:])]
	if binary.BigEndian.Uint32(rec) == 1 {
		if val, err := b.Get(1, key); val != nil || err != nil {
			return errors.Join(errTwice, err)
		}
	}
	return replay(b, rec)
}

// countIn returns how many counted blocks v sees, or what is wrong with them.
func countIn(v *store.View) (int, error) {
	n := 0
	it := v.Iter(1, nil, nil)
	for it.First(); it.Valid(); it.Next() {
		n++
		if string(it.Key()) != countedKey(n) {
			return 0, fmt.Errorf("key %q where block %d should be", it.Key(), n)
		}
	}
	if err := it.Err(); err != nil {
		return 0, err
	}
	last, err := v.Get(2, []byte("last"))
	if err != nil {
		return 0, err
	}
	if n > 0 && string(last) != fmt.Sprint(n) {
		return 0, fmt.Errorf("%d blocks, of which %q says it is the last", n, last)
	}
	it = v.Iter(2, []byte("only"), nil)
	it.First()
	if it.Valid() != (n > 0) || n > 0 && string(it.Key()) != fmt.Sprintf("only %d", n) {
		return 0, fmt.Errorf("%d blocks, but %q", n, it.Key())
	}
	if it.Valid() {
		if it.Next(); it.Valid() {
			return 0, fmt.Errorf("%d blocks, but also %q", n, it.Key())
		}
	}
	return n, it.Err()
}

// count returns how many counted blocks s has.
func count(t testing.TB, s *store.Store) int {
	t.Helper()
	sn, err := s.Snapshot()
	require.NoError(t, err)
	defer sn.Close()
	v := sn.View()
	defer v.Release()
	n, err := countIn(v)
	require.NoError(t, err)
	return n
}

// checkCounted verifies a closed store that holds counted blocks.
func checkCounted(path string, opts store.Options) error {
	return store.Check(path, store.Options{Replay: replayOnce, FS: opts.FS}, func(v *store.View) error {
		_, err := countIn(v)
		return err
	})
}
