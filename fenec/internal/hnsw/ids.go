package hnsw

import (
	"math/bits"
	"sync"
	"unsafe"
)

const (
	idShards    = 16
	fewestSlots = 16
)

// idTable finds the node of an id. It holds node numbers only, since the nodes
// know their ids; linear probing keeps it at about 7 bytes an id. Its shards
// are so many that inserting goroutines do not meet often.
type idTable struct {
	shards [idShards]idShard
}

type idShard struct {
	mu    sync.Mutex // guards the fields below
	slots []uint32   // node numbers; none if empty
	count int
	_     [64 - 40]byte // keeps neighbouring locks out of one cache line
}

// mix spreads the bits of an id (the finaliser of splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (t *idTable) shard(id uint64) *idShard { return &t.shards[mix(id)>>60] }

// home is where the search for an id begins.
func (s *idShard) home(id uint64) int {
	return int(uint32(mix(id)) & uint32(len(s.slots)-1))
}

// findLocked returns the slot of id, or the empty one where it would be.
func (s *idShard) findLocked(v *view, id uint64) (slot int, found bool) {
	for i := s.home(id); ; i = (i + 1) & (len(s.slots) - 1) {
		n := s.slots[i]
		if n == none {
			return i, false
		}
		if v.id(n) == id {
			return i, true
		}
	}
}

// roomLocked makes room for so many ids. A quarter of the slots stay empty.
func (s *idShard) roomLocked(v *view, count int) {
	if 4*count <= 3*len(s.slots) {
		return
	}
	old := s.slots
	s.slots = noneWords(max(fewestSlots, 1<<bits.Len(uint(count*4/3))))
	for _, n := range old {
		if n != none {
			slot, _ := s.findLocked(v, v.id(n))
			s.slots[slot] = n
		}
	}
}

func (s *idShard) putLocked(slot int, n uint32) {
	s.slots[slot] = n
	s.count++
}

// removeLocked empties a slot, and moves those after it that would no longer be
// found.
func (s *idShard) removeLocked(v *view, slot int) {
	s.count--
	last := len(s.slots) - 1
	hole := slot
	for i := (slot + 1) & last; s.slots[i] != none; i = (i + 1) & last {
		away := (i - s.home(v.id(s.slots[i]))) & last
		if away >= (i-hole)&last {
			s.slots[hole] = s.slots[i]
			hole = i
		}
	}
	s.slots[hole] = none
}

// lookup returns the node of id, or none.
func (g *Graph) lookup(id uint64) uint32 {
	s := g.ids.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == 0 {
		return none
	}
	slot, found := s.findLocked(g.view.Load(), id)
	if !found {
		return none
	}
	return s.slots[slot]
}

// bytes returns how much memory the table holds.
func (t *idTable) bytes() int64 {
	sum := int64(unsafe.Sizeof(*t))
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		sum += 4 * int64(len(s.slots))
		s.mu.Unlock()
	}
	return sum
}
