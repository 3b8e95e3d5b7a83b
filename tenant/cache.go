package tenant

import (
	"context"
	"errors"
	"sync"
	"time"
)

// CacheOptions say how a cache of statuses behaves. The zero options are good.
type CacheOptions struct {
	// TTL is how long an answer is kept. Default 5 seconds.
	TTL time.Duration

	// Entries is how many answers are kept. Default 100,000.
	Entries int

	// Degraded, if set, says which tenants this process does not serve, whatever the
	// registry says, and also while that cannot be asked: Manager.DegradedHere. It
	// is asked every time.
	Degraded func(name string) error

	// Clock tells the time. Default time.Now.
	Clock func() time.Time
}

// Cache is a Registry that remembers what another said. It is safe for concurrent
// use.
type Cache struct {
	reg  Registry
	opts CacheOptions

	mu      sync.Mutex // guards the fields below
	answers map[string]answer
	changes uint64 // calls of Invalidate
}

type answer struct {
	status Status
	known  bool
	until  time.Time
}

// NewCache returns a cache of what reg says. If reg tells of changes, as a Manager
// does, the cache hears of them.
func NewCache(reg Registry, opts CacheOptions) *Cache {
	setDefault(&opts.TTL, 5*time.Second)
	setDefault(&opts.Entries, 100_000)
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	c := &Cache{reg: reg, opts: opts, answers: map[string]answer{}}
	if teller, ok := reg.(interface{ OnChange(func(name string)) }); ok {
		teller.OnChange(c.Invalidate)
	}
	return c
}

// Status returns a tenant's status, as of TTL ago at most. Names that are unknown are
// remembered as others are; failures to tell are not.
func (c *Cache) Status(ctx context.Context, name string) (Status, error) {
	if c.opts.Degraded != nil && c.opts.Degraded(name) != nil {
		return Degraded, nil
	}
	now := c.opts.Clock()
	c.mu.Lock()
	a, ok := c.answers[name]
	changes := c.changes
	c.mu.Unlock()
	if !ok || !now.Before(a.until) {
		status, err := c.reg.Status(ctx, name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return 0, err
		}
		a = answer{status, err == nil, now.Add(c.opts.TTL)}
		c.keep(name, a, changes)
	}
	if !a.known {
		return 0, ErrNotFound
	}
	return a.status, nil
}

// keep remembers an answer, unless something has changed since it was asked for.
func (c *Cache) keep(name string, a answer, changes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
		return
	}
	if _, there := c.answers[name]; !there && len(c.answers) >= c.opts.Entries {
		c.shrink()
	}
	c.answers[name] = a
}

// shrink forgets some answers, whichever these are.
func (c *Cache) shrink() {
	most := c.opts.Entries / 2
	for name := range c.answers {
		if len(c.answers) <= most {
			return
		}
		delete(c.answers, name)
	}
}

// Invalidate forgets what is known of a name: what is asked after it returns is asked
// anew.
func (c *Cache) Invalidate(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	delete(c.answers, name)
}
