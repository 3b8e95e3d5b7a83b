package tenant

import "time"

// CloseIdle is the pass that runs every second.
func (m *Manager) CloseIdle(now time.Time) { m.tidy(now) }

// ExpireTrash is the pass that runs every minute.
func (m *Manager) ExpireTrash(now time.Time) { m.expireTrash(now) }

// Slots returns how many tenants the manager remembers.
func (m *Manager) Slots() int { return len(m.all()) }

// WithStep returns o with a function that is told every step of a change to the
// directory before it is taken.
func (o Options) WithStep(step func(string)) Options {
	o.step = step
	return o
}

// SetMaxOpen is what decides on MaxOpen, given the limits of a process.
func (o *Options) SetMaxOpen(files, maps int64) error {
	setDefault(&o.KeepFiles, filesKept)
	return o.setMaxOpen(files, maps)
}

// Len returns how many answers the cache holds.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.answers)
}

// Waiting returns how many wait for room.
func (m *Manager) Waiting() int { return int(m.waiting.Load()) }
