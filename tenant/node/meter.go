package node

import (
	"context"
	"errors"
	"log"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// meter counts what tenants use, in the node's own database.
type meter struct {
	tenants *tenant.Manager
	open    *registry
	totals  *quota.Meter
	log     *log.Logger
	stop    context.CancelFunc
	ended   chan struct{}

	mu      sync.Mutex      // guards the field below
	changed map[string]bool // tenants that came or went since what they hold was looked up
}

// flushEvery is how often what was counted is written down.
const flushEvery = time.Minute

func newMeter(m *tenant.Manager, totals *quota.Meter, open *registry, logger *log.Logger) *meter {
	if logger == nil {
		logger = log.Default()
	}
	ctx, stop := context.WithCancel(context.Background())
	x := &meter{
		tenants: m, open: open, totals: totals, log: logger, stop: stop, ended: make(chan struct{}),
		changed: map[string]bool{},
	}
	m.OnChange(x.change)
	go x.run(ctx)
	return x
}

// run writes down what was counted, every minute until ctx ends.
func (m *meter) run(ctx context.Context) {
	defer close(m.ended)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := m.flush(ctx); err != nil && ctx.Err() == nil {
			m.log.Printf("usage is not written down: %v", err)
		}
	}
}

// flush writes down what was counted, and what tenants hold.
func (m *meter) flush(ctx context.Context) error {
	m.measure(ctx)
	return m.totals.Flush(ctx)
}

// Close writes down what was counted.
func (m *meter) Close() error {
	m.stop()
	<-m.ended
	return m.flush(context.Background())
}

// change is called with each tenant that comes or goes. Those that are open are looked at
// in any case.
func (m *meter) change(name string) {
	if o, _ := m.open.of(name); o != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed[name] = true
}

// unchanged forgets that a tenant came or went, and reports whether it had.
func (m *meter) unchanged(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	was := m.changed[name]
	delete(m.changed, name)
	return was
}

// measure looks up what tenants hold that were written to, came or went.
func (m *meter) measure(ctx context.Context) {
	m.mu.Lock()
	changed := m.changed
	m.changed = map[string]bool{}
	m.mu.Unlock()
	for name := range changed {
		m.settle(ctx, name)
	}
	for _, o := range m.open.all() {
		m.look(o)
	}
}

// settle looks up what a tenant holds that came or went. What fails is tried again the
// next time.
func (m *meter) settle(ctx context.Context, name string) {
	err := m.visit(ctx, name)
	if err == nil {
		return
	}
	m.change(name)
	if ctx.Err() == nil {
		m.log.Printf("tenant %s: what it holds: %v", name, err)
	}
}

// visit looks up what a tenant holds. One that is there is opened for it: an image or the
// trash does not tell.
func (m *meter) visit(ctx context.Context, name string) error {
	id, err := m.tenants.Lookup(ctx, name)
	switch {
	case errors.Is(err, tenant.ErrNotFound):
		a := m.totals.Open(name)
		defer a.Close()
		a.Holds(quota.Holding{})
		return nil
	case err != nil:
		return err
	}
	err = m.tenants.Do(ctx, id, func(context.Context, *tenant.Handle) error {
		if o, _ := m.open.of(name); o != nil {
			m.look(o)
		}
		return nil
	})
	if errors.Is(err, tenant.ErrDegraded) || errors.Is(err, tenant.ErrProvisioning) || errors.Is(err, tenant.ErrNotFound) {
		return nil // a change of that will be told
	}
	return err
}

// look looks up what an open tenant holds, if it was written to since the last time.
func (m *meter) look(o *opened) {
	o.mu.Lock()
	defer o.mu.Unlock()
	seq := o.db.Seq() + 1
	if seq == o.seen {
		return
	}
	held, err := quota.HeldBy(o.db)
	if errors.Is(err, fenec.ErrClosed) {
		return // and was looked at as it was closed
	}
	if err != nil {
		m.log.Printf("what a tenant holds: %v", err)
		return
	}
	o.account.Holds(held)
	o.seen = seq
}

// closing is called with a tenant that is about to be closed.
func (m *meter) closing(o *opened) {
	m.look(o)
	o.account.Close()
}

// holding returns what a tenant holds. It is not opened for it, but once if it has just
// come.
func (m *meter) holding(ctx context.Context, name string) (quota.Holding, error) {
	if m.unchanged(name) {
		m.settle(ctx, name)
	}
	if o, _ := m.open.of(name); o != nil {
		m.look(o)
	}
	return m.totals.Holding(ctx, name)
}
