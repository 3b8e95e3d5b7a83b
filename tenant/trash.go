package tenant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// Deleted is a tenant in the trash.
type Deleted struct {
	Name string
	Time time.Time // of the delete, to the millisecond

	dir string // below the trash
}

const (
	trashDir = ".trash"
	partial  = ".partial" // what the directory of a tenant ends in that is on its way
)

// Delete puts a tenant into the trash, where it stays for Options.TrashKeep. Its
// streams end, and Delete waits for the last handle to be released,
// Options.DeleteWait at most; then it is ErrBusy and nothing has changed.
func (m *Manager) Delete(ctx context.Context, name string) error {
	if m.opts.TrashKeep < 0 {
		return m.DeleteNow(ctx, name)
	}
	return m.remove(ctx, name, (*slot).discard)
}

// DeleteNow is Delete for good: nothing goes into the trash.
func (m *Manager) DeleteNow(ctx context.Context, name string) error {
	return m.remove(ctx, name, (*slot).erase)
}

// erase removes the closed tenant of an owned slot for good.
func (s *slot) erase() error {
	s.m.opts.step("delete: remove")
	return errors.Join(fenec.Remove(s.path()), s.clear())
}

// remove closes a tenant and takes it away.
func (m *Manager) remove(ctx context.Context, name string, away func(*slot) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	s, err := m.enter(ctx, name)
	if err != nil {
		return err
	}
	defer s.leave()
	if err := s.remove(ctx, away); err != nil {
		return fmt.Errorf("tenant %q: delete: %w", name, err)
	}
	m.changed(name)
	return nil
}

func (s *slot) remove(ctx context.Context, away func(*slot) error) error {
	if there, err := s.exists(); err != nil {
		return err
	} else if !there {
		return ErrNotFound
	}
	if err := s.vacate(ctx, s.m.opts.DeleteWait); err != nil {
		return err
	}
	s.m.opts.step("delete: settle")
	// What could not be folded goes with the rest: a full disk or a damaged file is no
	// reason to keep it.
	_ = s.settle(ctx)
	if err := away(s); err != nil {
		return err
	}
	s.m.opts.step("deleted")
	s.m.degraded.forget(s.id.name)
	return s.m.keepStatus(context.WithoutCancel(ctx), s.id.name, Active)
}

// discard moves the closed tenant of an owned slot into the trash.
func (s *slot) discard() error {
	m, name := s.m, s.id.name
	dir, err := m.newTrash(name)
	if err != nil {
		return err
	}
	err = m.takeStatus(name, dir+partial)
	if err == nil {
		m.opts.step("delete: database")
		err = os.Rename(s.path(), filepath.Join(dir+partial, name+suffix))
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir+partial))
	}
	return m.finishDiscard(name, dir)
}

// newTrash makes a directory for a tenant that is deleted now, and returns what it is
// to be called.
func (m *Manager) newTrash(name string) (string, error) {
	trash := filepath.Join(m.dir, trashDir)
	if err := os.MkdirAll(trash, 0o700); err != nil {
		return "", err
	}
	for at := m.opts.Clock().UnixMilli(); ; at++ {
		dir := filepath.Join(trash, name+"."+strconv.FormatInt(at, 10))
		if _, err := os.Lstat(dir); err == nil {
			continue
		}
		err := os.Mkdir(dir+partial, 0o700)
		if !errors.Is(err, fs.ErrExist) {
			return dir, errors.Join(err, syncDir(trash), syncDir(m.dir))
		}
	}
}

// finishDiscard takes what belongs to a tenant to where its database is already.
func (m *Manager) finishDiscard(name, dir string) error {
	m.opts.step("delete: rest")
	if err := errors.Join(moveRest(name, m.dir, dir+partial), syncDir(dir+partial), syncDir(m.dir)); err != nil {
		return err
	}
	m.opts.step("delete: finish")
	return errors.Join(os.Rename(dir+partial, dir), syncDir(filepath.Dir(dir)))
}

// Undelete brings back the tenant of that name that was deleted last, with its status. It is
// ErrNotFound if the trash has none, and ErrExists if the name is taken.
func (m *Manager) Undelete(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	s, err := m.enter(ctx, name)
	if err != nil {
		return err
	}
	defer s.leave()
	if err := s.undelete(ctx); err != nil {
		return fmt.Errorf("tenant %q: undelete: %w", name, err)
	}
	m.changed(name)
	return nil
}

