package base_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

func TestCreateAndOpen(t *testing.T) {
	path := newPath(t)
	_, err := base.Open(path)
	require.ErrorIs(t, err, base.ErrNotExist)
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, base.Create(path))
	f := open(t, path)
	require.Zero(t, f.Folded())
	require.NotZero(t, f.ID())
	require.Positive(t, f.Size())
	require.Empty(t, contents(t, f, 1))
	verify(t, f)
	id := f.ID()
	fold(t, f, 7, put(1, "k", "v"))
	require.NoError(t, f.Close())

	f = open(t, path)
	require.Equal(t, id, f.ID(), "the id is the file's for life")
	require.EqualValues(t, 7, f.Folded())
	require.Equal(t, []string{"k=v"}, contents(t, f, 1))
}

func TestCreateTakesNoName(t *testing.T) {
	f, path := create(t)
	fold(t, f, 1, put(1, "k", "v"))
	require.ErrorIs(t, base.Create(path), fs.ErrExist)
	require.Equal(t, []string{"k=v"}, contents(t, f, 1))
	requireAlone(t, path)
}

// requireAlone checks that nothing lies beside path.
func requireAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, filepath.Base(path), entries[0].Name())
}

// Of those that create a file at once one succeeds, and the file is whole.
func TestCreateIsARace(t *testing.T) {
	for range 10 {
		path := newPath(t)
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = base.Create(path) })
		}
		wg.Wait()
		made := 0
		for _, err := range errs {
			if err == nil {
				made++
			} else {
				require.ErrorIs(t, err, fs.ErrExist)
			}
		}
		require.Equal(t, 1, made)
		f := open(t, path)
		verify(t, f)
		requireAlone(t, path)
	}
}

func TestIDsDiffer(t *testing.T) {
	a, _ := create(t)
	b, _ := create(t)
	require.NotEqual(t, a.ID(), b.ID())
}

func TestOneAtATime(t *testing.T) {
	f, path := create(t)
	_, err := base.Open(path)
	require.ErrorIs(t, err, base.ErrInUse)

	out, err := child(t, "open", path).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "in use", string(out))

	require.NoError(t, f.Close())
	out, err = child(t, "open", path).CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "opened", string(out))
	open(t, path)
}

// A failed open lets go of the lock.
func TestFailedOpenHoldsNothing(t *testing.T) {
	f, path := create(t)
	fold(t, f, 1, numbered(1, 1, 1000, 100)...)
	used := usedBytes(t, f)
	require.NoError(t, f.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for cut := used - 1; cut > 0; cut -= 8 << 10 {
		require.NoError(t, os.WriteFile(path, whole[:cut], 0o600))
		_, err = base.Open(path)
		require.ErrorIs(t, err, base.ErrCorrupt)
	}
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	require.Len(t, contents(t, open(t, path), 1), 1000)
}

// usedBytes returns how much of the file is in use: what lies behind it may be
// cut off.
func usedBytes(t *testing.T, f *base.File) int64 {
	t.Helper()
	tx := acquire(t, f)
	defer tx.Release()
	return tx.Bytes()
}

func TestClosed(t *testing.T) {
	f, _ := create(t)
	fold(t, f, 1, put(1, "k", "v"))
	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
	_, err := f.Acquire()
	require.ErrorIs(t, err, base.ErrClosed)
	require.ErrorIs(t, f.Compact(), base.ErrClosed)
	require.ErrorIs(t, f.Fold(2, yield(put(1, "k", "w"))), base.ErrClosed)
	require.Zero(t, f.Size())
	require.Zero(t, f.FreeBytes())
}

func TestOpenRefuses(t *testing.T) {
	whole := func() []byte {
		f, path := create(t)
		fold(t, f, 1, numbered(1, 1, 100, 100)...)
		used := usedBytes(t, f)
		require.NoError(t, f.Close())
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return b[:used]
	}()
	for name, b := range map[string][]byte{
		"empty":            {},
		"one byte":         {0},
		"short":            make([]byte, 100),
		"text":             []byte(fmt.Sprintf("%4000s", "this is no database")),
		"zeros":            make([]byte, len(whole)),
		"half a page":      whole[:2048],
		"one page":         whole[:4096],
		"two pages":        whole[:8192],
		"one byte too few": whole[:len(whole)-1],
		"one page too few": whole[:len(whole)-4096],
		"both metas gone":  append(make([]byte, 8192), whole[8192:]...),
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			require.NoError(t, os.WriteFile(path, b, 0o600))
			f, err := base.Open(path)
			if err == nil {
				require.NoError(t, f.Close())
			}
			require.ErrorIs(t, err, base.ErrCorrupt)
			require.ErrorContains(t, err, path)
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			require.True(t, string(b) == string(left), "a refused file stays as it is")
		})
	}
}

