package wal_test

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

var errDisk = errors.New("the disk says no")

// requireRefused checks that every way of writing to the log fails with cause.
func requireRefused(t *testing.T, l *wal.Log, cause error) {
	t.Helper()
	_, err := l.Append(numbered(1_000_000, 10).wal())
	for what, err := range map[string]error{
		"append":  err,
		"part":    l.AppendPart(numbered(1_000_000, 10).wal()),
		"reserve": l.Reserve(1 << 40),
		"err":     l.Err(),
	} {
		require.ErrorIs(t, err, wal.ErrFailed, what)
		require.ErrorIs(t, err, cause, what)
		require.Contains(t, err.Error(), "refused", what)
		require.Contains(t, err.Error(), path, what)
	}
}

func TestFailedAppend(t *testing.T) {
	for name, hook := range map[string]waltest.Hook{
		"nothing written":     waltest.Fail(waltest.Write, 3, errDisk),
		"part of the header":  waltest.ShortWrite(3, 20, errDisk),
		"part of the payload": waltest.ShortWrite(3, 100, errDisk),
		"all of it":           waltest.ShortWrite(3, 1<<20, errDisk),
		"cannot be cut off": waltest.Chain(
			waltest.ShortWrite(3, 100, errDisk),
			waltest.Fail(waltest.Truncate, 1, errors.New("nor this"))),
	} {
		t.Run(name, func(t *testing.T) {
			m := waltest.NewMem()
			fsys := waltest.Inject(m, nil)
			l := create(t, fsys)
			fsys.SetHook(hook)
			want := []block{numbered(1, 200), numbered(2, 200)}
			add(t, l, want...)
			_, err := l.Append(numbered(3, 200).wal())
			require.ErrorIs(t, err, wal.ErrFailed)
			if name != "cannot be cut off" {
				require.Equal(t, 1, fsys.Count(waltest.Sync), "the cut is flushed")
			}
			requireRefused(t, l, errDisk)

			fsys.SetHook(nil)
			requireRefused(t, l, errDisk)
			require.NoError(t, l.Sync(context.Background()), "the blocks before can still be saved")
			require.Equal(t, uint64(2), l.DurableSeq())
			require.ErrorIs(t, l.CloseClean(), wal.ErrFailed)
			if name == "cannot be cut off" {
				require.NotEmpty(t, strings.TrimRight(string(contents(t, m)[l.End():]), "\x00"))
			} else {
				require.Len(t, contents(t, m), int(l.End()), "what was written has been cut off")
			}

			for _, left := range []*waltest.Mem{m.Crash(nil), m} {
				l, rec, got := open(t, left)
				require.Equal(t, want, got)
				require.False(t, rec.Clean)
				add(t, l, numbered(3, 10))
				require.NoError(t, l.Close())
			}
		})
	}
}

func TestFailedPart(t *testing.T) {
	m := waltest.NewMem()
	fsys := waltest.Inject(m, nil)
	l := create(t, fsys)
	end := add(t, l, numbered(1, 10))
	require.NoError(t, l.AppendPart(numbered(2, 10).wal()))
	fsys.SetHook(waltest.Fail(waltest.Write, 1, errDisk))
	require.ErrorIs(t, l.AppendPart(numbered(2, 10).wal()), errDisk)
	requireRefused(t, l, errDisk)
	require.NoError(t, l.Cutback(), "they are gone")
	require.Len(t, contents(t, m), int(end))
}

func TestFailedCutback(t *testing.T) {
	m := waltest.NewMem()
	fsys := waltest.Inject(m, nil)
	l := create(t, fsys)
	want := add(t, l, numbered(1, 10))
	require.NoError(t, l.AppendPart(numbered(2, 10).wal()))
	fsys.SetHook(waltest.Fail(waltest.Truncate, 1, errDisk))
	require.ErrorIs(t, l.Cutback(), errDisk)
	requireRefused(t, l, errDisk)
	require.ErrorIs(t, l.Cutback(), wal.ErrFailed)
	require.NoError(t, l.Close())
	_, rec, _ := open(t, m)
	require.Equal(t, want, rec.End)
}

func TestFullDisk(t *testing.T) {
	for room := int64(0); room < 2000; room += 37 {
		m := waltest.NewMem()
		fsys := waltest.Inject(m, nil)
		l := create(t, fsys)
		fsys.SetHook(waltest.DiskFull(room))
		var want []block
		for i := 1; ; i++ {
			b := numbered(i, 7*i)
			if _, err := l.Append(b.wal()); err != nil {
				require.ErrorIs(t, err, syscall.ENOSPC)
				break
			}
			want = append(want, b)
		}
		requireRefused(t, l, syscall.ENOSPC)
		require.NoError(t, l.Sync(context.Background()))
		require.NoError(t, l.Close())
		_, rec, got := open(t, m.Crash(nil))
		require.Equal(t, want, got)
		require.Zero(t, rec.Cut)
	}
}

