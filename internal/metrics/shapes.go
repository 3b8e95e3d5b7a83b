package metrics

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	shapeShards = 16
	mostShapes  = 5000 // of all shards together
)

// Figures are what the statements of one shape cost.
type Figures struct {
	Tenant string // whose they were, "" for nobody in particular
	Shape  string
	Calls  uint64
	Rows   uint64 // answered or written
	Errors uint64
	Total  time.Duration
	Min    time.Duration
	Max    time.Duration
}

// Shapes keeps the figures of statements by their shapes. When there are too many,
// those called least make room. The zero Shapes is ready, and safe for concurrent
// use.
type Shapes struct {
	shards [shapeShards]shapeShard
}

type shapeShard struct {
	mu   sync.Mutex // guards kept
	kept map[shapeKey]*Figures
}

type shapeKey struct{ tenant, shape string }

var shapeSeed = maphash.MakeSeed()

// Observe adds one statement of a tenant. shape is not kept.
func (s *Shapes) Observe(tenant string, shape []byte, took time.Duration, rows int, failed bool) {
	shard := &s.shards[maphash.Bytes(shapeSeed, shape)%shapeShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	f := shard.kept[shapeKey{tenant, string(shape)}]
	if f == nil {
		f = shard.add(shapeKey{tenant, string(shape)})
		f.Min = took
	}
	f.Calls++
	f.Rows += uint64(rows)
	f.Total += took
	f.Min, f.Max = min(f.Min, took), max(f.Max, took)
	if failed {
		f.Errors++
	}
}

func (s *shapeShard) add(key shapeKey) *Figures {
	if s.kept == nil {
		s.kept = map[shapeKey]*Figures{}
	}
	if len(s.kept) >= mostShapes/shapeShards {
		s.drop()
	}
	f := &Figures{Tenant: key.tenant, Shape: key.shape}
	s.kept[key] = f
	return f
}

// drop forgets the twentieth part that was called least.
func (s *shapeShard) drop() {
	list := make([]*Figures, 0, len(s.kept))
	for _, f := range s.kept {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *Figures) int { return cmp.Compare(a.Calls, b.Calls) })
	for _, f := range list[:len(list)/20+1] {
		delete(s.kept, shapeKey{f.Tenant, f.Shape})
	}
}

// List returns the figures of a tenant's statements, or with an empty name those of
// all, by shape: those that cost most time first.
func (s *Shapes) List(tenant string) []Figures {
	var list []Figures
	for i := range s.shards {
		shard := &s.shards[i]
		shard.mu.Lock()
		for _, f := range shard.kept {
			if tenant == "" || f.Tenant == tenant {
				list = append(list, *f)
			}
		}
		shard.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b Figures) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Shape, b.Shape))
	})
	return list
}

// Forget forgets the figures of a tenant, or with an empty name all.
func (s *Shapes) Forget(tenant string) {
	for i := range s.shards {
		shard := &s.shards[i]
		shard.mu.Lock()
		maps.DeleteFunc(shard.kept, func(k shapeKey, _ *Figures) bool { return tenant == "" || k.tenant == tenant })
		shard.mu.Unlock()
	}
}
