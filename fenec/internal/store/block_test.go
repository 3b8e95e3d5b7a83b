package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// logEnd returns where the last whole block of the log ends.
func (d *disk) logEnd(t testing.TB) int64 {
	t.Helper()
	found, err := wal.Inspect(store.LogPath(d.path), wal.Options{FS: d.mem})
	require.NoError(t, err)
	return found.End
}

// logged returns what the log holds, without the space allocated ahead.
func (d *disk) logged(t testing.TB) []byte {
	t.Helper()
	return bytes.TrimRight(d.log(t, store.LogPath(d.path)), "\x00")
}

func TestBlockIsSeenWhole(t *testing.T) {
	s := open(t, "", store.Options{})
	write(t, s, op{1, "a", []byte("old")}, op{1, "b", []byte("old")})
	before, err := s.Snapshot()
	require.NoError(t, err)
	defer before.Close()

	b, err := s.Begin(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, fill(b, op{1, "a", []byte("new")}, op{1, "b", nil}, op{1, "c", []byte{}}))
	val, err := b.Get(1, []byte("a"))
	require.NoError(t, err)
	require.Equal(t, "new", string(val), "a block sees its own writes")
	val, err = b.Get(1, []byte("b"))
	require.NoError(t, err)
	require.Nil(t, val)
	require.Equal(t, "old", string(get(t, s, 1, "a")), "nobody else does")
	require.Equal(t, "old", string(get(t, s, 1, "b")))

	var published uint64
	ticket, err := b.Commit(func(seq uint64) {
		published = seq
		require.EqualValues(t, 2, s.Seq(), "it is told before readers can see it")
	})
	require.NoError(t, err)
	require.Equal(t, ticket.To, published)
	require.EqualValues(t, 3, ticket.From)
	require.EqualValues(t, 5, ticket.To)
	require.Equal(t, "new", string(get(t, s, 1, "a")))
	require.Nil(t, get(t, s, 1, "b"))
	require.NotNil(t, get(t, s, 1, "c"), "an empty value is not a missing one")

	v := before.View()
	defer v.Release()
	val, err = v.Get(1, []byte("b"))
	require.NoError(t, err)
	require.Equal(t, "old", string(val))
}

func TestEmptyBlockTakesNothing(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	b, err := s.Begin(ctx, func(int64) error { return errors.New("there is nothing to ask") })
	require.NoError(t, err)
	ticket, err := b.Commit(func(uint64) { t.Error("there is nothing to publish") })
	require.NoError(t, err)
	require.Less(t, ticket.To, ticket.From)
	require.NoError(t, ticket.Wait(ctx))
	require.Zero(t, s.Seq())
	require.Empty(t, d.mem.Names(), "no log for nothing")
}

// Whatever ends a block early, nothing of it is left: no key, no number, no
// byte of the log.
func TestRolledBackBlockLeavesNoTrace(t *testing.T) {
	refused := errors.New("refused by the limit")
	for name, end := range map[string]func(t *testing.T, b *store.Block){
		"rollback": func(_ *testing.T, b *store.Block) { b.Rollback() },
		"refused by the limit": func(t *testing.T, b *store.Block) {
			_, err := b.Commit(func(uint64) { t.Error("published") })
			require.ErrorIs(t, err, refused)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			s := d.open(t, store.Options{Sync: store.SyncAlways, NoCheckpoint: true})
			write(t, s, counted(1, 100)...)
			before := d.logged(t)
			for range 3 {
				b, err := s.Begin(ctx, func(int64) error { return refused })
				require.NoError(t, err)
				require.NoError(t, fill(b, counted(2, 1000)...))
				require.NoError(t, b.DropSpace(1))
				end(t, b)
			}
			require.True(t, bytes.Equal(before, d.logged(t)))
			require.EqualValues(t, 3, s.Seq())
			require.Equal(t, 1, count(t, s))
			require.EqualValues(t, 4, write(t, s, counted(2, 100)...).From)
			require.NoError(t, s.Close())
			require.Equal(t, 2, count(t, d.open(t, store.Options{})))
		})
	}
}

