package waltest_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

var errTest = errors.New("no")

func TestEveryOperationPassesTheHook(t *testing.T) {
	all := waltest.Inject(waltest.NewMem(), nil)
	f := openFile(t, all, "d/f", os.O_RDWR|os.O_CREATE)
	all.SetHook(func(waltest.Op) *waltest.Fault { return &waltest.Fault{Err: errTest} })
	_, openErr := all.OpenFile("d/f", os.O_RDWR, 0)
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	_, writeErr := f.WriteAt(make([]byte, 1), 0)
	for kind, err := range map[waltest.Kind]error{
		waltest.Open:     openErr,
		waltest.Read:     readErr,
		waltest.Write:    writeErr,
		waltest.Rename:   all.Rename("d/f", "d/g"),
		waltest.Remove:   all.Remove("d/f"),
		waltest.SyncDir:  all.SyncDir("d"),
		waltest.Truncate: f.Truncate(1),
		waltest.Allocate: f.Allocate(0, 1),
		waltest.Sync:     f.Sync(),
	} {
		require.ErrorIs(t, err, errTest, kind)
		require.Equal(t, 1, all.Count(kind), kind)
	}
	all.SetHook(nil)
	require.Zero(t, all.Count(waltest.Sync))
	require.NoError(t, f.Sync())
	require.NoError(t, all.Rename("d/f", "d/g"))
	require.NoError(t, all.Remove("d/g"))
}

func TestDiskFull(t *testing.T) {
	m := waltest.NewMem()
	full := waltest.Inject(m, waltest.DiskFull(10))
	f := openFile(t, full, "f", os.O_RDWR|os.O_CREATE)
	require.ErrorIs(t, f.Allocate(0, 11), syscall.ENOSPC)
	writeAt(t, f, "0123456", 0)
	n, err := f.WriteAt([]byte("789abc"), 7)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Equal(t, 3, n)
	b, err := m.ReadFile("f")
	require.NoError(t, err)
	require.Equal(t, "0123456789", string(b))
	n, err = f.WriteAt([]byte("x"), 10)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.Zero(t, n)
}

func TestNthAndShortWrites(t *testing.T) {
	m := waltest.NewMem()
	fsys := waltest.Inject(m, waltest.Chain(waltest.ShortWrite(2, 1, errTest), waltest.Fail(waltest.Sync, 2, errTest)))
	f := openFile(t, fsys, "f", os.O_RDWR|os.O_CREATE)
	writeAt(t, f, "aa", 0)
	n, err := f.WriteAt([]byte("bb"), 2)
	require.ErrorIs(t, err, errTest)
	require.Equal(t, 1, n)
	writeAt(t, f, "cc", 3)
	b, err := m.ReadFile("f")
	require.NoError(t, err)
	require.Equal(t, "aabcc", string(b))
	require.NoError(t, f.Sync())
	require.ErrorIs(t, f.Sync(), errTest)
	require.NoError(t, f.Sync())
}

// A flush covers what was written before it began, not what comes meanwhile.
func TestGate(t *testing.T) {
	m := waltest.NewMem()
	gate := waltest.NewGate(waltest.Sync)
	fsys := waltest.Inject(m, gate.Hook)
	f := openFile(t, fsys, "d/f", os.O_RDWR|os.O_CREATE)
	require.NoError(t, fsys.SyncDir("d"))
	writeAt(t, f, "before", 0)
	done := make(chan error)
	go func() { done <- f.Sync() }()
	require.Equal(t, "d/f", gate.Wait().Path)
	writeAt(t, f, "during", 0)
	gate.Pass(nil)
	require.NoError(t, <-done)
	b, err := m.Crash(nil).ReadFile("d/f")
	require.NoError(t, err)
	require.Equal(t, "before", string(b))

	go func() { done <- f.Sync() }()
	<-gate.Entered()
	gate.Pass(&waltest.Fault{Err: errTest})
	require.ErrorIs(t, <-done, errTest)
	go func() { done <- f.Sync() }()
	gate.Wait()
	gate.Open()
	gate.Open()
	require.NoError(t, <-done)
	require.NoError(t, f.Sync())
}
