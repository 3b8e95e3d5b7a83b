package base_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

func TestCompact(t *testing.T) {
	f, path := create(t)
	fold(t, f, 1, numbered(1, 1, 20000, 100)...)
	fold(t, f, 2, numbered(2, 1, 100, 50)...)
	fold(t, f, 3, drop(1))
	fold(t, f, 4, put(3, "k", "v"), put(3, "no value", ""))
	id, size, free := f.ID(), f.Size(), f.FreeBytes()
	require.Greater(t, free, size/2)
	want := contents(t, f, 2)

	require.NoError(t, f.Compact())
	require.Less(t, f.Size(), size/10)
	require.Less(t, f.FreeBytes(), free/10)
	requireAlone(t, path)
	for range 2 {
		require.Equal(t, id, f.ID())
		require.EqualValues(t, 4, f.Folded())
		require.Equal(t, want, contents(t, f, 2))
		require.Equal(t, []string{"k=v", "no value="}, contents(t, f, 3))
		verify(t, f)
		fold(t, f, 4, put(3, "k", "v"))
		require.NoError(t, f.Close())
		f = open(t, path)
	}
}

// The lock is held throughout: it passes from the old file to the new one.
func TestCompactKeepsTheLock(t *testing.T) {
	f, path := create(t)
	fold(t, f, 1, put(1, "k", "v"))
	require.NoError(t, f.Compact())
	_, err := base.Open(path)
	require.ErrorIs(t, err, base.ErrInUse)
	fold(t, f, 2, put(1, "k", "w"))
	require.NoError(t, f.Close())
	require.Equal(t, []string{"k=w"}, contents(t, open(t, path), 1), "what is folded goes to the new file")
}

func TestCompactAfterAnInterruptedOne(t *testing.T) {
	f, path := create(t)
	require.NoError(t, os.WriteFile(path+".compacting", []byte("half a file"), 0o600))
	fold(t, f, 1, put(1, "k", "v"))
	require.NoError(t, f.Compact())
	require.Equal(t, []string{"k=v"}, contents(t, f, 1))
	requireAlone(t, path)
}

// A compaction that cannot finish leaves the file in use and in place.
func TestFailedCompact(t *testing.T) {
	f, path := create(t)
	fold(t, f, 1, put(1, "k", "v"))
	require.NoError(t, os.Mkdir(path+".compacting", 0o700))
	require.NoError(t, os.WriteFile(path+".compacting/x", nil, 0o600))
	require.Error(t, f.Compact())
	require.NoError(t, os.RemoveAll(path+".compacting"))
	fold(t, f, 2, put(1, "k", "w"))
	require.NoError(t, f.Close())
	require.Equal(t, []string{"k=w"}, contents(t, open(t, path), 1))
}

// When the directory cannot be synced the compacted file is in use all the
// same: what is folded from then on goes where the name leads.
func TestCompactOfUncertainName(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is forbidden to root")
	}
	f, path := create(t)
	fold(t, f, 1, put(1, "k", "v"))
	dir := filepath.Dir(path)
	require.NoError(t, os.Chmod(dir, 0o300)) // names can be changed, not read
	err := f.Compact()
	require.NoError(t, os.Chmod(dir, 0o700))
	require.ErrorIs(t, err, base.ErrUncertain)
	fold(t, f, 2, put(1, "k", "w"))
	require.NoError(t, f.Close())
	require.Equal(t, []string{"k=w"}, contents(t, open(t, path), 1))
}

func TestCompactBesideReaders(t *testing.T) {
	f, path := create(t)
	const spaces = 5
	done := make(chan struct{})
	errs := make(chan error, 3)
	foldRound := func(round int) {
		var changes []base.Change
		for space := range uint32(spaces) {
			changes = append(changes, numbered(space, 0, 40, 10+round%13)...)
		}
		fold(t, f, uint64(round), changes...)
	}
	foldRound(1)
	var readers sync.WaitGroup
	for i := range cap(errs) {
		readers.Go(func() { errs <- readUntil(done, f, spaces, rand.New(rand.NewPCG(7, uint64(i)))) })
	}
	for round := 2; round < 20; round++ {
		foldRound(round)
		require.NoError(t, f.Compact())
		_ = f.Size() + f.FreeBytes()
	}
	close(done)
	readers.Wait()
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	verify(t, f)
	requireAlone(t, path)
}

func TestReader(t *testing.T) {
	for name, f := range map[string]func(*testing.T) *base.File{
		"file": func(t *testing.T) *base.File { f, _ := create(t); return f },
		"compacted file": func(t *testing.T) *base.File {
			f, _ := create(t)
			require.NoError(t, f.Compact())
			return f
		},
		"memory": func(t *testing.T) *base.File {
			f, err := base.OpenMemory()
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, f.Close()) })
			return f
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := f(t)
			fold(t, f, 5, numbered(1, 1, 1000, 100)...)
			want := contents(t, f, 1)
			tx := acquire(t, f)
			fold(t, f, 6, numbered(1, 500, 1500, 50)...)
			r, err := tx.Reader()
			require.NoError(t, err)
			fold(t, f, 6, numbered(1, 1, 1500, 70)...)
			var copied bytes.Buffer
			n, err := copied.ReadFrom(r)
			require.NoError(t, err)
			require.Equal(t, tx.Bytes(), n)
			tx.Release()
			fold(t, f, 7, put(1, "z", "still open"))

			path := newPath(t)
			require.NoError(t, os.WriteFile(path, copied.Bytes(), 0o600))
			g := open(t, path)
			require.Equal(t, f.ID(), g.ID())
			require.EqualValues(t, 5, g.Folded())
			require.Equal(t, want, contents(t, g, 1))
			verify(t, g)
			require.NoError(t, g.Close())

			adopt(t, path)
			g = open(t, path)
			require.NotEqual(t, f.ID(), g.ID(), "a copy that is adopted is another file")
			require.EqualValues(t, 5, g.Folded())
			require.Equal(t, want, contents(t, g, 1))
			verify(t, g)
		})
	}
}

func TestPublish(t *testing.T) {
	_, path := create(t)
	side := path + ".side"
	require.NoError(t, os.WriteFile(side, []byte("new"), 0o600))
	require.ErrorIs(t, base.Publish(side, path), fs.ErrExist)
	require.NoError(t, base.Publish(side, path+".2"))
	b, err := os.ReadFile(path + ".2")
	require.NoError(t, err)
	require.Equal(t, "new", string(b))
	require.NoFileExists(t, side)
}
