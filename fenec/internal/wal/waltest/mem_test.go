package waltest_test

import (
	"bytes"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/wal"
	"github.com/fenec-go/fenecdb/fenec/internal/wal/waltest"
)

func openFile(t *testing.T, fsys wal.FS, path string, flag int) wal.File {
	t.Helper()
	f, err := fsys.OpenFile(path, flag, 0o600)
	require.NoError(t, err)
	return f
}

func writeAt(t *testing.T, f wal.File, text string, off int64) {
	t.Helper()
	_, err := f.WriteAt([]byte(text), off)
	require.NoError(t, err)
}

func TestFile(t *testing.T) {
	m := waltest.NewMem()
	f := openFile(t, m, "d/f", os.O_RDWR|os.O_CREATE)
	writeAt(t, f, "hello", 3)
	require.NoError(t, f.Allocate(8, 4))
	size, err := f.Size()
	require.NoError(t, err)
	require.Equal(t, int64(12), size)
	require.NoError(t, f.Truncate(6))
	require.NoError(t, f.Truncate(8))
	b, err := m.ReadFile("d/f")
	require.NoError(t, err)
	require.Equal(t, "\x00\x00\x00hel\x00\x00", string(b))

	got := make([]byte, 10)
	n, err := f.ReadAt(got, 4)
	require.Equal(t, 4, n)
	require.ErrorIs(t, err, io.EOF)
	_, err = f.ReadAt(got, 20)
	require.ErrorIs(t, err, io.EOF)

	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Close(), fs.ErrClosed)
	_, err = f.WriteAt(got, 0)
	require.ErrorIs(t, err, fs.ErrClosed)
}

func TestOpenFlags(t *testing.T) {
	m := waltest.NewMem()
	_, err := m.OpenFile("f", os.O_RDWR, 0)
	require.ErrorIs(t, err, fs.ErrNotExist)
	openFile(t, m, "f", os.O_RDWR|os.O_CREATE|os.O_EXCL)
	_, err = m.OpenFile("f", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0)
	require.ErrorIs(t, err, fs.ErrExist)
	m.WriteFile("f", []byte("text"))
	r := openFile(t, m, "f", os.O_RDONLY)
	_, err = r.WriteAt([]byte("x"), 0)
	require.Error(t, err)
	require.Error(t, r.Truncate(0))
	openFile(t, m, "f", os.O_RDWR|os.O_TRUNC)
	b, err := m.ReadFile("f")
	require.NoError(t, err)
	require.Empty(t, b)
}

func TestNames(t *testing.T) {
	m := waltest.NewMem()
	openFile(t, m, "d/a", os.O_RDWR|os.O_CREATE)
	openFile(t, m, "d/b", os.O_RDWR|os.O_CREATE)
	require.NoError(t, m.Rename("d/a", "d/c"))
	require.NoError(t, m.Remove("d/b"))
	require.ErrorIs(t, m.Rename("d/a", "d/x"), fs.ErrNotExist)
	require.ErrorIs(t, m.Remove("d/a"), fs.ErrNotExist)
	require.Equal(t, []string{"d/c"}, m.Names())
	require.Empty(t, m.Crash(nil).Names(), "no name was flushed")
	require.NoError(t, m.SyncDir("other"))
	require.Empty(t, m.Crash(nil).Names())
	require.NoError(t, m.SyncDir("d"))
	require.Equal(t, []string{"d/c"}, m.Crash(nil).Names())

	openFile(t, m, "d/n", os.O_RDWR|os.O_CREATE)
	require.NoError(t, m.Rename("d/c", "d/old"))
	seen := map[string]bool{}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		names := m.Crash(rng).Names()
		seen[string(bytes.Join([][]byte{[]byte(names[0]), []byte(names[len(names)-1])}, []byte(" ")))] = true
	}
	require.Equal(t, map[string]bool{"d/c d/c": true, "d/c d/n": true, "d/n d/old": true}, seen, "changes to names keep their order")
}

func TestCrashKeepsWhatWasFlushed(t *testing.T) {
	m := waltest.NewMem()
	f := openFile(t, m, "d/f", os.O_RDWR|os.O_CREATE)
	require.NoError(t, m.SyncDir("d"))
	writeAt(t, f, "flushed", 0)
	require.NoError(t, f.Sync())
	writeAt(t, f, "not", 0)
	read := func(m *waltest.Mem) string {
		b, err := m.ReadFile("d/f")
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, "flushed", read(m.Crash(nil)))
	require.Equal(t, "notshed", read(m))
	clone := m.Clone()
	require.Equal(t, "notshed", read(clone))
	require.Equal(t, "flushed", read(clone.Crash(nil)))
	g := openFile(t, clone, "d/f", os.O_RDWR)
	writeAt(t, g, "clone", 0)
	require.Equal(t, "notshed", read(m), "a clone is on its own")
}

// Every sector comes out of a crash in some state it had, by itself.
func TestCrashOfSectors(t *testing.T) {
	const n = waltest.SectorBytes
	m := waltest.NewMem()
	f := openFile(t, m, "d/f", os.O_RDWR|os.O_CREATE)
	require.NoError(t, m.SyncDir("d"))
	fill := func(c byte) {
		_, err := f.WriteAt(bytes.Repeat([]byte{c}, 2*n), 0)
		require.NoError(t, err)
	}
	fill('a')
	require.NoError(t, f.Sync())
	fill('b')
	require.NoError(t, f.Truncate(0))
	fill('c')
	seen := map[string]bool{}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		b, err := m.Crash(rng).ReadFile("d/f")
		require.NoError(t, err)
		state := ""
		for ; len(b) > 0; b = b[n:] {
			require.Equal(t, bytes.Repeat(b[:1], n), b[:n], "a sector is never torn")
			state += string(b[:1])
		}
		seen[state] = true
	}
	require.Contains(t, seen, "")
	for _, first := range "abc\x00" {
		for _, second := range "abc\x00" {
			require.Contains(t, seen, string(first)+string(second))
		}
	}
	require.Len(t, seen, 17)
}
