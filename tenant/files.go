package tenant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// Files that may be kept beside a tenant's database, by what their name ends in.
const (
	QuotaFile   = ".quota"   // limits, in the words of who sets them
	FollowsFile = ".follows" // the node that the tenant's database is a copy of
)

var sidecars = []string{QuotaFile, FollowsFile}

// writing is what the name of a file ends in that is being written.
const writing = ".writing"

// WriteBeside keeps data beside the tenant's database, in the file of that ending,
// durably and at once. It goes wherever the tenant goes. Without data the file is
// removed.
func (m *Manager) WriteBeside(ctx context.Context, name, ending string, data []byte) error {
	if err := checkBeside(name, ending); err != nil {
		return err
	}
	s, err := m.enter(ctx, name)
	if err != nil {
		return err
	}
	defer s.leave()
	there, err := s.exists()
	if err == nil && !there {
		err = ErrNotFound
	}
	if err == nil {
		err = m.writeBeside(m.beside(name, ending), data)
	}
	if err != nil {
		return fmt.Errorf("tenant %q: %w", name, err)
	}
	return nil
}

func (m *Manager) writeBeside(path string, data []byte) error {
	if data == nil {
		return errors.Join(removeIfThere(path), syncDir(m.dir))
	}
	m.opts.step("beside: write")
	side := path + writing
	if err := writeFile(side, data); err != nil {
		return errors.Join(err, removeIfThere(side))
	}
	m.opts.step("beside: rename")
	if err := os.Rename(side, path); err != nil {
		return errors.Join(err, removeIfThere(side))
	}
	return syncDir(m.dir)
}

// ReadBeside returns what is kept beside the tenant's database in the file of that
// ending; fs.ErrNotExist if there is none.
func (m *Manager) ReadBeside(name, ending string) ([]byte, error) {
	if err := checkBeside(name, ending); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(m.beside(name, ending))
	if err != nil {
		return nil, fmt.Errorf("tenant %q: %w", name, err)
	}
	return data, nil
}

func checkBeside(name, ending string) error {
	if !slices.Contains(sidecars, ending) {
		return fmt.Errorf("tenant %q: no file %q is kept beside it", name, ending)
	}
	return CheckName(name)
}

func (m *Manager) beside(name, ending string) string { return filepath.Join(m.dir, name+ending) }

// rest returns the paths of all files that a tenant in dir may have but its
// database. What is being imported under the name is not the tenant's.
func rest(dir, name string) []string {
	path := filepath.Join(dir, name+suffix)
	list := slices.DeleteFunc(fenec.Files(path), func(file string) bool {
		return file == path || strings.HasSuffix(file, ".importing")
	})
	for _, ending := range sidecars {
		list = append(list, filepath.Join(dir, name+ending))
	}
	return list
}

// clear removes what lies where a tenant is about to be, of others that had the name.
func (s *slot) clear() error {
	var errs []error
	for _, file := range rest(s.m.dir, s.id.name) {
		errs = append(errs, removeIfThere(file))
	}
	return errors.Join(errs...)
}

// settle folds everything of an owned slot that nobody uses into its one file, and
// closes it.
func (s *slot) settle(ctx context.Context) error {
	if s.live == nil {
		logs := slices.ContainsFunc(rest(s.m.dir, s.id.name), func(file string) bool {
			_, err := os.Lstat(file)
			return err == nil && strings.Contains(filepath.Base(file), suffix)
		})
		if !logs {
			return nil
		}
		db, err := fenec.Open(s.path(), s.m.opts.DB)
		if err != nil {
			return err
		}
		return errors.Join(db.Checkpoint(ctx), db.Close())
	}
	return errors.Join(s.live.db.Checkpoint(ctx), s.close(true))
}

// moveRest moves all files of a tenant but its database from one directory to
// another.
func moveRest(name, from, to string) error {
	var errs []error
	targets := rest(to, name)
	for i, file := range rest(from, name) {
		if err := os.Rename(file, targets[i]); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeFile writes a file and brings it to disk.
func writeFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
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

// scan calls fn for every entry of a directory, in no order.
func scan(dir string, fn func(os.DirEntry)) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		list, err := d.ReadDir(1024)
		for _, entry := range list {
			fn(entry)
		}
		if len(list) == 0 || err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
