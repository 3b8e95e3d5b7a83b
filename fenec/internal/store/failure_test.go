package store_test

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

var errDisk = errors.New("the disk says no")

// requireRefused checks that s writes no more, and reads on.
func requireRefused(t *testing.T, d *disk, s *store.Store, cause error) {
	t.Helper()
	base, err := os.ReadFile(d.path)
	require.NoError(t, err)
	folded := s.Stats().FoldedSeq
	_, err = s.Begin(ctx, nil)
	for what, err := range map[string]error{
		"begin": err, "checkpoint": s.Checkpoint(ctx), "compact": s.Compact(ctx), "sync": s.Sync(ctx), "stats": s.Stats().Failure,
	} {
		require.ErrorIs(t, err, store.ErrFailed, what)
		require.ErrorIs(t, err, cause, what)
		require.ErrorContains(t, err, "refused", what)
	}
	_, err = s.OpenImage(ctx)
	require.ErrorIs(t, err, store.ErrFailed)
	count(t, s)
	require.Equal(t, folded, s.Stats().FoldedSeq, "nothing is folded")
	now, err := os.ReadFile(d.path)
	require.NoError(t, err)
	require.Equal(t, base, now)
}

// lifeUntilFailure writes and folds until something fails. It returns how many
// blocks were acknowledged, how many were begun, and the failure.
func lifeUntilFailure(s *store.Store) (acked, begun int, err error) {
	for begun < 9 {
		begun++
		if _, err := tryWrite(s, counted(begun, 100)...); err != nil {
			return acked, begun, err
		}
		acked = begun
		if begun%3 == 0 {
			if err := s.Checkpoint(ctx); err != nil {
				return acked, begun, err
			}
		}
	}
	return acked, begun, nil
}

// Whatever the disk refuses, and whenever, is the last thing it is asked for.
// Everything acknowledged is there after the next open.
func TestFailures(t *testing.T) {
	faults := map[string]func(nth int) waltest.Hook{
		"open":        func(n int) waltest.Hook { return waltest.Fail(waltest.Open, n, errDisk) },
		"write":       func(n int) waltest.Hook { return waltest.Fail(waltest.Write, n, errDisk) },
		"short write": func(n int) waltest.Hook { return waltest.ShortWrite(n, 30, errDisk) },
		"a whole one": func(n int) waltest.Hook { return waltest.ShortWrite(n, 1<<20, errDisk) },
		"flush":       func(n int) waltest.Hook { return waltest.Fail(waltest.Sync, n, errDisk) },
		"directory":   func(n int) waltest.Hook { return waltest.Fail(waltest.SyncDir, n, errDisk) },
		"rename":      func(n int) waltest.Hook { return waltest.Fail(waltest.Rename, n, errDisk) },
		"remove":      func(n int) waltest.Hook { return waltest.Fail(waltest.Remove, n, errDisk) },
		"allocate":    func(n int) waltest.Hook { return waltest.Fail(waltest.Allocate, n, errDisk) },
		"full disk":   func(n int) waltest.Hook { return waltest.DiskFull(int64(n) * 2000) },
		"write and trunc": func(n int) waltest.Hook {
			return waltest.Chain(waltest.Fail(waltest.Write, n, errDisk), waltest.Fail(waltest.Truncate, 1, errDisk))
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			failed := 0
			for nth := 1; nth <= 13; nth += 2 {
				if failUntilReopened(t, fault(nth)) {
					failed++
				}
			}
			if name != "allocate" {
				require.Positive(t, failed)
			}
		})
	}
}

// failUntilReopened leads a store to a failure, and reports whether it came to
// one.
func failUntilReopened(t *testing.T, hook waltest.Hook) bool {
	t.Helper()
	d := newDisk(t)
	opts := store.Options{Sync: store.SyncAlways, Interval: time.Hour, IdleCheckpoint: time.Hour}
	s := d.open(t, opts)
	d.faults.SetHook(hook)
	acked, begun, err := lifeUntilFailure(s)
	d.faults.SetHook(nil)
	if err != nil && s.Stats().Failure != nil {
		require.ErrorIs(t, err, store.ErrFailed)
		cause := errDisk
		if !errors.Is(err, errDisk) {
			cause = syscall.ENOSPC
		}
		requireRefused(t, d, s, cause)
	}
	left := []*disk{d.kill(t), d.crash(t, nil)}
	require.NoError(t, s.Close())
	for _, d := range append(left, d) {
		d.requireWhole(t, opts, acked, begun)
	}
	return err != nil
}