// The limit is asked for exactly what the log will grow by.
func TestLimitIsAskedForTheLength(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	write(t, s, counted(1, 10)...)
	for _, n := range []int{0, 1, 7, 8, 9, 100, 4095, 4096, 100_000} {
		var asked []int64
		before := d.logEnd(t)
		b, err := s.Begin(ctx, func(n int64) error { asked = append(asked, n); return nil })
		require.NoError(t, err)
		require.NoError(t, b.Put(1, []byte("k"), make([]byte, n)))
		require.NoError(t, b.Log(make([]byte, n), 1))
		_, err = b.Commit(nil)
		require.NoError(t, err)
		require.Equal(t, []int64{d.logEnd(t) - before}, asked, "%d bytes", n)
	}
}

// Figures can be read from anywhere, also from a limit and while a block is
// open, and count what that block holds.
func TestStatsBesideAnOpenBlock(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	idle := s.Stats().FrontBytes
	b, err := s.Begin(ctx, func(int64) error {
		require.Greater(t, s.Stats().FrontBytes, idle+100_000)
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, fill(b, op{1, "k", make([]byte, 100_000)}))
	require.Greater(t, s.Stats().FrontBytes, idle+100_000)
	require.Zero(t, s.Stats().Seq)
	_, err = b.Commit(nil)
	require.NoError(t, err)
	require.Less(t, s.Stats().FrontBytes, int64(500_000))
}

const (
	mib = 1 << 20

	// bigRows of a MiB each make a block of two parts and a rest.
	bigRows = 34
)

// bigBlock fills a block with n rows of a MiB each.
func bigBlock(b *store.Block, n int) error {
	for i := range n {
		if err := fill(b, op{7, fmt.Sprintf("%04d", i), bytes.Repeat([]byte{byte(i + 1)}, mib)}); err != nil {
			return err
		}
	}
	return nil
}

func requireBig(t *testing.T, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		require.True(t, bytes.Equal(bytes.Repeat([]byte{byte(i + 1)}, mib), get(t, s, 7, fmt.Sprintf("%04d", i))), "row %d", i)
	}
	require.Nil(t, get(t, s, 7, fmt.Sprintf("%04d", n)))
}

// A record too long to be held goes to the log in parts, and is one block all
// the same.
func TestSpilledBlock(t *testing.T) {
	d := newDisk(t)
	opts := store.Options{Sync: store.SyncAlways, NoCheckpoint: true, FrontBytes: 1 << 30, Replay: replay}
	s := d.open(t, opts)
	write(t, s, counted(1, 10)...)
	before := d.logEnd(t)
	var asked []int64
	b, err := s.Begin(ctx, func(n int64) error { asked = append(asked, n); return nil })
	require.NoError(t, err)
	require.NoError(t, bigBlock(b, bigRows))
	require.Len(t, asked, 2, "two parts are in the log")
	for _, left := range []*disk{d.kill(t), d.crash(t, nil)} {
		cut := left.open(t, opts)
		require.Equal(t, 1, count(t, cut), "a block without its last part never was")
		require.Nil(t, get(t, cut, 7, "0000"))
		require.NoError(t, cut.Close())
	}
	ticket, err := b.Commit(nil)
	require.NoError(t, err)
	require.NoError(t, ticket.Wait(ctx))
	require.EqualValues(t, bigRows, ticket.To-ticket.From+1)
	require.Len(t, asked, 3)
	require.Equal(t, d.logEnd(t)-before, asked[0]+asked[1]+asked[2])
	write(t, s, counted(2, 10)...)
	requireBig(t, s, bigRows)
	left := d.crash(t, nil)
	require.NoError(t, s.Close())
	for _, d := range []*disk{d, left} {
		s = d.open(t, opts)
		requireBig(t, s, bigRows)
		require.Equal(t, 2, count(t, s))
		require.NoError(t, s.Close())
	}
}

