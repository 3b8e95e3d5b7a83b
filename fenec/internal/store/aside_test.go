package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is set aside is the whole store, logs and all, and stays when the name goes to
// another.
func TestSetAside(t *testing.T) {
	dir := t.TempDir()
	path, to := filepath.Join(dir, "db"), filepath.Join(dir, "aside")
	write := func(path, what string) { require.NoError(t, os.WriteFile(path, []byte(what), 0o600)) }
	read := func(path string) string {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(b)
	}
	require.ErrorIs(t, SetAside(path, to), fs.ErrNotExist)
	write(path, "base")
	write(LogPath(path), "log")
	write(importingPath(path), "another")
	write(to, "older")
	write(OldLogPath(to), "older log")
	require.NoError(t, SetAside(path, to))
	require.Equal(t, []string{"base", "log"}, []string{read(to), read(LogPath(to))})
	require.NoFileExists(t, OldLogPath(to), "of what had the name before")
	require.NoFileExists(t, importingPath(to))

	write(filepath.Join(dir, "new"), "new")
	require.NoError(t, os.Rename(filepath.Join(dir, "new"), path))
	require.Equal(t, []string{"new", "base"}, []string{read(path), read(to)})
}