// With a flush that fails everybody who waited for it is told.
func TestFailedFlushIsToldToAll(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{Sync: store.SyncAlways})
	write(t, s, op{1, "first", []byte{1}})
	const writers = 16
	gate := waltest.NewGate(waltest.Sync)
	d.faults.SetHook(gate.Hook)
	errs := make(chan error, writers)
	for i := range writers {
		go func() {
			_, err := tryWrite(s, op{1, fmt.Sprint("k", i), []byte{1}})
			errs <- err
		}()
	}
	gate.Wait()
	require.Eventually(t, func() bool { return s.Seq() == writers+1 }, time.Minute, time.Millisecond)
	gate.Pass(&waltest.Fault{Err: errDisk})
	gate.Open()
	for range writers {
		err := <-errs
		require.ErrorIs(t, err, store.ErrFailed)
		require.ErrorIs(t, err, errDisk)
	}
	require.NoError(t, s.Close())
}

// A periodic flush that fails is told to the next write.
func TestFailedPeriodicFlush(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{Interval: time.Millisecond})
	write(t, s, counted(1, 10)...)
	require.Eventually(t, func() bool { return s.Stats().SyncedSeq == s.Seq() }, time.Minute, time.Millisecond)
	d.faults.SetHook(waltest.Fail(waltest.Sync, 1, errDisk))
	write(t, s, counted(2, 10)...)
	require.Eventually(t, func() bool { return s.Stats().Failure != nil }, time.Minute, time.Millisecond)
	d.faults.SetHook(nil)
	requireRefused(t, d, s, errDisk)
	require.Equal(t, 2, count(t, s))
	require.Less(t, s.Stats().SyncedSeq, s.Seq())
	require.NoError(t, s.Close())
	d.requireWhole(t, store.Options{}, 1, 2)
}

// A fold that fails drops no log: what it was to fold is there when the base is
// well again.
func TestFailedFold(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	for i := 1; i <= 50; i++ {
		write(t, s, counted(i, 1000)...)
	}
	require.NoError(t, s.Checkpoint(ctx))
	well, err := os.ReadFile(d.path)
	require.NoError(t, err)
	for i := 51; i <= 60; i++ {
		write(t, s, counted(i, 1000)...)
	}
	ill := append([]byte(nil), well...)
	for off := 2 * 4096; off < len(ill); off += 4096 {
		ill[off+8] ^= 0x40 // the kind of every page
	}
	require.NoError(t, os.WriteFile(d.path, ill, 0o600))
	err = s.Checkpoint(ctx)
	require.ErrorIs(t, err, store.ErrFailed)
	require.ErrorIs(t, err, base.ErrCorrupt)
	_, err = s.Begin(ctx, nil)
	require.ErrorIs(t, err, store.ErrFailed)
	require.NotNil(t, d.log(t, store.OldLogPath(d.path)))
	require.NoError(t, s.Close())
	require.NotNil(t, d.log(t, store.OldLogPath(d.path)))

	require.NoError(t, os.WriteFile(d.path, well, 0o600))
	d.requireWhole(t, store.Options{}, 60, 60)
}

// A compaction that finds no room changes nothing: the store goes on.
func TestFailedCompaction(t *testing.T) {
	d := newDisk(t)
	s := d.open(t, store.Options{})
	write(t, s, counted(1, 10)...)
	require.NoError(t, os.MkdirAll(d.path+".compacting/in the way", 0o700))
	require.Error(t, s.Compact(ctx))
	write(t, s, counted(2, 10)...)
	require.NoError(t, s.Stats().Failure)
	require.NoError(t, s.Checkpoint(ctx))
	require.NoError(t, os.RemoveAll(d.path+".compacting"))
	require.NoError(t, s.Compact(ctx))
	require.NoError(t, s.Close())
	d.requireWhole(t, store.Options{}, 2, 2)
}
