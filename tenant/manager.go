package tenant

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// Options say how a manager treats its tenants. The zero Options are good.
type Options struct {
	// DB is how each database is opened. MustExist is set by the manager.
	DB fenec.Options

	// IdleClose is how long a database may stay open unused. Default 5
	// minutes; negative keeps it open.
	IdleClose time.Duration

	// DeleteWait is how long Delete waits for the last user. Default 5 seconds.
	DeleteWait time.Duration
}

// Manager owns a directory of tenants. Its methods are safe for concurrent use.
type Manager struct {
	dir  string
	opts Options
	stop chan struct{} // closed by Close
	done chan struct{} // closed when the idle pass has ended

	mu     sync.Mutex // guards the fields below; taken after a slot's lock, never before
	slots  map[string]*slot
	closed bool
}

// suffix is what a tenant's file ends in.
const suffix = ".fenec"

// Open makes the directory dir, if need be, and returns its manager. What a
// crash left of tenants that were being made is removed.
func Open(dir string, opts Options) (*Manager, error) {
	if opts.IdleClose == 0 {
		opts.IdleClose = 5 * time.Minute
	}
	if opts.DeleteWait == 0 {
		opts.DeleteWait = 5 * time.Second
	}
	opts.DB.MustExist = true
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	m := &Manager{
		dir: dir, opts: opts,
		stop: make(chan struct{}), done: make(chan struct{}),
		slots: map[string]*slot{},
	}
	if err := m.removeLeftovers(); err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	go m.closeIdleUntilStopped()
	return m, nil
}

func (m *Manager) removeLeftovers() error {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		_, side, _ := strings.Cut(e.Name(), suffix)
		if side == ".importing" || side == ".creating" || side == ".compacting" {
			errs = append(errs, os.Remove(filepath.Join(m.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

func (m *Manager) path(name string) string { return filepath.Join(m.dir, name+suffix) }

// Create makes an empty tenant and leaves it open.
func (m *Manager) Create(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	s, err := m.enter(name)
	if err != nil {
		return err
	}
	defer s.leave()
	if _, err := os.Lstat(m.path(name)); err == nil {
		return fmt.Errorf("tenant %q: %w", name, ErrExists)
	}
	opts := m.opts.DB
	opts.MustExist = false
	db, err := fenec.Open(m.path(name), opts)
	if err != nil {
		err = fmt.Errorf("tenant %q: create: %w", name, err)
		if rerr := fenec.Remove(m.path(name)); !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
		}
		return err
	}
	s.opened(db)
	return nil
}

// Acquire returns a handle to the tenant's database, opening it if need be.
// Release the handle when done.
func (m *Manager) Acquire(ctx context.Context, name string) (*Handle, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := m.enter(name)
	if err != nil {
		return nil, err
	}
	defer s.leave()
	if s.db == nil {
		db, err := fenec.Open(m.path(name), m.opts.DB)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("tenant %q: %w", name, ErrNotFound)
		}
		if err != nil {
			return nil, fmt.Errorf("tenant %q: open: %w", name, err)
		}
		s.opened(db)
	}
	s.users++
	s.lastUsed = time.Now()
	return &Handle{slot: s, db: s.db}, nil
}

// Delete closes the tenant and removes its files. It waits for the last handle
// to be released, Options.DeleteWait at most; then it is ErrBusy and nothing
// has changed.
func (m *Manager) Delete(ctx context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	s, err := m.enter(name)
	if err != nil {
		return err
	}
	defer s.leave()
	if err := s.waitUnused(ctx, m.opts.DeleteWait); err != nil {
		return fmt.Errorf("tenant %q: delete: %w", name, err)
	}
	if s.gone {
		// Another Delete was first, and the name may be somebody else's by now.
		return fmt.Errorf("tenant %q: %w", name, ErrNotFound)
	}
	// What could not be folded goes with the rest: a full disk or a damaged file
	// is no reason to keep it.
	_ = s.closeDB()
	err = fenec.Remove(m.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("tenant %q: %w", name, ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("tenant %q: delete: %w", name, err)
	}
	return nil
}

// List returns the names of all tenants, sorted.
func (m *Manager) List() ([]string, error) {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if ok && e.Type().IsRegular() && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Close closes every database, whoever still uses it, and waits for it.
// Handles then see fenec.ErrClosed.
func (m *Manager) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	close(m.stop)
	open := make([]*slot, 0, len(m.slots))
	for _, s := range m.slots {
		open = append(open, s)
	}
	m.mu.Unlock()
	<-m.done
	var errs []error
	for _, s := range open {
		s.mu.Lock()
		if err := s.closeDB(); err != nil {
			errs = append(errs, fmt.Errorf("tenant %q: %w", s.name, err))
		}
		s.mu.Unlock()
	}
	return errors.Join(errs...)
}

// closeIdleUntilStopped looks for idle tenants every second.
func (m *Manager) closeIdleUntilStopped() {
	defer close(m.done)
	if m.opts.IdleClose < 0 {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-m.stop:
			return
		case now := <-tick.C:
			m.closeIdle(now)
		}
	}
}

// closeIdle closes the databases that nobody uses and nobody has used since
// IdleClose before now. A failure shows at the next open.
func (m *Manager) closeIdle(now time.Time) {
	m.mu.Lock()
	open := make([]*slot, 0, len(m.slots))
	for _, s := range m.slots {
		open = append(open, s)
	}
	m.mu.Unlock()
	for _, s := range open {
		if s.mu.TryLock() { // what is locked is in use
			if s.users == 0 && now.Sub(s.lastUsed) >= m.opts.IdleClose {
				_ = s.closeDB()
			}
			s.leave()
		}
	}
}
