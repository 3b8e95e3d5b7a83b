package wal_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

// everySystem runs a test on files in memory and on real ones.
func everySystem(t *testing.T, test func(t *testing.T, fsys wal.FS, path string)) {
	t.Run("mem", func(t *testing.T) { test(t, waltest.NewMem(), path) })
	t.Run("os", func(t *testing.T) { test(t, nil, filepath.Join(t.TempDir(), "acme.fenec-log")) })
}

func TestAppendAndReopen(t *testing.T) {
	blocks := []block{
		numbered(1, 0),
		numbered(2, 1),
		numbered(3, 300),
		{from: 4, to: 9, millis: -5, payload: "several numbers"},
		{from: 10, to: 9, millis: 7, payload: "no number of its own"},
		{from: 10, to: 10, millis: 7, payload: strings.Repeat("big", 1<<18)},
		{from: 500, to: 500, payload: "numbers may be skipped"},
	}
	everySystem(t, func(t *testing.T, fsys wal.FS, path string) {
		opts := wal.Options{FS: fsys}
		l, err := wal.Create(path, wal.Header{Base: base}, opts)
		require.NoError(t, err)
		for i, b := range blocks {
			end, err := l.Append(b.wal())
			require.NoError(t, err, "block %d", i)
			require.Equal(t, end, l.End())
			require.NoError(t, l.SyncTo(context.Background(), end))
			require.Equal(t, end, l.Durable())
		}
		end := l.End()
		require.NoError(t, l.Close())
		require.NoError(t, l.Close(), "closing again does nothing")

		var got []block
		l, rec, err := wal.Open(path, base, opts, collect(&got))
		require.NoError(t, err)
		require.Equal(t, blocks, got)
		require.Equal(t, uint64(500), rec.Last)
		require.Equal(t, len(blocks), rec.Blocks)
		require.Equal(t, len(blocks), rec.Frames)
		require.Equal(t, end, rec.End)
		require.Zero(t, rec.Cut)
		require.False(t, rec.Clean)
		require.Equal(t, pid, rec.Header.PID)

		more := block{from: 501, to: 501, payload: "after opening"}
		add(t, l, more)
		require.NoError(t, l.Close())
		got = nil
		_, err = wal.Read(path, base, opts, collect(&got))
		require.NoError(t, err)
		require.Equal(t, append(blocks[:len(blocks):len(blocks)], more), got)
	})
}

func TestParts(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	want := []block{numbered(1, 10), numbered(2, 1000), numbered(3, 10), {from: 4, to: 40, payload: "0123456789"}}
	add(t, l, want[0])
	addParts(t, l, want[1], 300)
	require.Equal(t, uint64(2), l.Last())
	add(t, l, want[2])
	addParts(t, l, want[3], 1)
	sync(t, l)
	require.NoError(t, l.Close())

	_, rec, got := open(t, m)
	require.Equal(t, want, got)
	require.Equal(t, 4, rec.Blocks)
	require.Equal(t, 1+4+1+10, rec.Frames)
	require.Equal(t, uint64(40), rec.Last)
}

