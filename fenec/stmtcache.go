package fenec

import "sync"

// stmtCache keeps the statements that were used lately, by their text and what
// else they depend on, so that one that comes again is neither parsed nor
// compiled again. It has two generations: when the young one is full it becomes
// the old one, and what is used from there becomes young again.
type stmtCache[K comparable] struct {
	mu         sync.Mutex // guards the fields below
	young, old map[K]*Stmt
}

// policyText is what statements of sessions are kept by.
type policyText struct {
	policy *Policy
	text   string
}

const (
	cachedStmts = 128     // of each generation
	cachedText  = 4 << 10 // the longest text that is kept, in bytes
)

// get returns the statement of key, or nil.
func (c *stmtCache[K]) get(key K) *Stmt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st := c.young[key]; st != nil {
		return st
	}
	st := c.old[key]
	if st != nil {
		c.addLocked(key, st)
	}
	return st
}

// add keeps the statement of key.
func (c *stmtCache[K]) add(key K, st *Stmt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addLocked(key, st)
}

func (c *stmtCache[K]) addLocked(key K, st *Stmt) {
	if len(c.young) >= cachedStmts {
		c.young, c.old = nil, c.young
	}
	if c.young == nil {
		c.young = map[K]*Stmt{}
	}
	c.young[key] = st
}
