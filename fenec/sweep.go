package fenec

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// sweptRows is the most expired rows that one block deletes.
const sweptRows = 1000

// sweeper deletes expired rows now and then, for as long as a collection has
// rows that expire. Without one there is neither timer nor goroutine.
type sweeper struct {
	db    *DB
	every time.Duration // negative for never
	ctx   context.Context
	end   context.CancelFunc

	mu      sync.Mutex // guards the fields below
	timer   *time.Timer
	armed   bool // the timer runs, or what it leads to
	closed  bool
	running sync.WaitGroup
}

// sweepInterval is the default of Options.SweepInterval.
const sweepInterval = time.Minute

// init prepares the sweeper of a database that is open.
func (s *sweeper) init(db *DB, every time.Duration) {
	if every == 0 {
		every = sweepInterval
	}
	s.db, s.every = db, every
	s.ctx, s.end = context.WithCancel(context.Background())
	s.arm(db.catalogAt(db.store.Seq()))
}

// arm sets the timer if cat has rows that expire.
func (s *sweeper) arm(cat *catalog.Catalog) {
	if s.every < 0 || !slices.ContainsFunc(cat.Collections(), expires) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.armed || s.closed {
		return
	}
	s.armed = true
	s.timer = time.AfterFunc(s.every, s.sweep)
}

func expires(c *catalog.Collection) bool { return c.TTL() != nil }

// sweep sweeps once and sets the timer anew. What fails, because writes are
// refused or for any other reason, is tried again the next time.
func (s *sweeper) sweep() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.running.Add(1)
	s.mu.Unlock()
	defer s.running.Done()
	_, err := s.db.Sweep(s.ctx)
	s.mu.Lock()
	s.armed = false
	s.mu.Unlock()
	if !errors.Is(err, ErrClosed) {
		s.arm(s.db.catalogAt(s.db.store.Seq()))
	}
}

// close stops the sweeper and waits until it has.
func (s *sweeper) close() {
	s.mu.Lock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.end()
	s.running.Wait()
}

// Sweep deletes the rows that are expired now, in blocks of at most 1,000, and
// returns how many that were. Reads pass over them long before: a sweep makes room.
// Where rows expire it happens by itself, see Options.SweepInterval.
func (db *DB) Sweep(ctx context.Context) (int, error) {
	total := 0
	for _, c := range db.catalogAt(db.store.Seq()).Collections() {
		n, err := db.sweepCollection(ctx, c)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// sweepCollection is Sweep of one collection.
func (db *DB) sweepCollection(ctx context.Context, c *catalog.Collection) (int, error) {
	total := 0
	for expires(c) {
		n, err := db.sweepBlock(ctx, c.Name)
		total += n
		if n < sweptRows || err != nil {
			return total, err
		}
	}
	return total, nil
}

// sweepBlock deletes expired rows of the collection of that name, in one block.
// It opens none when there is nothing to delete.
func (db *DB) sweepBlock(ctx context.Context, name string) (n int, err error) {
	due, err := db.anyExpired(name)
	if !due || err != nil {
		return 0, err
	}
	ticket, err := db.own.inBlock(ctx, func(w *block) error {
		w.expiry = true
		n, err = w.sweep(name)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, public(ticket.Wait(ctx))
}

// anyExpired reports whether the collection of that name has an expired row.
func (db *DB) anyExpired(name string) (due bool, err error) {
	r, err := db.store.Read()
	if err != nil {
		return false, public(err)
	}
	defer r.End()
	defer base.Recover(db.Path(), base.Guard(), &err)
	c := db.catalogAt(r.Seq()).Find(name)
	if c == nil {
		return false, nil
	}
	ids, err := table.NewReader(&r.View, c).ExpiredIDs(db.clock().UnixMilli(), 1)
	return len(ids) > 0, public(err)
}

// sweep deletes the rows of a collection that have been expired longest.
func (w *block) sweep(name string) (n int, err error) {
	defer base.Recover(w.db.Path(), base.Guard(), &err)
	c := w.catalog.Find(name)
	if c == nil {
		return 0, nil
	}
	ids, err := w.tx.Reader(c).ExpiredIDs(w.block.Time().UnixMilli(), sweptRows)
	if err != nil {
		return 0, public(err)
	}
	rows := w.tx.Writer(c)
	for _, id := range ids {
		if err := rows.Delete(id); err != nil {
			return 0, public(err)
		}
	}
	return len(ids), nil
}

// sweepAll deletes all expired rows of a collection within the block.
func (w *block) sweepAll(name string) error {
	for {
		if n, err := w.sweep(name); n < sweptRows || err != nil {
			return err
		}
	}
}
