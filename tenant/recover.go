package tenant

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// recoverTrash finishes what a crash has cut short: where the database is, the rest
// goes. Nobody uses the directory yet.
func (m *Manager) recoverTrash() error {
	trash := filepath.Join(m.dir, trashDir)
	var errs []error
	var dirs []string
	err := scan(trash, func(entry os.DirEntry) { dirs = append(dirs, entry.Name()) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, dir := range dirs {
		whole, unfinished := strings.CutSuffix(dir, partial)
		if d, ok := parseDeleted(whole); ok {
			errs = append(errs, m.recoverDeleted(d, filepath.Join(trash, whole), unfinished))
		}
	}
	return errors.Join(append(errs, err)...)
}

func (m *Manager) recoverDeleted(d Deleted, dir string, unfinished bool) error {
	at := dir
	if unfinished {
		at += partial
	}
	_, err := os.Lstat(filepath.Join(at, d.Name+suffix))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// It was not taken here yet, or is back, or was being purged: what is here is
		// nobody's.
		return errors.Join(os.RemoveAll(at), syncDir(filepath.Dir(at)))
	case err != nil || !unfinished:
		return err
	}
	if _, err := os.Lstat(m.path(d.Name)); err == nil {
		// The name is somebody else's by now, and so is what lies beside it.
		return errors.Join(os.Rename(at, dir), syncDir(filepath.Dir(dir)))
	}
	return m.finishDiscard(d.Name, dir)
}
