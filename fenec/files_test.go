package fenec_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

func TestCloseUnfoldedLeavesTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.fenec")
	db, err := fenec.Open(path, fenec.Options{Sync: fenec.SyncOff})
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), "create collection a (b int)")
	require.NoError(t, err)
	st, err := db.Stats()
	require.NoError(t, err)
	total, unfolded := db.MemoryBytes()
	require.Equal(t, st.MemoryBytes, total)
	require.Equal(t, total, unfolded, "nothing is folded")
	require.NoError(t, db.CloseUnfolded())
	require.NoError(t, db.CloseUnfolded())
	require.Equal(t, []string{"a.fenec", "a.fenec-log"}, baseNames(there(t, path)))

	db, err = fenec.Open(path, fenec.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, db.Collections())
	require.NoError(t, db.Close())
	require.Equal(t, []string{"a.fenec"}, baseNames(there(t, path)))
}

// there returns the files of a database that are there.
func there(t *testing.T, path string) (out []string) {
	for _, file := range fenec.Files(path) {
		if _, err := os.Lstat(file); err == nil {
			out = append(out, file)
		} else {
			require.ErrorIs(t, err, os.ErrNotExist)
		}
	}
	return out
}

func baseNames(paths []string) (out []string) {
	for _, p := range paths {
		out = append(out, filepath.Base(p))
	}
	return out
}

func TestReceiveGivesNoNameUntilInstall(t *testing.T) {
	dir := t.TempDir()
	db, err := fenec.Open(filepath.Join(dir, "from.fenec"), fenec.Options{})
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(t.Context(), "create collection a (b int)")
	require.NoError(t, err)
	path := filepath.Join(dir, "to.fenec")
	receive := func() *fenec.Arrival {
		m, err := db.OpenImage(t.Context())
		require.NoError(t, err)
		defer m.Close()
		a, err := fenec.Receive(path, m)
		require.NoError(t, err)
		return a
	}
	a := receive()
	require.NoFileExists(t, path)
	require.NoError(t, a.Close())
	require.Empty(t, there(t, path), "what was not installed is gone")

	a = receive()
	require.NoError(t, a.Install())
	_, err = fenec.Open(path, fenec.Options{})
	require.ErrorIs(t, err, fenec.ErrInUse, "until the arrival is closed")
	require.NoError(t, a.Close())
	_, err = fenec.Receive(path, nil)
	require.ErrorIs(t, err, os.ErrExist)
	copied, err := fenec.Open(path, fenec.Options{MustExist: true})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, copied.Collections())
	require.NoError(t, copied.Close())
}