// A file whose newest meta page was torn goes back to the fold before.
func TestTornMeta(t *testing.T) {
	f, path := create(t)
	fold(t, f, 1, put(1, "k", "one"))
	fold(t, f, 2, put(1, "k", "two"))
	require.NoError(t, f.Close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	seen := map[uint64]bool{}
	for meta := range 2 {
		torn := append([]byte(nil), whole...)
		clear(torn[meta*4096+64 : (meta+1)*4096])
		require.NoError(t, os.WriteFile(path, torn, 0o600))
		f, err := base.Open(path)
		require.NoError(t, err)
		want := map[uint64]string{1: "k=one", 2: "k=two"}[f.Folded()]
		require.Equal(t, []string{want}, contents(t, f, 1))
		seen[f.Folded()] = true
		require.NoError(t, f.Close())
	}
	require.Len(t, seen, 2)
}

func TestOpenOtherFiles(t *testing.T) {
	t.Run("directory", func(t *testing.T) {
		_, err := base.Open(t.TempDir())
		require.ErrorContains(t, err, "not a regular file")
	})
	t.Run("bbolt without a description", func(t *testing.T) {
		path := newPath(t)
		db, err := bolt.Open(path, 0o600, nil)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		_, err = base.Open(path)
		require.ErrorIs(t, err, base.ErrCorrupt)
	})
	for name, change := range map[string]func(*bolt.Bucket) error{
		"no id":           func(b *bolt.Bucket) error { return b.Delete([]byte("id")) },
		"a short id":      func(b *bolt.Bucket) error { return b.Put([]byte("id"), []byte("short")) },
		"no sequence":     func(b *bolt.Bucket) error { return b.Delete([]byte("seq")) },
		"a long sequence": func(b *bolt.Bucket) error { return b.Put([]byte("seq"), make([]byte, 9)) },
		"no format":       func(b *bolt.Bucket) error { return b.Delete([]byte("format")) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openChanged(t, change)
			require.ErrorIs(t, err, base.ErrCorrupt)
		})
	}
	t.Run("another format", func(t *testing.T) {
		_, err := openChanged(t, func(b *bolt.Bucket) error { return b.Put([]byte("format"), []byte{0, 0, 0, 99}) })
		require.ErrorContains(t, err, "format 99")
		require.False(t, errors.Is(err, base.ErrCorrupt), "a newer format is no damage")
	})
}

// openChanged opens a base whose description has been changed.
func openChanged(t *testing.T, change func(*bolt.Bucket) error) (*base.File, error) {
	t.Helper()
	path := newPath(t)
	require.NoError(t, base.Create(path))
	db, err := bolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(func(tx *bolt.Tx) error { return change(tx.Bucket([]byte("fenec"))) }))
	require.NoError(t, db.Close())
	return base.Open(path)
}

func TestMemory(t *testing.T) {
	f, err := base.OpenMemory()
	require.NoError(t, err)
	defer f.Close()
	other, err := base.OpenMemory()
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NotEqual(t, f.ID(), other.ID())

	fold(t, f, 5, numbered(1, 1, 2000, 50)...)
	require.EqualValues(t, 5, f.Folded())
	require.Len(t, contents(t, f, 1), 2000)
	verify(t, f)
	require.NoError(t, f.Close())
	_, err = f.Acquire()
	require.ErrorIs(t, err, base.ErrClosed)
}
