package router

import (
	"hash/maphash"
	"sync"
)

// table is a map from names to values that is read for every request and changed
// one entry at a time. It is cut into stripes, so that a change holds up the
// readers of one stripe for one map store, however large the table is.
type table[V any] struct {
	seed    maphash.Seed
	stripes [64]stripe[V]
}

type stripe[V any] struct {
	mu sync.RWMutex // guards m
	m  map[string]V
	_  [96]byte // keeps neighbours' locks off one cache line
}

func newTable[V any]() *table[V] {
	t := &table[V]{seed: maphash.MakeSeed()}
	for i := range t.stripes {
		t.stripes[i].m = make(map[string]V)
	}
	return t
}

// find is get for a key that is a slice, without making a string of it.
func (t *table[V]) find(key []byte) (V, bool) {
	s := &t.stripes[maphash.Bytes(t.seed, key)%uint64(len(t.stripes))]
	s.mu.RLock()
	v, ok := s.m[string(key)]
	s.mu.RUnlock()
	return v, ok
}

func (t *table[V]) stripe(key string) *stripe[V] { return &t.stripes[t.index(key)] }

func (t *table[V]) index(key string) uint64 {
	return maphash.String(t.seed, key) % uint64(len(t.stripes))
}

func (t *table[V]) get(key string) (V, bool) {
	s := t.stripe(key)
	s.mu.RLock()
	v, ok := s.m[key]
	s.mu.RUnlock()
	return v, ok
}

func (t *table[V]) put(key string, v V) {
	s := t.stripe(key)
	s.mu.Lock()
	s.m[key] = v
	s.mu.Unlock()
}

// getOrPut returns the value of the key, which is made first if there is none.
func (t *table[V]) getOrPut(key string, make func() V) V {
	s := t.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.m[key]
	if !ok {
		v = make()
		s.m[key] = v
	}
	return v
}

// take removes the key and returns the value it had.
func (t *table[V]) take(key string) (V, bool) {
	s := t.stripe(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.m[key]
	delete(s.m, key)
	return v, ok
}

// replace puts the entries of another table in the place of those there are, stripe by
// stripe: no reader waits for longer than that takes. The other is not to be used any more.
func (t *table[V]) replace(other *table[V]) {
	var next [len(t.stripes)]map[string]V
	for i := range next {
		next[i] = make(map[string]V)
	}
	other.each(func(key string, v V) { next[t.index(key)][key] = v })
	for i := range t.stripes {
		s := &t.stripes[i]
		s.mu.Lock()
		s.m = next[i]
		s.mu.Unlock()
	}
}

// each calls f for every entry, in no order, under the lock of the entry's
// stripe: f must not use the table. Changes made meanwhile may be missed.
func (t *table[V]) each(f func(key string, v V)) {
	for i := range t.stripes {
		s := &t.stripes[i]
		s.mu.RLock()
		for key, v := range s.m {
			f(key, v)
		}
		s.mu.RUnlock()
	}
}