func TestRolledBackSpilledBlockLeavesNoTrace(t *testing.T) {
	d := newDisk(t)
	opts := store.Options{Sync: store.SyncAlways, NoCheckpoint: true, FrontBytes: 1 << 30, Replay: replay}
	s := d.open(t, opts)
	write(t, s, counted(1, 10)...)
	before := d.logged(t)
	refused := errors.New("refused by the limit")
	for name, refuseAt := range map[string]int{"rollback": 0, "at the first part": 1, "at the second part": 2, "at the last part": 3} {
		asked := 0
		b, err := s.Begin(ctx, func(int64) error {
			if asked++; asked == refuseAt {
				return refused
			}
			return nil
		})
		require.NoError(t, err, name)
		err = bigBlock(b, bigRows)
		switch {
		case refuseAt == 0:
			require.NoError(t, err)
			b.Rollback()
		case err != nil:
			require.ErrorIs(t, err, refused, name)
			b.Rollback()
		default:
			_, err = b.Commit(nil)
			require.ErrorIs(t, err, refused, name)
		}
		require.True(t, bytes.Equal(before, d.logged(t)), name)
		require.EqualValues(t, 3, s.Seq(), name)
		require.Nil(t, get(t, s, 7, "0000"), name)
		left := d.kill(t)
		again := left.open(t, opts)
		require.Equal(t, 1, count(t, again), name)
		require.NoError(t, again.Close())
	}
	write(t, s, counted(2, 10)...)
	require.NoError(t, s.Close())
	require.Equal(t, 2, count(t, d.open(t, opts)))
}

func TestBlockTooLarge(t *testing.T) {
	for name, fill := range map[string]func(b *store.Block) error{
		"a value": func(b *store.Block) error { return b.Put(1, []byte("k"), make([]byte, 2*mib)) },
		"many values": func(b *store.Block) error {
			for i := range 100 {
				if err := b.Put(1, []byte(fmt.Sprint(i)), make([]byte, 100_000)); err != nil {
					return err
				}
			}
			return nil
		},
		"an operation": func(b *store.Block) error { return b.Log(make([]byte, 2*mib), 1) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisk(t)
			opts := store.Options{BlockBytes: mib}
			s := d.open(t, opts)
			write(t, s, counted(1, 10)...)
			before := d.logged(t)
			b, err := s.Begin(ctx, nil)
			require.NoError(t, err)
			err = fill(b)
			b.Rollback()
			require.ErrorIs(t, err, store.ErrBlockTooLarge)
			require.True(t, bytes.Equal(before, d.logged(t)))
			write(t, s, counted(2, 10)...)
			require.Equal(t, 2, count(t, s))
		})
	}
}

// An operation that no frame of the log can hold ends its block, not the store.
func TestOperationTooLargeForTheLog(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 300 MiB")
	}
	d := newDisk(t)
	s := d.open(t, store.Options{BlockBytes: 1 << 30})
	write(t, s, counted(1, 10)...)
	b, err := s.Begin(ctx, nil)
	require.NoError(t, err)
	err = b.Log(make([]byte, wal.MaxPayload+1), 1)
	b.Rollback()
	require.ErrorIs(t, err, store.ErrBlockTooLarge)
	write(t, s, counted(2, 10)...)
	require.NoError(t, s.Stats().Failure)
}

// What was written under a larger bound can be opened under a smaller one.
func TestReplayIsNotBounded(t *testing.T) {
	d := newDisk(t)
	opts := store.Options{NoCheckpoint: true}
	s := d.open(t, opts)
	write(t, s, counted(1, 3*mib)...)
	require.NoError(t, s.Close())
	opts.BlockBytes = mib
	require.Equal(t, 1, count(t, d.open(t, opts)))
}

func TestBeginAfterClose(t *testing.T) {
	s := open(t, newDisk(t).path, store.Options{})
	require.NoError(t, s.Close())
	_, err := s.Begin(ctx, nil)
	require.ErrorIs(t, err, store.ErrClosed)
}

// One block at a time: the next waits for the one before.
func TestBlocksTakeTurns(t *testing.T) {
	s := open(t, "", store.Options{})
	first, err := s.Begin(ctx, nil)
	require.NoError(t, err)
	begun := make(chan error)
	go func() {
		b, err := s.Begin(context.Background(), nil)
		if err == nil {
			var val []byte
			if val, err = b.Get(1, []byte("k")); string(val) != "first" {
				err = fmt.Errorf("the second block sees %q", val)
			}
			b.Rollback()
		}
		begun <- err
	}()
	require.NoError(t, fill(first, op{1, "k", []byte("first")}))
	select {
	case <-begun:
		t.Fatal("two blocks at once")
	default:
	}
	_, err = first.Commit(nil)
	require.NoError(t, err)
	require.NoError(t, <-begun)
}
