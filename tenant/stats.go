package tenant

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stats are the figures of a directory.
type Stats struct {
	Tenants int   // files
	Disk    int64 // bytes of all of them, with logs, side files and the trash
	Memory  int64 // bytes held by open databases
	Open    int   // databases
}

// Boot returns what names this manager: no other has had the same.
func (m *Manager) Boot() string { return m.boot }

// Stats returns the figures of the moment.
func (m *Manager) Stats() (Stats, error) {
	sizes, err := m.Sizes()
	if err != nil {
		return Stats{}, err
	}
	st := Stats{Tenants: len(sizes)}
	for _, n := range sizes {
		st.Disk += n
	}
	trash, err := m.trashBytes()
	if err != nil {
		return Stats{}, fmt.Errorf("tenants: %w", err)
	}
	st.Disk += trash
	for _, t := range m.Opened() {
		st.Open++
		st.Memory += t.Memory
	}
	return st, nil
}

func (m *Manager) trashBytes() (total int64, err error) {
	err = filepath.WalkDir(filepath.Join(m.dir, trashDir), func(_ string, d os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went meanwhile
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total, err
}

// Opened is a tenant whose database is open.
type Opened struct {
	Name   string
	Memory int64 // bytes it holds
	Frozen bool
}

// Opened returns the tenants whose databases are open, by name.
func (m *Manager) Opened() []Opened {
	var list []Opened
	for _, s := range m.all() {
		s.mu.Lock()
		if s.live != nil {
			held, _ := s.live.db.MemoryBytes()
			list = append(list, Opened{s.id.name, held, s.frozen.Load()})
		}
		s.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b Opened) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// List returns the names of all tenants, sorted.
func (m *Manager) List() ([]string, error) {
	var names []string
	err := scan(m.dir, func(entry os.DirEntry) {
		name, ok := strings.CutSuffix(entry.Name(), suffix)
		if ok && entry.Type().IsRegular() && CheckName(name) == nil {
			names = append(names, name)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// Sizes returns the bytes on disk of every tenant, by name: of its database, logs and
// side files. None is opened for it.
func (m *Manager) Sizes() (map[string]int64, error) {
	sizes := map[string]int64{}
	beside := map[string]int64{}
	var errs []error
	err := scan(m.dir, func(entry os.DirEntry) {
		name, rest, ok := strings.Cut(entry.Name(), ".")
		if !ok || CheckName(name) != nil || !entry.Type().IsRegular() {
			return
		}
		info, err := entry.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, err)
		case "."+rest == suffix:
			sizes[name] = info.Size()
		default:
			beside[name] += info.Size()
		}
	})
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	for name, n := range beside {
		if _, ok := sizes[name]; ok {
			sizes[name] += n
		}
	}
	return sizes, nil
}
