package wal_test

import (
	"context"
	"errors"
	gosync "sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

// Writers that come while a flush runs share the next one.
func TestGroupCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers = 8
		m := waltest.NewMem()
		fsys := waltest.Inject(m, nil)
		l := create(t, fsys)
		gate := waltest.NewGate(waltest.Sync)
		fsys.SetHook(gate.Hook)
		var lock gosync.Mutex
		errs := make(chan error, writers)
		write := func() {
			lock.Lock()
			n := l.Last() + 1
			end, err := l.Append(wal.Block{From: n, To: n})
			lock.Unlock()
			errs <- errors.Join(err, l.SyncTo(context.Background(), end))
		}
		go write()
		gate.Wait()
		for range writers - 1 {
			go write()
		}
		synctest.Wait() // all of them have written and wait
		require.Equal(t, uint64(writers), l.Last())
		require.Zero(t, l.DurableSeq())
		require.Empty(t, errs)

		gate.Pass(nil)
		gate.Wait()
		synctest.Wait()
		require.Equal(t, uint64(1), l.DurableSeq(), "the first flush covers what was there when it began")
		require.Len(t, errs, 1)
		_, rec, _ := open(t, m.Crash(nil))
		require.Equal(t, uint64(1), rec.Last)

		gate.Pass(nil)
		for range writers {
			require.NoError(t, <-errs)
		}
		require.Equal(t, 2, fsys.Count(waltest.Sync))
		require.Equal(t, uint64(writers), l.DurableSeq())
		_, rec, _ = open(t, m.Crash(nil))
		require.Equal(t, uint64(writers), rec.Last)
	})
}

func TestEveryWaiterOfAFailedFlushIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writers = 8
		fsys := waltest.Inject(waltest.NewMem(), nil)
		l := create(t, fsys)
		gate := waltest.NewGate(waltest.Sync)
		fsys.SetHook(gate.Hook)
		first := add(t, l, numbered(1, 10))
		errs := make(chan error, writers)
		go func() { errs <- l.SyncTo(context.Background(), first) }()
		gate.Wait()
		end := add(t, l, numbered(2, 10))
		for range writers - 1 {
			go func() { errs <- l.SyncTo(context.Background(), end) }()
		}
		synctest.Wait()
		gate.Pass(&waltest.Fault{Err: errDisk})
		for range writers {
			require.ErrorIs(t, <-errs, errDisk)
		}
		require.Equal(t, 1, fsys.Count(waltest.Sync))
		requireRefused(t, l, errDisk)
	})
}

func TestWaitingForAFlushEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := waltest.Inject(waltest.NewMem(), nil)
		l := create(t, fsys)
		gate := waltest.NewGate(waltest.Sync)
		fsys.SetHook(gate.Hook)
		end := add(t, l, numbered(1, 10))
		led := make(chan error)
		go func() { led <- l.SyncTo(context.Background(), end) }()
		gate.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		waited := make(chan error)
		go func() { waited <- l.SyncTo(ctx, end) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-waited, context.Canceled)
		gate.Pass(nil)
		require.NoError(t, <-led)
		require.NoError(t, l.SyncTo(ctx, end), "it is on disk, whatever the context")
	})
}

func TestCloseWaitsForAFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := waltest.Inject(waltest.NewMem(), nil)
		l := create(t, fsys)
		gate := waltest.NewGate(waltest.Sync)
		fsys.SetHook(gate.Hook)
		first := add(t, l, numbered(1, 10))
		led := make(chan error, 1)
		go func() { led <- l.SyncTo(context.Background(), first) }()
		gate.Wait()
		second := add(t, l, numbered(2, 10))
		late := make(chan error, 1)
		go func() { late <- l.SyncTo(context.Background(), second) }()
		closed := make(chan error, 1)
		go func() { closed <- l.Close() }()
		synctest.Wait()
		require.Empty(t, closed)
		gate.Pass(nil)
		require.NoError(t, <-closed)
		require.NoError(t, <-led)
		require.ErrorIs(t, <-late, wal.ErrClosed)
	})
}

func TestReserveDuringAFlushWaitsForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := waltest.NewMem()
		fsys := waltest.Inject(m, nil)
		l := create(t, fsys)
		gate := waltest.NewGate(waltest.Sync)
		fsys.SetHook(gate.Hook)
		end := add(t, l, numbered(1, 10))
		synced := make(chan error, 1)
		go func() { synced <- l.SyncTo(context.Background(), end) }()
		gate.Wait()
		reserved := make(chan error, 1)
		go func() { reserved <- l.Reserve(77) }()
		synctest.Wait()
		gate.Pass(nil)
		require.NoError(t, <-synced)
		gate.Wait()
		require.Empty(t, reserved)
		require.Zero(t, l.Reserved())
		gate.Pass(nil)
		require.NoError(t, <-reserved)
		_, rec, _ := open(t, m.Crash(nil))
		require.Equal(t, uint64(77), rec.Reserved)
	})
}

// An append does not wait for a flush.
func TestAppendBesideAFlush(t *testing.T) {
	fsys := waltest.Inject(waltest.NewMem(), nil)
	l := create(t, fsys)
	gate := waltest.NewGate(waltest.Sync)
	fsys.SetHook(gate.Hook)
	end := add(t, l, numbered(1, 10))
	led := make(chan error)
	go func() { led <- l.SyncTo(context.Background(), end) }()
	gate.Wait()
	add(t, l, numbered(2, 10), numbered(3, 10))
	gate.Open()
	require.NoError(t, <-led)
	require.Equal(t, end, l.Durable())
	sync(t, l)
}

func TestSyncToPastTheEnd(t *testing.T) {
	fsys := waltest.Inject(waltest.NewMem(), nil)
	l := create(t, fsys)
	fsys.SetHook(nil)
	end := add(t, l, numbered(1, 10))
	require.Error(t, l.SyncTo(context.Background(), end+1))
	require.NoError(t, l.SyncTo(context.Background(), 0))
	require.Zero(t, fsys.Count(waltest.Sync))
	require.NoError(t, l.Err())
}

// Writers, waiters and a reservation ahead of need, all at once.
func TestConcurrency(t *testing.T) {
	everySystem(t, func(t *testing.T, fsys wal.FS, path string) {
		const writers, each = 8, 30
		opts := wal.Options{FS: fsys}
		l, err := wal.Create(path, wal.Header{Base: base}, opts)
		require.NoError(t, err)
		var lock gosync.Mutex
		var group gosync.WaitGroup
		errs := make(chan error, writers+1)
		for range writers {
			group.Go(func() {
				for range each {
					lock.Lock()
					n := l.Last() + 1
					end, err := l.Append(wal.Block{From: n, To: n, Payload: []byte("some text")})
					lock.Unlock()
					err = errors.Join(err, l.SyncTo(context.Background(), end))
					if err != nil || l.Durable() < end || l.DurableSeq() < n {
						errs <- errors.Join(err, errors.New("not on disk"))
						return
					}
				}
			})
		}
		group.Go(func() {
			for upTo := uint64(10); upTo < 500; upTo += 10 {
				if err := l.Reserve(upTo); err != nil {
					errs <- err
				}
			}
		})
		group.Wait()
		require.Empty(t, errs)
		require.NoError(t, l.Close())
		rec, err := wal.Inspect(path, opts)
		require.NoError(t, err)
		require.Equal(t, uint64(writers*each), rec.Last)
		require.Equal(t, writers*each, rec.Blocks)
		require.Equal(t, uint64(490), rec.Reserved)
	})
}
