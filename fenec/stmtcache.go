package fenec

import "sync"

// stmtCache keeps the statements that were used lately, by their text, so that
// a text that comes again is neither parsed nor compiled again. It has two
// generations: when the young one is full it becomes the old one, and what is
// used from there becomes young again.
type stmtCache struct {
	mu         sync.Mutex // guards the fields below
	young, old map[string]*Stmt
}

const (
	cachedStmts = 128     // of each generation
	cachedText  = 4 << 10 // the longest text that is kept, in bytes
)

// get returns the statement of text, or nil.
func (c *stmtCache) get(text string) *Stmt {
	c.mu.Lock()
	defer c.mu.Unlock()
	if st := c.young[text]; st != nil {
		return st
	}
	st := c.old[text]
	if st != nil {
		c.addLocked(text, st)
	}
	return st
}

// add keeps the statement of text.
func (c *stmtCache) add(text string, st *Stmt) {
	if len(text) > cachedText {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addLocked(text, st)
}

func (c *stmtCache) addLocked(text string, st *Stmt) {
	if len(c.young) >= cachedStmts {
		c.young, c.old = nil, c.young
	}
	if c.young == nil {
		c.young = map[string]*Stmt{}
	}
	c.young[text] = st
}
