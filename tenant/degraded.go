package tenant

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Degradation says why this process does not serve a tenant.
type Degradation struct {
	Name  string
	Err   error
	Since time.Time // of the first failure
}

// degradedSet are the tenants whose database this process could not open, or close
// with everything on disk. It is kept in memory: another process may fare better.
type degradedSet struct {
	mu     sync.Mutex // guards the field below
	byName map[string]*failed
}

type failed struct {
	Degradation
	last time.Time // of the last failure
}

// retryAfter is how long a failed open is not tried again.
const retryAfter = 5 * time.Second

// add notes a failure, and reports whether it is the tenant's first.
func (d *degradedSet) add(name string, err error, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.byName[name]
	if f != nil {
		f.Err, f.last = err, now
		return false
	}
	if d.byName == nil {
		d.byName = map[string]*failed{}
	}
	d.byName[name] = &failed{Degradation{name, err, now}, now}
	return true
}

// forget reports whether there was something to forget.
func (d *degradedSet) forget(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, there := d.byName[name]
	delete(d.byName, name)
	return there
}

// why returns the last failure, or nil.
func (d *degradedSet) why(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.byName[name]; f != nil {
		return f.Err
	}
	return nil
}

func (d *degradedSet) list() (list []Degradation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.byName {
		list = append(list, f.Degradation)
	}
	return list
}

// refuses returns why a database is not even tried to be opened, or nil.
func (d *degradedSet) refuses(name string, now time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.byName[name]; f != nil && now.Sub(f.last) < retryAfter {
		return fmt.Errorf("%w: %w", ErrDegraded, f.Err)
	}
	return nil
}

// degrade notes that something is wrong with a tenant's database.
func (m *Manager) degrade(name string, err error) {
	if m.degraded.add(name, err, m.opts.Clock()) {
		m.changed(name)
	}
}

// restored notes that a tenant's database could be opened.
func (m *Manager) restored(name string) {
	if m.degraded.forget(name) {
		m.changed(name)
	}
}

// Degraded returns the tenants that this process could not open, and those that take no
// writes since the disk has refused one, by name. Statuses are not among them.
func (m *Manager) Degraded() []Degradation {
	list := append(m.degraded.list(), m.failures()...)
	slices.SortFunc(list, func(a, b Degradation) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// DegradedHere returns why this process does not serve a tenant, or nil. It asks
// nobody and touches no file.
func (m *Manager) DegradedHere(name string) error { return m.degraded.why(name) }