func TestPartsEndEarlyWhenTheReaderStops(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	addParts(t, l, block{from: 1, to: 1, payload: "abc"}, 1)
	want := numbered(2, 5)
	add(t, l, want)
	require.NoError(t, l.Close())
	var seen []string
	_, err := wal.Read(path, base, wal.Options{FS: m}, func(b *wal.Block) error {
		for part, err := range b.Parts() {
			require.NoError(t, err)
			seen = append(seen, string(part))
			break
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a", want.payload}, seen)
}

func TestUnfinishedPartsDoNotCount(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	want := []block{numbered(1, 10)}
	end := add(t, l, want...)
	part := numbered(2, 1000).wal()
	require.NoError(t, l.AppendPart(part))
	require.NoError(t, l.AppendPart(part))
	sync(t, l)
	require.Equal(t, end, l.Durable(), "parts are never told to be durable")
	require.NoError(t, l.Close())

	l, rec, got := open(t, m)
	require.Equal(t, want, got)
	require.Equal(t, end, rec.End)
	require.Equal(t, int64(2*(48+1000)), rec.Cut)
	require.Equal(t, end, l.End())
	want = append(want, numbered(2, 20))
	add(t, l, want[1])
	require.NoError(t, l.Close())
	_, rec, got = open(t, m)
	require.Equal(t, want, got)
	require.Zero(t, rec.Cut)
}

func TestCutback(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	require.NoError(t, l.Cutback(), "nothing to drop")
	want := []block{numbered(1, 10), numbered(2, 300)}
	end := add(t, l, want[0])
	require.NoError(t, l.AppendPart(numbered(2, 5000).wal()))
	require.NoError(t, l.AppendPart(numbered(2, 5000).wal()))
	require.NoError(t, l.Cutback())
	require.Equal(t, end, l.End())
	require.Equal(t, end, l.Size())
	add(t, l, want[1])
	require.NoError(t, l.Close())
	_, _, got := open(t, m)
	require.Equal(t, want, got)
}

func TestOrder(t *testing.T) {
	l := create(t, waltest.NewMem())
	add(t, l, block{from: 5, to: 7})
	for name, b := range map[string]wal.Block{
		"zero":       {},
		"again":      {From: 7, To: 7},
		"backwards":  {From: 9, To: 7},
		"too many":   {From: 8, To: 8 + 1<<32},
		"everything": {From: 8, To: 1<<64 - 1},
	} {
		_, err := l.Append(b)
		require.ErrorIs(t, err, wal.ErrOrder, name)
	}
	require.NoError(t, l.AppendPart(wal.Block{From: 8}))
	require.ErrorIs(t, l.AppendPart(wal.Block{From: 9}), wal.ErrOrder)
	_, err := l.Append(wal.Block{From: 9, To: 9})
	require.ErrorIs(t, err, wal.ErrOrder, "last part of another block")
	_, err = l.Append(wal.Block{From: 8, To: 9})
	require.NoError(t, err)
	require.NoError(t, l.Err(), "a refused block leaves the log usable")
}

func TestFirstBlockFollowsTheHeader(t *testing.T) {
	l, err := wal.Create(path, wal.Header{Base: base, After: 10}, wal.Options{FS: waltest.NewMem()})
	require.NoError(t, err)
	require.Equal(t, uint64(10), l.Last())
	require.Equal(t, uint64(10), l.DurableSeq())
	_, err = l.Append(wal.Block{From: 10, To: 10})
	require.ErrorIs(t, err, wal.ErrOrder)
	add(t, l, numbered(11, 1))
}

func TestTooLarge(t *testing.T) {
	l := create(t, waltest.NewMem())
	_, err := l.Append(wal.Block{From: 1, To: 1, Payload: make([]byte, wal.MaxPayload+1)})
	require.ErrorIs(t, err, wal.ErrTooLarge)
	require.NoError(t, l.Err())
}

func TestBlocksReadInPartsCannotBeAppended(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	addParts(t, l, block{from: 1, to: 1, payload: "ab"}, 1)
	other, err := wal.Create("dir/other", wal.Header{Base: base}, wal.Options{FS: m})
	require.NoError(t, err)
	_, err = wal.Read(path, base, wal.Options{FS: m}, func(b *wal.Block) error {
		_, err := other.Append(*b)
		return err
	})
	require.ErrorIs(t, err, wal.ErrOrder, "its payload would be lost")
}

func TestCreate(t *testing.T) {
	everySystem(t, func(t *testing.T, fsys wal.FS, path string) {
		opts := wal.Options{FS: fsys}
		l, err := wal.Create(path, wal.Header{Base: base, After: 3, Reserved: 9, Clean: true}, opts)
		require.NoError(t, err)
		defer l.Close()
		h, err := wal.ReadHeader(path, opts)
		require.NoError(t, err)
		require.Equal(t, base, h.Base)
		require.Equal(t, uint64(3), h.After)
		require.Equal(t, uint64(9), h.Reserved)
		require.Equal(t, pid, h.PID)
		require.NotZero(t, h.Log)
		require.False(t, h.Clean)
		require.Equal(t, path, l.Path())
		require.Equal(t, uint64(9), l.Reserved())

		_, err = wal.Create(path, wal.Header{Base: base}, opts)
		require.ErrorIs(t, err, fs.ErrExist)
	})
}

func TestCreateOverAnInterruptedOne(t *testing.T) {
	good := waltest.NewMem()
	create(t, good)
	for name, b := range map[string][]byte{
		"nothing":     nil,
		"zeros":       make([]byte, 100_000),
		"torn header": contents(t, good)[:300],
		"one slot":    contents(t, good)[:600],
	} {
		t.Run(name, func(t *testing.T) {
			m := withFile(b)
			l, rec, err := wal.Open(path, base, wal.Options{FS: m}, nil)
			require.NoError(t, err)
			require.Nil(t, l)
			require.Equal(t, wal.Recovery{Empty: true}, rec)
			_, err = wal.ReadHeader(path, wal.Options{FS: m})
			require.ErrorIs(t, err, wal.ErrEmpty)
			add(t, create(t, m), numbered(1, 10))
			_, _, got := open(t, m)
			require.Equal(t, []block{numbered(1, 10)}, got)
		})
	}
}

func TestNoFile(t *testing.T) {
	everySystem(t, func(t *testing.T, fsys wal.FS, path string) {
		opts := wal.Options{FS: fsys}
		l, rec, err := wal.Open(path, base, opts, nil)
		require.NoError(t, err)
		require.Nil(t, l)
		require.True(t, rec.Empty)
		rec, err = wal.Read(path, base, opts, nil)
		require.NoError(t, err)
		require.True(t, rec.Empty)
		rec, err = wal.Inspect(path, opts)
		require.NoError(t, err)
		require.True(t, rec.Empty)
		_, err = wal.ReadHeader(path, opts)
		require.ErrorIs(t, err, fs.ErrNotExist)
	})
}

func TestForeign(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	add(t, l, numbered(1, 10))
	require.NoError(t, l.Close())
	never := func(*wal.Block) error { return errors.New("a foreign block was replayed") }
	other := [16]byte{9}
	_, _, err := wal.Open(path, other, wal.Options{FS: m}, never)
	require.ErrorIs(t, err, wal.ErrForeign)
	_, err = wal.Read(path, other, wal.Options{FS: m}, never)
	require.ErrorIs(t, err, wal.ErrForeign)
	rec, err := wal.Inspect(path, wal.Options{FS: m})
	require.NoError(t, err)
	require.Equal(t, base, rec.Header.Base)
	require.Equal(t, 1, rec.Blocks)
}

func TestOpenStopsWhenTheCallbackFails(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	add(t, l, numbered(1, 10), numbered(2, 10))
	require.NoError(t, l.Close())
	before := contents(t, m)
	stop := errors.New("stop")
	_, _, err := wal.Open(path, base, wal.Options{FS: m}, func(*wal.Block) error { return stop })
	require.ErrorIs(t, err, stop)
	require.Equal(t, before, contents(t, m))
}

func TestReadChangesNothing(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	add(t, l, numbered(1, 10))
	require.NoError(t, l.AppendPart(numbered(2, 10).wal()))
	require.NoError(t, l.Close())
	before := contents(t, m)
	rec, err := wal.Read(path, base, wal.Options{FS: m}, nil)
	require.NoError(t, err)
	require.NotZero(t, rec.Cut)
	_, err = wal.Inspect(path, wal.Options{FS: m})
	require.NoError(t, err)
	require.Equal(t, before, contents(t, m))
}

func TestClosed(t *testing.T) {
	l := create(t, waltest.NewMem())
	end := add(t, l, numbered(1, 10))
	sync(t, l)
	lost := add(t, l, numbered(2, 10))
	require.NoError(t, l.Close())
	_, err := l.Append(numbered(3, 10).wal())
	require.ErrorIs(t, err, wal.ErrClosed)
	require.ErrorIs(t, l.AppendPart(numbered(3, 10).wal()), wal.ErrClosed)
	require.ErrorIs(t, l.Reserve(100), wal.ErrClosed)
	require.ErrorIs(t, l.SyncTo(context.Background(), lost), wal.ErrClosed)
	require.NoError(t, l.SyncTo(context.Background(), end), "that much is on disk")
	require.NoError(t, l.CloseClean())
}

func TestRename(t *testing.T) {
	everySystem(t, func(t *testing.T, fsys wal.FS, path string) {
		opts := wal.Options{FS: fsys}
		l, err := wal.Create(path, wal.Header{Base: base}, opts)
		require.NoError(t, err)
		add(t, l, numbered(1, 10))
		require.NoError(t, l.Rename(path+".old"))
		require.Equal(t, path+".old", l.Path())
		next, err := wal.Create(path, wal.Header{Base: base, After: l.Last()}, opts)
		require.NoError(t, err)
		add(t, next, numbered(2, 10))
		add(t, l, numbered(2, 20))
		require.NoError(t, l.Close())
		require.NoError(t, next.Close())

		var got []block
		_, err = wal.Read(path+".old", base, opts, collect(&got))
		require.NoError(t, err)
		require.Equal(t, []block{numbered(1, 10), numbered(2, 20)}, got)
		got = nil
		_, err = wal.Read(path, base, opts, collect(&got))
		require.NoError(t, err)
		require.Equal(t, []block{numbered(2, 10)}, got)
	})
}

func TestAllocation(t *testing.T) {
	everySystem(t, func(t *testing.T, fsys wal.FS, path string) {
		l, err := wal.Create(path, wal.Header{Base: base}, wal.Options{FS: fsys})
		require.NoError(t, err)
		defer l.Close()
		require.Equal(t, l.End(), l.Size())
		add(t, l, numbered(1, 100))
		require.GreaterOrEqual(t, l.Size(), l.End())
		first := l.Size()
		for i := 2; i < 20; i++ {
			add(t, l, numbered(i, 100))
			require.Equal(t, first, l.Size(), "space is taken in steps")
		}
		add(t, l, numbered(20, 5<<20))
		require.GreaterOrEqual(t, l.Size(), l.End())
		require.LessOrEqual(t, l.Size()-l.End(), int64(4<<20))
	})
}

func TestAnyDurable(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	durable := func() bool {
		rec, err := wal.Inspect(path, wal.Options{FS: m})
		require.NoError(t, err)
		return rec.AnyDurable()
	}
	require.False(t, durable())
	add(t, l, numbered(1, 10), numbered(2, 10))
	require.False(t, durable(), "the header is on disk, no block is")
	sync(t, l)
	add(t, l, numbered(3, 10))
	require.True(t, durable())
}
