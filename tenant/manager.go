package tenant

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// Manager owns a directory of tenants. Its methods are safe for concurrent use.
type Manager struct {
	dir      string
	opts     Options
	boot     string    // names this instance
	node     *fenec.DB // what the manager keeps for itself
	gate     *gate     // nil if places are not bounded
	opening  chan struct{}
	idle     idleQueue
	degraded degradedSet
	statuses statuses

	waiting atomic.Int32 // those who wait for room
	now     atomic.Int64 // Unix nanoseconds, as of the last pass or open

	life context.Context // of streams, and of what runs in the background
	end  context.CancelCauseFunc
	runs sync.WaitGroup // what runs in the background

	mu         sync.Mutex // guards the fields below; taken after a slot's, never before
	slots      map[string]*slot
	turn       uint64        // look-ups
	open       int           // databases, those being opened and closed among them
	unmeasured int           // opens since memory was last measured
	room       chan struct{} // closed and replaced when there may be room for one more
	importing  map[string]bool
	setups     map[string]*setup // tenants that are being set up
	watchers   []func(name string)
	closed     bool
}

// suffix is what a tenant's file ends in.
const suffix = ".fenec"

// nodeFile is where a manager keeps what is its own.
const nodeFile = ".node" + suffix

// Open makes the directory dir, if need be, and returns its manager. What a crash left
// of changes to tenants is finished or undone. It fails with fenec.ErrInUse if another
// manager has the directory.
func Open(dir string, opts Options) (*Manager, error) {
	if err := opts.setDefaults(); err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	m := &Manager{
		dir: dir, opts: opts, boot: newBoot(),
		gate:    newGate(opts.MaxInFlight, opts.MaxInFlightTenant, opts.Wait),
		opening: make(chan struct{}, opts.Opens),
		slots:   map[string]*slot{}, room: make(chan struct{}), importing: map[string]bool{}, setups: map[string]*setup{},
	}
	m.life, m.end = context.WithCancelCause(context.Background())
	var err error
	// It is locked, and so the directory is.
	if m.node, err = fenec.Open(filepath.Join(dir, nodeFile), fenec.Options{Sync: fenec.SyncAlways}); err != nil {
		return nil, fmt.Errorf("tenants: %w", err)
	}
	if err := errors.Join(m.removeLeftovers(), m.recoverTrash(), m.loadStatuses()); err != nil {
		return nil, errors.Join(fmt.Errorf("tenants: %w", err), m.node.Close())
	}
	m.runs.Go(func() { m.every(time.Second, m.tidy) })
	m.runs.Go(func() { m.every(time.Minute, m.expireTrash) })
	return m, nil
}

// removeLeftovers removes what a crash left of databases that were being made and of
// images.
func (m *Manager) removeLeftovers() error {
	var errs []error
	err := scan(m.dir, func(file os.DirEntry) {
		_, side, _ := strings.Cut(file.Name(), suffix)
		if side == ".importing" || side == ".creating" || side == ".compacting" || strings.HasPrefix(side, ".image-") ||
			strings.HasSuffix(file.Name(), writing) {
			errs = append(errs, removeIfThere(filepath.Join(m.dir, file.Name())))
		}
	})
	return errors.Join(append(errs, err)...)
}

// every calls fn with the time, at that interval, until the manager closes.
func (m *Manager) every(interval time.Duration, fn func(now time.Time)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-m.life.Done():
			return
		case <-tick.C:
			fn(m.opts.Clock())
		}
	}
}

func (m *Manager) path(name string) string { return filepath.Join(m.dir, name+suffix) }

// Options returns the manager's options, with the defaults in place.
func (m *Manager) Options() Options { return m.opts }

// Node returns the database in which the manager, and who works with it, keep what
// belongs to no tenant. It closes with the manager.
func (m *Manager) Node() *fenec.DB { return m.node }

// OnChange has fn called after every change of who exists and with which status, with
// the name. fn must return soon and must not call the manager.
func (m *Manager) OnChange(fn func(name string)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watchers = append(m.watchers, fn)
}

// changed tells those who watch.
func (m *Manager) changed(name string) {
	m.mu.Lock()
	watchers := m.watchers
	m.mu.Unlock()
	for _, fn := range watchers {
		fn(name)
	}
}

// tidy is the pass over what is open.
func (m *Manager) tidy(now time.Time) {
	m.tick()
	m.reopenFailed(now)
	m.closeIdle(now)
	m.fitMemory()
}

// closeIdle closes the databases that nobody uses and nobody has used since IdleClose
// before now. They are folded before they are owned: who comes meanwhile finds them
// open.
func (m *Manager) closeIdle(now time.Time) {
	if m.opts.IdleClose < 0 {
		return
	}
	for _, s := range m.all() {
		idle, ok := s.idle()
		if ok && now.UnixNano()-idle.used >= int64(m.opts.IdleClose) && m.life.Err() == nil && !s.kept() {
			idle.closeFolded()
		}
	}
}

// closeFolded closes the database with nothing left in its log, if it stays idle.
func (i idleSlot) closeFolded() {
	s := i.slot
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	fold := !s.m.opts.DB.NoCheckpoint
	if live != nil && fold {
		_ = live.db.Checkpoint(s.m.life) // a failure shows as it is closed
	}
	if i.own() {
		s.closeUnused(fold)
	}
}
