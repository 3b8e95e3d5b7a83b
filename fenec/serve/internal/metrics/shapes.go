package metrics

import (
	"cmp"
	"hash/maphash"
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
	kept map[string]*Figures
}

var shapeSeed = maphash.MakeSeed()

// Observe adds one statement. shape is not kept.
func (s *Shapes) Observe(shape []byte, took time.Duration, rows int, failed bool) {
	shard := &s.shards[maphash.Bytes(shapeSeed, shape)%shapeShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	f := shard.kept[string(shape)]
	if f == nil {
		f = shard.add(string(shape))
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

func (s *shapeShard) add(shape string) *Figures {
	if s.kept == nil {
		s.kept = map[string]*Figures{}
	}
	if len(s.kept) >= mostShapes/shapeShards {
		s.drop()
	}
	f := &Figures{Shape: shape}
	s.kept[shape] = f
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
		delete(s.kept, f.Shape)
	}
}

// List returns the figures of all shapes, those that cost most time first.
func (s *Shapes) List() []Figures {
	var list []Figures
	for i := range s.shards {
		shard := &s.shards[i]
		shard.mu.Lock()
		for _, f := range shard.kept {
			list = append(list, *f)
		}
		shard.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b Figures) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Shape, b.Shape))
	})
	return list
}

// Forget forgets all figures.
func (s *Shapes) Forget() {
	for i := range s.shards {
		shard := &s.shards[i]
		shard.mu.Lock()
		shard.kept = nil
		shard.mu.Unlock()
	}
}
