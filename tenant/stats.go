package tenant

import (
	"fmt"
	"os"
	"strings"
)

// Stats are the figures of a directory.
type Stats struct {
	Tenants int   // files
	Disk    int64 // bytes of all of them, with logs and side files
	Memory  int64 // bytes held by open databases
	Open    int   // databases
}

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
	m.mu.Lock()
	open := make([]*slot, 0, len(m.slots))
	for _, s := range m.slots {
		open = append(open, s)
	}
	m.mu.Unlock()
	for _, s := range open {
		if !s.mu.TryLock() {
			continue // it is being opened or closed
		}
		if s.db != nil {
			st.Open++
			if figures, err := s.db.Stats(); err == nil {
				st.Memory += figures.MemoryBytes
			}
		}
		s.mu.Unlock()
	}
	return st, nil
}

// Sizes returns the bytes on disk of every tenant, by name.
func (m *Manager) Sizes() (map[string]int64, error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	sizes := map[string]int64{}
	beside := map[string]int64{}
	for _, e := range entries {
		name, rest, ok := strings.Cut(e.Name(), suffix)
		if !ok || CheckName(name) != nil || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		switch {
		case os.IsNotExist(err):
		case err != nil:
			return nil, fmt.Errorf("tenants: %w", err)
		case rest == "":
			sizes[name] = info.Size()
		default:
			beside[name] += info.Size()
		}
	}
	for name, n := range beside {
		if _, ok := sizes[name]; ok {
			sizes[name] += n
		}
	}
	return sizes, nil
}
