package quota

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fenec-go/fenecdb/fenec"
)

// writing is what the file that is to replace another is called meanwhile, after
// its name. One that is left behind by a crash means nothing.
const writing = ".writing"

// Load reads the limits kept in the file at path; without one there are none.
// Where the file does not hold limits the error matches fenec.ErrCorrupt.
func Load(path string) (Limits, error) {
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Limits{}, nil
	}
	if err != nil {
		return Limits{}, fmt.Errorf("quota: %w", err)
	}
	l, err := Parse(text)
	if err != nil {
		return Limits{}, fmt.Errorf("%w: %s: %w", fenec.ErrCorrupt, path, err)
	}
	return l, nil
}

// readFile reads no more than shows that the file is too long.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxJSON+1))
	return text, errors.Join(err, f.Close())
}

// Save keeps the limits in the file at path in place of those that were there.
// When it returns they are on disk; a crash before leaves the old ones or the new
// ones, whole. No limits are kept as no file. Saves of one path must not overlap.
func Save(path string, l Limits) error {
	if err := save(osFiles{}, path, l); err != nil {
		return fmt.Errorf("quota: %w", err)
	}
	return nil
}

// Remove deletes the file at path, if there is one, and what a crash left beside
// it.
func Remove(path string) error {
	if err := remove(osFiles{}, path); err != nil {
		return fmt.Errorf("quota: %w", err)
	}
	return nil
}

func save(files fileSystem, path string, l Limits) error {
	if l == (Limits{}) {
		return remove(files, path)
	}
	if err := write(files, path+writing, l.text()); err != nil {
		return errors.Join(err, removeIfThere(files, path+writing))
	}
	if err := files.Rename(path+writing, path); err != nil {
		return errors.Join(err, removeIfThere(files, path+writing))
	}
	return files.SyncDir(filepath.Dir(path))
}

func write(files fileSystem, path string, text []byte) error {
	f, err := files.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func remove(files fileSystem, path string) error {
	if err := errors.Join(removeIfThere(files, path+writing), removeIfThere(files, path)); err != nil {
		return err
	}
	return files.SyncDir(filepath.Dir(path))
}

func removeIfThere(files fileSystem, path string) error {
	if err := files.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// fileSystem is what Save and Remove do to files, each call a step that a crash
// may come before.
type fileSystem interface {
	Create(path string) (syncedFile, error) // empties one that is there
	Rename(from, to string) error
	Remove(path string) error
	SyncDir(dir string) error
}

type syncedFile interface {
	io.WriteCloser
	Sync() error
}

// osFiles are the files of the system.
type osFiles struct{}

func (osFiles) Create(path string) (syncedFile, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}
func (osFiles) Rename(from, to string) error { return os.Rename(from, to) }
func (osFiles) Remove(path string) error     { return os.Remove(path) }
func (osFiles) SyncDir(dir string) error     { return syncDir(dir) }
