package wal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

func TestReserve(t *testing.T) {
	m := waltest.NewMem()
	fsys := waltest.Inject(m, nil)
	l := create(t, fsys)
	fsys.SetHook(nil)
	for _, upTo := range []uint64{100, 100, 50, 200, 300, 400} {
		require.NoError(t, l.Reserve(upTo))
		require.GreaterOrEqual(t, l.Reserved(), upTo)
		rec, err := wal.Inspect(path, wal.Options{FS: m.Crash(nil)})
		require.NoError(t, err)
		require.Equal(t, l.Reserved(), rec.Reserved)
	}
	require.Equal(t, 4, fsys.Count(waltest.Sync), "what is reserved already costs nothing")
	require.NoError(t, l.Close())
	l, rec, _ := open(t, m)
	require.Equal(t, uint64(400), rec.Reserved)
	require.Equal(t, uint64(400), l.Reserved())
}

// Whichever write of a header a crash tears, the header before it stands.
func TestTornHeader(t *testing.T) {
	for nth := 1; nth <= 6; nth++ {
		for _, keep := range []int64{0, 1, 70, 511, 512} {
			m := waltest.NewMem()
			fsys := waltest.Inject(m, nil)
			l := create(t, fsys)
			fsys.SetHook(waltest.ShortWrite(nth, keep, errDisk))
			granted := uint64(0)
			for upTo := uint64(100); upTo <= 300; upTo += 100 {
				if l.Reserve(upTo) == nil {
					granted = upTo
				}
			}
			rec, err := wal.Inspect(path, wal.Options{FS: m})
			require.NoError(t, err)
			require.GreaterOrEqual(t, rec.Reserved, granted)
			rec, err = wal.Inspect(path, wal.Options{FS: m.Crash(nil)})
			require.NoError(t, err)
			require.GreaterOrEqual(t, rec.Reserved, granted)
		}
	}
}

func TestCloseClean(t *testing.T) {
	everySystem(t, func(t *testing.T, fsys wal.FS, path string) {
		opts := wal.Options{FS: fsys}
		l, err := wal.Create(path, wal.Header{Base: base, Reserved: 1000}, opts)
		require.NoError(t, err)
		add(t, l, numbered(1, 10))
		require.NoError(t, l.AppendPart(numbered(2, 5000).wal()))
		end := l.End()
		require.NoError(t, l.CloseClean())
		require.NoError(t, l.CloseClean())
		require.Equal(t, end, l.Size(), "allocated space is given back")

		rec, err := wal.Inspect(path, opts)
		require.NoError(t, err)
		require.True(t, rec.Clean)
		require.Equal(t, uint64(1), rec.Last)
		require.Equal(t, end, rec.Durable)
		require.Zero(t, rec.Cut)
	})
}

func TestCleanMarkIsDurable(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	add(t, l, numbered(1, 10))
	require.NoError(t, l.CloseClean())
	_, rec, got := open(t, m.Crash(nil))
	require.True(t, rec.Clean)
	require.Equal(t, []block{numbered(1, 10)}, got)
}

func TestCleanMarkComesAfterTheBlocks(t *testing.T) {
	m := waltest.NewMem()
	fsys := waltest.Inject(m, nil)
	l := create(t, fsys)
	add(t, l, numbered(1, 10))
	fsys.SetHook(waltest.Fail(waltest.Sync, 1, errDisk))
	require.ErrorIs(t, l.CloseClean(), errDisk)
	rec, err := wal.Inspect(path, wal.Options{FS: m})
	require.NoError(t, err)
	require.False(t, rec.Clean)
}

