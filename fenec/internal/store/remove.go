package store

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// Files returns the paths of all that a closed store at path may consist of, or
// that was left beside it: the base, its logs in the order in which they are to go,
// and side files.
func Files(path string) []string {
	old, log := OldLogPath(path), LogPath(path)
	return []string{path, old, log, old + foreignSuffix, log + foreignSuffix,
		path + base.CompactingSuffix, importingPath(path)}
}

// Remove deletes the closed store at path: the base first, then whatever lies
// beside it. A damaged base is deleted too; one in use is not.
func Remove(path string) error {
	f, err := base.Open(path)
	if err != nil && !errors.Is(err, base.ErrCorrupt) {
		return fmt.Errorf("remove: %w", err)
	}
	var errs []error
	for _, file := range Files(path) {
		errs = append(errs, removeIfThere(file))
	}
	errs = append(errs, base.SyncDir(filepath.Dir(path)))
	if f != nil {
		errs = append(errs, f.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}