func (s *slot) undelete(ctx context.Context) error {
	m, name := s.m, s.id.name
	if err := s.vacant(); err != nil {
		return err
	}
	list, err := m.deleted(name)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return ErrNotFound
	}
	dir := filepath.Join(m.dir, trashDir, list[len(list)-1].dir)
	status, err := statusIn(dir, name)
	if err != nil {
		return err
	}
	m.opts.step("undelete: clear")
	if err := errors.Join(s.clear(), m.keepStatus(ctx, name, status)); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	m.opts.step("undelete: begin")
	if err := errors.Join(os.Rename(dir, dir+partial), syncDir(filepath.Dir(dir))); err != nil {
		return errors.Join(err, m.keepStatus(ctx, name, Active))
	}
	if err := s.fetch(dir); err != nil {
		return errors.Join(err, m.finishDiscard(name, dir), m.keepStatus(ctx, name, Active))
	}
	m.degraded.forget(name)
	m.opts.step("undelete: finish")
	return errors.Join(syncDir(m.dir), os.RemoveAll(dir+partial))
}

// fetch brings a tenant back from the trash, the database last.
func (s *slot) fetch(dir string) error {
	m, name := s.m, s.id.name
	m.opts.step("undelete: rest")
	if err := errors.Join(moveRest(name, dir+partial, m.dir), syncDir(m.dir)); err != nil {
		return err
	}
	m.opts.step("undelete: database")
	return os.Rename(filepath.Join(dir+partial, name+suffix), s.path())
}

// Purge removes for good what the trash has of a name. It is ErrNotFound if that is
// nothing.
func (m *Manager) Purge(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	n, err := m.purge(ctx, name, func(Deleted) bool { return true })
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("tenant %q: purge: %w", name, err)
	}
	return nil
}

// purge removes those of a name that are to go, and returns how many that were.
func (m *Manager) purge(ctx context.Context, name string, goes func(Deleted) bool) (n int, err error) {
	s, err := m.enter(ctx, name)
	if err != nil {
		return 0, err
	}
	defer s.leave()
	list, err := m.deleted(name)
	if err != nil {
		return 0, err
	}
	for _, d := range list {
		if goes(d) {
			if err := m.destroy(d); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// destroy removes a deleted tenant. Without its database nobody takes what is left for
// one.
func (m *Manager) destroy(d Deleted) error {
	dir := filepath.Join(m.dir, trashDir, d.dir)
	m.opts.step("purge: database")
	if err := removeIfThere(filepath.Join(dir, d.Name+suffix)); err != nil {
		return err
	}
	m.opts.step("purge: rest")
	return errors.Join(os.RemoveAll(dir), syncDir(filepath.Dir(dir)))
}

// Trash returns what can be undeleted, by name, and of one name the oldest first.
func (m *Manager) Trash() ([]Deleted, error) {
	list, err := m.deleted("")
	if err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	return list, nil
}

// deleted returns what the trash has of a name, or, for "", of all.
func (m *Manager) deleted(name string) ([]Deleted, error) {
	var list []Deleted
	trash := filepath.Join(m.dir, trashDir)
	err := scan(trash, func(entry os.DirEntry) {
		d, ok := parseDeleted(entry.Name())
		if !ok || name != "" && d.Name != name {
			return
		}
		if _, err := os.Lstat(filepath.Join(trash, d.dir, d.Name+suffix)); err == nil {
			list = append(list, d)
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.SortFunc(list, func(a, b Deleted) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), a.Time.Compare(b.Time))
	})
	return list, err
}

// parseDeleted reads the name of a directory in the trash.
func parseDeleted(dir string) (Deleted, bool) {
	name, at, ok := strings.Cut(dir, ".")
	ms, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil || CheckName(name) != nil {
		return Deleted{}, false
	}
	return Deleted{Name: name, Time: time.UnixMilli(ms), dir: dir}, true
}

// expireTrash removes what was deleted longer ago than TrashKeep. What fails is tried
// again the next time.
func (m *Manager) expireTrash(now time.Time) {
	old := func(d Deleted) bool { return now.Sub(d.Time) >= m.opts.TrashKeep }
	list, _ := m.deleted("")
	for _, d := range list {
		if old(d) {
			_, _ = m.purge(m.life, d.Name, old)
		}
	}
}
