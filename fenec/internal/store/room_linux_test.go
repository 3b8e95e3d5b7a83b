package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// smallDisk mounts a file system of that many bytes, and returns where.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("a disk of a known size takes the right to mount one: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// fillUp takes all room in dir but about that many bytes, and returns what gives it back.
func fillUp(t *testing.T, dir string, but int) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	require.NoError(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	size, err := f.Seek(0, 2)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(size-int64(but)))
	require.NoError(t, f.Close())
	return func() { require.NoError(t, os.Remove(path)) }
}

// A fold for which the disk has no room loses nothing: reads go on, so do writes while
// the log has room, and the next fold catches up.
func TestFoldWithoutRoom(t *testing.T) {
	for _, but := range []int{0, 8 << 10, 64 << 10, 256 << 10} {
		dir := smallDisk(t, "32m")
		s := open(t, filepath.Join(dir, "db"), store.Options{Replay: replayOnce})
		for i := range 20 {
			write(t, s, counted(i+1, 50_000)...)
		}
		require.NoError(t, s.Sync(ctx))
		free := fillUp(t, dir, but)
		require.ErrorIs(t, s.Checkpoint(ctx), syscall.ENOSPC)
		_, err := s.OpenImage(ctx)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.NoError(t, s.Stats().Failure)
		require.Equal(t, 20, count(t, s))
		free()
		write(t, s, counted(21, 50_000)...)
		require.NoError(t, s.Checkpoint(ctx))
		require.Equal(t, s.Seq(), s.Stats().FoldedSeq)
		require.Equal(t, 21, count(t, s))
		require.NoError(t, s.Close())
	}
}

// A store whose logs the disk has no room to fold is opened for reading, and for writing
// once there is.
func TestOpenWithoutRoom(t *testing.T) {
	dir := smallDisk(t, "32m")
	path := filepath.Join(dir, "db")
	s := open(t, path, store.Options{Replay: replayOnce})
	for i := range 20 {
		write(t, s, counted(i+1, 50_000)...)
	}
	require.NoError(t, s.Sync(ctx))
	free := fillUp(t, dir, 32<<10)
	require.ErrorIs(t, s.Checkpoint(ctx), syscall.ENOSPC)
	require.Error(t, s.Close(), "what is in the log stays there")
	require.FileExists(t, store.OldLogPath(path))

	s = open(t, path, store.Options{Replay: replayOnce})
	require.Equal(t, 20, count(t, s))
	_, err := tryWrite(s, counted(21, 1)...)
	require.ErrorIs(t, err, store.ErrFailed)
	require.True(t, strings.Contains(err.Error(), "no space left"), err)
	require.NoError(t, s.Close())
	require.FileExists(t, store.OldLogPath(path))

	free()
	s = open(t, path, store.Options{Replay: replayOnce})
	write(t, s, counted(21, 50_000)...)
	require.Equal(t, 21, count(t, s))
	require.NoError(t, s.Close())
	require.NoError(t, checkCounted(path, store.Options{Replay: replayOnce}))
}