// The mark is gone from the disk before the first block after it is written.
func TestCleanMarkIsLostBeforeTheNextBlock(t *testing.T) {
	for name, write := range map[string]func(l *wal.Log) error{
		"append":  func(l *wal.Log) error { _, err := l.Append(numbered(2, 10).wal()); return err },
		"part":    func(l *wal.Log) error { return l.AppendPart(numbered(2, 10).wal()) },
		"reserve": func(l *wal.Log) error { return l.Reserve(5) },
	} {
		t.Run(name, func(t *testing.T) {
			m := waltest.NewMem()
			l := create(t, m)
			add(t, l, numbered(1, 10))
			require.NoError(t, l.CloseClean())

			fsys := waltest.Inject(m, nil)
			l, rec, _ := open(t, fsys)
			require.True(t, rec.Clean)
			require.Zero(t, fsys.Count(waltest.Sync), "opening a clean log takes no flush")
			require.Equal(t, l.End(), l.Durable())
			require.Equal(t, uint64(1), l.DurableSeq())
			require.NoError(t, write(l))
			require.Equal(t, 1, fsys.Count(waltest.Sync))
			_, rec, _ = open(t, m.Crash(nil))
			require.False(t, rec.Clean)
		})
	}
}

func TestCleanLogThatIsNotWrittenStaysClean(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	add(t, l, numbered(1, 10))
	require.NoError(t, l.CloseClean())
	for _, end := range []func(*wal.Log) error{(*wal.Log).Close, (*wal.Log).CloseClean} {
		fsys := waltest.Inject(m, nil)
		l, rec, _ := open(t, fsys)
		require.True(t, rec.Clean)
		require.NoError(t, end(l))
		require.Zero(t, fsys.Count(waltest.Sync))
	}
}

// Whatever stands behind a clean end was not written by this log.
func TestBytesBehindACleanEnd(t *testing.T) {
	m := waltest.NewMem()
	l := create(t, m)
	add(t, l, numbered(1, 10))
	require.NoError(t, l.CloseClean())
	m = withFile(append(contents(t, m), "something else"...))
	l, rec, got := open(t, m)
	require.Equal(t, []block{numbered(1, 10)}, got)
	require.False(t, rec.Clean)
	require.Equal(t, int64(len("something else")), rec.Cut)
	add(t, l, numbered(2, 10))
	require.NoError(t, l.Close())
	_, rec, got = open(t, m.Crash(nil))
	require.False(t, rec.Clean)
	require.Len(t, got, 1)
}

func TestTheOpenerIsNamed(t *testing.T) {
	m := waltest.NewMem()
	b := readTestdata(t, "version1.fenec-log")
	m.WriteFile(path, b)
	h, err := wal.ReadHeader(path, wal.Options{FS: m})
	require.NoError(t, err)
	require.Equal(t, 4242, h.PID)
	open(t, m)
	again, err := wal.ReadHeader(path, wal.Options{FS: m})
	require.NoError(t, err)
	require.Equal(t, pid, again.PID)
	require.True(t, again.Clean)
	require.Equal(t, h.Reserved, again.Reserved)
}

func TestLazy(t *testing.T) {
	m := waltest.NewMem()
	fsys := waltest.Inject(m, nil)
	opts := wal.Options{FS: fsys, Lazy: true}
	l, err := wal.Create(path, wal.Header{Base: base}, opts)
	require.NoError(t, err)
	add(t, l, numbered(1, 10))
	require.Zero(t, fsys.Count(waltest.Sync)+fsys.Count(waltest.SyncDir))
	require.NoError(t, l.Close())

	var got []block
	l, rec, err := wal.Open(path, base, opts, collect(&got))
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Zero(t, rec.Durable)
	require.Zero(t, l.Durable())
	require.Zero(t, fsys.Count(waltest.Sync)+fsys.Count(waltest.SyncDir))
	require.Empty(t, m.Crash(nil).Names())
	add(t, l, numbered(2, 10))
	sync(t, l)
	require.Equal(t, 1, fsys.Count(waltest.SyncDir))
	sync(t, l)
	add(t, l, numbered(3, 10))
	sync(t, l)
	require.Equal(t, 1, fsys.Count(waltest.SyncDir), "the name is flushed once")
	_, _, got = open(t, m.Crash(nil))
	require.Len(t, got, 3)

	require.NoError(t, l.AppendPart(numbered(4, 10).wal()))
	require.NoError(t, l.Close())
	fsys.SetHook(nil)
	_, rec, err = wal.Open(path, base, opts, nil)
	require.NoError(t, err)
	require.NotZero(t, rec.Cut)
	require.Equal(t, 1, fsys.Count(waltest.Sync), "a cut is flushed all the same")
}
