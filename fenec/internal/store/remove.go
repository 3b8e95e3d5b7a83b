package store

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/wal"
)

// Remove deletes the closed store at path: the base first, then whatever lies
// beside it. A damaged base is deleted too; one in use is not.
func Remove(path string) error {
	f, err := base.Open(path)
	if err != nil && !errors.Is(err, base.ErrCorrupt) {
		return fmt.Errorf("remove: %w", err)
	}
	errs := []error{removeIfThere(path), removeLogs(path, wal.OS)}
	for _, side := range []string{".creating", ".compacting", ".importing"} {
		errs = append(errs, removeIfThere(path+side))
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
