package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// SetAside gives the closed store at path a second name on the same file system, durably.
// What had that name is gone. The base gets it last: a crash leaves none of that name, or
// a whole store.
func SetAside(path, to string) error {
	files, names := kept(path), kept(to)
	var errs []error
	for _, name := range names {
		errs = append(errs, removeIfThere(name))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("set aside %s: %w", path, err)
	}
	for i := len(files) - 1; i >= 0; i-- {
		err := secondName(files[i], names[i])
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue // a log that there is none of
		}
		if err != nil {
			return fmt.Errorf("set aside %s: %w", path, err)
		}
	}
	return base.SyncDir(filepath.Dir(to))
}

// kept returns what a closed store at path needs: its base, and the logs that could not be
// folded into it.
func kept(path string) []string { return []string{path, OldLogPath(path), LogPath(path)} }

// secondName gives a file one more name. Where the file system has only one for each, it is
// copied.
func secondName(path, to string) error {
	err := os.Link(path, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, removeIfThere(to))
	}
	return nil
}
