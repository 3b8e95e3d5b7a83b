package jwt

import (
	"strings"
	"sync"
)

const (
	// cachedTokens and cachedText bound a generation of a cache: how many tokens it
	// keeps, and how many bytes of their texts. There are two.
	cachedTokens = 2048
	cachedText   = 8 << 20
)

// cache keeps tokens that one set of keys has verified, by their text. It has two
// generations: when the young one is full it becomes the old one, and what is
// used from there becomes young again.
type cache[T any] struct {
	set *keySet

	mu         sync.Mutex // guards the fields below
	young, old map[string]*Accepted[T]
	text       int // bytes of the texts of young
}

// get returns what a token was accepted as, or nil.
func (c *cache[T]) get(text string) *Accepted[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.young[text]; a != nil {
		return a
	}
	a := c.old[text]
	if a != nil {
		c.addLocked(text, a)
	}
	return a
}

func (c *cache[T]) add(text string, a *Accepted[T]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addLocked(text, a)
}

// addLocked keeps a copy of text: it may be a piece of a request.
func (c *cache[T]) addLocked(text string, a *Accepted[T]) {
	if len(c.young) >= cachedTokens || c.text+len(text) > cachedText {
		c.young, c.old, c.text = nil, c.young, 0
	}
	if c.young == nil {
		c.young = map[string]*Accepted[T]{}
	}
	if c.young[text] == nil {
		c.text += len(text)
	}
	c.young[strings.Clone(text)] = a
}
