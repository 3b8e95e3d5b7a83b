package tenant

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
)

// Status says whether a tenant is to be served.
type Status uint8

// The statuses.
const (
	Active       Status = iota
	Provisioning        // it is being set up
	Degraded            // something is wrong with it
)

var statusNames = []string{"active", "provisioning", "degraded"}

// String returns the status's name.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// ParseStatus reads a status's name.
func ParseStatus(name string) (Status, error) {
	at := slices.Index(statusNames, name)
	if at < 0 {
		return 0, fmt.Errorf("status %q: want active, provisioning or degraded", name)
	}
	return Status(at), nil
}

// statuses are those of the tenants that are not active.
type statuses struct {
	n atomic.Int32 // how many these are

	mu     sync.Mutex // guards the fields below
	byName map[string]Status
}

func (s *statuses) get(name string) Status {
	if s.n.Load() == 0 {
		return Active
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name]
}

func (s *statuses) set(name string, status Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status == Active {
		delete(s.byName, name)
	} else {
		s.byName[name] = status
	}
	s.n.Store(int32(len(s.byName)))
}

// loadStatuses reads the statuses that were kept. Those of tenants that are not there
// are what a crash left of a change.
func (m *Manager) loadStatuses() error {
	m.statuses.byName = map[string]Status{}
	ctx := context.Background()
	if !slices.Contains(m.node.Collections(), "statuses") {
		_, err := m.node.Exec(ctx, "create collection statuses (name text @unique, status text)")
		return err
	}
	res, err := m.node.Query(ctx, "get statuses")
	if err != nil {
		return err
	}
	var errs []error
	for row := range res.All() {
		name, err := row.Text("name")
		text, terr := row.Text("status")
		status, perr := ParseStatus(text)
		if err := errors.Join(err, terr, perr); err != nil {
			errs = append(errs, err)
			continue
		}
		m.statuses.set(name, status)
		if _, err := os.Lstat(m.path(name)); errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, m.keepStatus(ctx, name, Active))
		}
	}
	return errors.Join(errs...)
}

func (m *Manager) statusOf(name string) Status { return m.statuses.get(name) }

// keepStatus sets the status of a tenant whose slot is owned, durably. Active is the
// absence of another.
func (m *Manager) keepStatus(ctx context.Context, name string, status Status) error {
	if m.statuses.get(name) == status {
		return nil
	}
	m.opts.step("status")
	var err error
	if status == Active {
		_, err = m.node.Exec(ctx, "del statuses where name = $1", name)
	} else {
		_, err = m.node.Exec(ctx, "put statuses {name: $1, status: $2} if absent else set {status: new.status}", name, status.String())
	}
	if err != nil {
		return fmt.Errorf("status: %w", err)
	}
	m.statuses.set(name, status)
	return nil
}

// statusFile is what the file ends in that keeps the status of a tenant in the trash. One
// that was active has none.
const statusFile = ".status"

// takeStatus writes a tenant's status into a directory of the trash.
func (m *Manager) takeStatus(name, dir string) error {
	status := m.statusOf(name)
	if status == Active {
		return nil
	}
	m.opts.step("delete: status")
	return errors.Join(writeFile(filepath.Join(dir, name+statusFile), []byte(status.String())), syncDir(dir))
}

// statusIn returns the status that a tenant had as it came into a directory of the trash.
func statusIn(dir, name string) (Status, error) {
	text, err := os.ReadFile(filepath.Join(dir, name+statusFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Active, nil
	}
	if err != nil {
		return 0, err
	}
	return ParseStatus(string(text))
}

// SetStatus says whether a tenant is to be served. Handles that are out stay good.
func (m *Manager) SetStatus(ctx context.Context, name string, status Status) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if int(status) >= len(statusNames) {
		return fmt.Errorf("tenant %q: %v is none", name, status)
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
		err = m.keepStatus(ctx, name, status)
	}
	if err != nil {
		return fmt.Errorf("tenant %q: %w", name, err)
	}
	m.changed(name)
	return nil
}

// Status returns a tenant's status; ErrNotFound if there is none of that name. One
// whose database this process could not open is Degraded.
func (m *Manager) Status(ctx context.Context, name string) (Status, error) {
	if _, err := m.Lookup(ctx, name); err != nil {
		return 0, err
	}
	if m.degraded.why(name) != nil {
		return Degraded, nil
	}
	return m.statusOf(name), nil
}

// admits returns why a tenant is not served by its status.
func (m *Manager) admits(name string) error {
	switch m.statusOf(name) {
	case Provisioning:
		return ErrProvisioning
	case Degraded:
		return ErrDegraded
	}
	return nil
}
