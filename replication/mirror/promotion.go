package mirror

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Promotion is a note beside a database's file that says in whose place it was promoted
// while it was served: whoever starts its server again may go on to say that it follows
// there, and it would give up what it has written since. The value is the file's path.
type Promotion string

// Path returns the path of the note.
func (p Promotion) Path() string { return string(p) + ".promoted" }

// Keep says durably in whose place the database is about to be promoted, by that one's
// base URL. Until it is, the note means nothing.
func (p Promotion) Keep(primary string) error {
	file, err := os.OpenFile(p.Path(), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(primary + "\n")
	return errors.Join(err, file.Sync(), file.Close(), syncDir(filepath.Dir(p.Path())))
}

// From returns in whose place the database was promoted, "" if nothing says so.
func (p Promotion) From() (string, error) {
	text, err := os.ReadFile(p.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// Forget removes the note, if there is one.
func (p Promotion) Forget() error {
	if err := os.Remove(p.Path()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncDir makes the names in a directory durable, where the system can.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
