package store_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// begunImage returns a store of n counted blocks, and an image of it of which some
// bytes are read.
func begunImage(t *testing.T, n int, opts store.Options) (s *store.Store, m *store.Image, begun []byte) {
	t.Helper()
	s = open(t, filepath.Join(t.TempDir(), "db"), opts)
	for i := 1; i <= n; i++ {
		write(t, s, counted(i, 300)...)
	}
	m, err := s.OpenImage(ctx)
	require.NoError(t, err)
	begun = make([]byte, 10_000)
	_, err = io.ReadFull(m, begun)
	require.NoError(t, err)
	return s, m, begun
}

// requireRest requires what is left of an image to make a store of n blocks.
func requireRest(t *testing.T, m *store.Image, begun []byte, n int) {
	t.Helper()
	rest := bytes.NewBuffer(begun)
	_, err := m.WriteTo(rest)
	require.NoError(t, err)
	require.EqualValues(t, m.Size(), rest.Len())
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	path := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, store.Install(path, rest, nil))
	require.NoError(t, checkCounted(path, store.Options{}))
	require.Equal(t, n, count(t, open(t, path, store.Options{})))
}

// An image shows its moment, whatever is folded and compacted while it is read.
func TestImageBesideFolds(t *testing.T) {
	s, m, begun := begunImage(t, 20, store.Options{})
	for i := 21; i <= 30; i++ {
		write(t, s, counted(i, 300)...)
		require.NoError(t, s.Checkpoint(ctx))
	}
	require.NoError(t, s.Compact(ctx))
	write(t, s, counted(31, 300)...)
	require.NoError(t, s.Checkpoint(ctx))
	require.False(t, m.SetAside())
	requireRest(t, m, begun, 20)
	require.Zero(t, s.Held())
	require.Equal(t, 31, count(t, s))
}

// One that takes long is set aside by a fold, and ends no differently.
func TestImageThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m, begun := begunImage(t, 20, store.Options{})
		write(t, s, counted(21, 300)...)
		require.NoError(t, s.Checkpoint(ctx))
		require.Equal(t, 1, s.Held(), "it is young")
		time.Sleep(time.Minute)
		require.Equal(t, 1, s.Held(), "nobody minds")
		write(t, s, counted(22, 300)...)
		require.NoError(t, s.Checkpoint(ctx))
		require.Zero(t, s.Held())
		require.True(t, m.SetAside())
		requireRest(t, m, begun, 20)
		require.NoError(t, s.Close())
		requireAlone(t, s.Path())
	})
}

// A store is closed though its image is not read, and the image can be read on.
func TestImageOutlivesItsStore(t *testing.T) {
	for name, opts := range map[string]store.Options{"folding": {}, "unfolded": {NoCheckpoint: true}} {
		t.Run(name, func(t *testing.T) {
			s, m, begun := begunImage(t, 20, opts)
			write(t, s, counted(21, 300)...)
			require.NoError(t, s.Close())
			require.True(t, m.SetAside())
			requireRest(t, m, begun, 20)
			if name == "folding" {
				requireAlone(t, s.Path())
			}
		})
	}
}

// An image that cannot be set aside does not keep its store, and does not end as if
// it were whole.
func TestImageThatCannotBeSetAside(t *testing.T) {
	s, m, _ := begunImage(t, 20, store.Options{NoCheckpoint: true})
	require.NoError(t, os.RemoveAll(filepath.Dir(s.Path())))
	_ = s.Close()
	require.Zero(t, s.Held())
	_, err := m.WriteTo(io.Discard)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "set aside")
	require.NoError(t, m.Close())
}

// What is closed is not read, and holds nothing.
func TestClosedImage(t *testing.T) {
	s, m, _ := begunImage(t, 3, store.Options{})
	require.Equal(t, 1, s.Held())
	require.NoError(t, m.Close())
	require.Zero(t, s.Held())
	_, err := m.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrClosed)
}

// requireAlone checks that nothing lies beside the store at path.
func requireAlone(t testing.TB, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
