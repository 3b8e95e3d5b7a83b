package quota

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// MeterOptions say how a meter works. The zero MeterOptions are good.
type MeterOptions struct {
	// KeepDays is for how many days the totals of a day are kept. Default 400.
	// Those of minutes are kept for an hour.
	KeepDays int

	// Clock tells the time. Default time.Now.
	Clock func() time.Time
}

// Meter counts what tenants use: in minutes for an hour, and in days (UTC). Its
// methods are safe for concurrent use.
//
// What is counted is in memory until the next Flush: call it every minute, and
// before the database is closed. A crash loses what came after the last one.
type Meter struct {
	db    *fenec.DB
	clock func() time.Time
	keep  int64 // seconds

	flushing sync.Mutex // held by Flush and reports; taken before mu
	began    int64      // when the counting began that the next flush saves, in Unix seconds
	pruned   int64      // the minute that the last prune was in

	mu       sync.Mutex // guards accounts, and the users of each
	accounts map[string]*Account
}

// NewMeter returns a meter that keeps its totals in collections usage_… of db, with
// those that are there already. The caller closes db.
func NewMeter(ctx context.Context, db *fenec.DB, opts MeterOptions) (*Meter, error) {
	if opts.KeepDays == 0 {
		opts.KeepDays = 400
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.KeepDays < 1 {
		return nil, fmt.Errorf("meter: KeepDays is %d", opts.KeepDays)
	}
	if _, err := db.Batch(ctx, schema); err != nil {
		return nil, fmt.Errorf("meter: %w", err)
	}
	return &Meter{
		db: db, clock: opts.Clock, keep: int64(opts.KeepDays) * day,
		began: opts.Clock().Unix(), accounts: map[string]*Account{},
	}, nil
}

// Open returns the account of a tenant, to be given up with its Close. It reads
// and writes nothing.
func (m *Meter) Open(tenant string) *Account {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.accounts[tenant]
	if a == nil {
		a = &Account{meter: m, tenant: tenant}
		m.accounts[tenant] = a
	}
	a.users++
	return a
}

// savedAtOnce is of how many accounts one block has the totals.
const savedAtOnce = 500

// Flush writes what was counted since the last one. What it cannot write is kept
// for the next.
func (m *Meter) Flush(ctx context.Context) error {
	m.flushing.Lock()
	defer m.flushing.Unlock()
	now := m.clock()
	list := m.list()
	var errs []error
	for len(list) > 0 {
		n := min(len(list), savedAtOnce)
		errs = append(errs, m.save(ctx, list[:n], now))
		list = list[n:]
	}
	m.forgetQuiet(now)
	m.began = now.Unix()
	errs = append(errs, m.prune(ctx))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("meter: %w", err)
	}
	return nil
}

// list returns all accounts.
func (m *Meter) list() []*Account {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]*Account, 0, len(m.accounts))
	for _, a := range m.accounts {
		list = append(list, a)
	}
	return list
}

// save writes what some accounts have counted as one block. Once begun it does not
// end with ctx: nobody could say whether it was written, and it must not be twice.
func (m *Meter) save(ctx context.Context, list []*Account, now time.Time) error {
	var e entries
	var saved []*Account
	var after []storage
	for _, a := range list {
		a.take(now)
		if a.unsaved == (Usage{}) && !a.resized() {
			continue
		}
		if err := a.load(ctx); err != nil {
			return err
		}
		saved = append(saved, a)
		after = append(after, m.enter(&e, a, now.Unix()))
	}
	if len(saved) == 0 {
		return nil
	}
	if err := e.save(context.WithoutCancel(ctx), m.db); err != nil {
		return err
	}
	for i, a := range saved {
		a.unsaved, a.storage = Usage{}, after[i]
	}
	return nil
}

// load reads what the database has of the tenant, once.
func (a *Account) load(ctx context.Context) (err error) {
	if a.loaded {
		return nil
	}
	if a.storage, err = loadStorage(ctx, a.meter.db, a.tenant); err != nil {
		return err
	}
	a.loaded = true
	return nil
}

// enter adds to e what an account has to save, and returns its storage after that.
// What was counted belongs to the minute and the day in which counting began.
func (m *Meter) enter(e *entries, a *Account, now int64) storage {
	days := a.storage.days(now-m.keep, now)
	if a.unsaved != (Usage{}) {
		e.minutes = append(e.minutes, newSpan(a.tenant, m.began, minute, a.unsaved))
		days = append(days, newSpan(a.tenant, m.began, day, a.unsaved))
	}
	e.days = append(e.days, days...)
	after := a.storage
	after.Until = max(now, after.Until)
	if h := a.holds.Load(); h != nil {
		after.Bytes, after.Rows = h.Bytes, h.Rows
	}
	if after.First == 0 && after.holding() != (Holding{}) {
		after.First = now
	}
	if after.First != 0 {
		e.storage = append(e.storage, after)
	}
	return after
}

// forgetQuiet drops the accounts that nobody uses and that have nothing to save.
func (m *Meter) forgetQuiet(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, a := range m.accounts {
		if a.users == 0 && a.quiet(now) {
			delete(m.accounts, name)
		}
	}
}

// prune deletes what is too old, at most once a minute.
func (m *Meter) prune(ctx context.Context) error {
	this := m.began - m.began%minute
	if this == m.pruned {
		return nil
	}
	if err := prune(ctx, m.db, this-hour, m.began-m.began%day-m.keep); err != nil {
		return err
	}
	m.pruned = this
	return nil
}