func TestAllocationIsNotNeeded(t *testing.T) {
	for _, err := range []error{errors.ErrUnsupported, syscall.ENOSPC} {
		m := waltest.NewMem()
		fsys := waltest.Inject(m, func(op waltest.Op) *waltest.Fault {
			if op.Kind == waltest.Allocate {
				return &waltest.Fault{Err: err}
			}
			return nil
		})
		l := create(t, fsys)
		end := add(t, l, numbered(1, 10), numbered(2, 10))
		require.Equal(t, end, l.Size())
		require.Len(t, contents(t, m), int(end))
		require.Equal(t, 1, fsys.Count(waltest.Allocate), "it is tried once")
		require.NoError(t, l.CloseClean())
		_, rec, _ := open(t, m)
		require.Equal(t, 2, rec.Blocks)
	}
}

func TestFailedFlush(t *testing.T) {
	m := waltest.NewMem()
	fsys := waltest.Inject(m, nil)
	l := create(t, fsys)
	kept := add(t, l, numbered(1, 10))
	sync(t, l)
	end := add(t, l, numbered(2, 10))
	fsys.SetHook(waltest.Fail(waltest.Sync, 1, errDisk))
	for range 3 {
		err := l.SyncTo(context.Background(), end)
		require.ErrorIs(t, err, wal.ErrFailed)
		require.ErrorIs(t, err, errDisk)
	}
	require.Equal(t, 1, fsys.Count(waltest.Sync), "a failed flush is not tried again")
	requireRefused(t, l, errDisk)
	require.NoError(t, l.SyncTo(context.Background(), kept), "that much is on disk")
	require.Equal(t, kept, l.Durable())
	require.Equal(t, uint64(1), l.DurableSeq())
	require.ErrorIs(t, l.CloseClean(), errDisk)
	require.Equal(t, 1, fsys.Count(waltest.Sync))
	require.NoError(t, l.Close())

	_, rec, got := open(t, m.Crash(nil))
	require.Equal(t, []block{numbered(1, 10)}, got)
	require.Equal(t, kept, rec.End)
}

func TestFailedFlushAfterFailedAppend(t *testing.T) {
	fsys := waltest.Inject(waltest.NewMem(), nil)
	l := create(t, fsys)
	add(t, l, numbered(1, 10))
	errOther := errors.New("nor a flush")
	fsys.SetHook(waltest.Chain(waltest.Fail(waltest.Write, 1, errDisk), waltest.Fail(waltest.Sync, 1, errOther)))
	_, err := l.Append(numbered(2, 10).wal())
	require.ErrorIs(t, err, errDisk)
	require.ErrorIs(t, l.Sync(context.Background()), wal.ErrFailed)
	require.Zero(t, l.DurableSeq())
	requireRefused(t, l, errDisk)
}

func TestFailedCreate(t *testing.T) {
	for _, hook := range []waltest.Hook{
		waltest.Fail(waltest.Open, 1, errDisk),
		waltest.Fail(waltest.Write, 1, errDisk),
		waltest.Fail(waltest.Sync, 1, errDisk),
		waltest.Fail(waltest.SyncDir, 1, errDisk),
	} {
		m := waltest.NewMem()
		_, err := wal.Create(path, wal.Header{Base: base}, wal.Options{FS: waltest.Inject(m, hook)})
		require.ErrorIs(t, err, errDisk)
		add(t, create(t, m), numbered(1, 10)) // nothing is in the way of another try
	}
}

func TestFailedOpen(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	add(t, l, numbered(1, 10))
	require.NoError(t, l.AppendPart(numbered(2, 10).wal()))
	require.NoError(t, l.Close())
	for _, hook := range []waltest.Hook{
		waltest.Fail(waltest.Open, 1, errDisk),
		waltest.Fail(waltest.Read, 1, errDisk),
		waltest.Fail(waltest.Read, 2, errDisk),
		waltest.Fail(waltest.Truncate, 1, errDisk),
		waltest.Fail(waltest.Sync, 1, errDisk),
		waltest.Fail(waltest.SyncDir, 1, errDisk),
	} {
		l, _, err := wal.Open(path, base, wal.Options{FS: waltest.Inject(m.Clone(), hook)}, nil)
		require.ErrorIs(t, err, errDisk)
		require.Nil(t, l)
	}
}

func TestFailedRename(t *testing.T) {
	l := create(t, waltest.Inject(waltest.NewMem(), waltest.Fail(waltest.Rename, 1, errDisk)))
	require.ErrorIs(t, l.Rename("dir/other"), errDisk)
	require.Equal(t, path, l.Path())
	require.NoError(t, l.Err())
}
