package exec

import (
	"bytes"
	"hash/maphash"
)

// forms numbers pieces of bytes, those of equal content alike, as they come:
// the first is 0. It is a hash table with open addressing that keeps the pieces
// one behind the other, so that a new one takes no memory of its own.
type forms struct {
	seed  maphash.Seed
	slots []formSlot // as many as a power of two; a third is free at least
	data  []byte
	ends  []int // of the pieces, in data
}

// formSlot is where a piece is found by its hash.
type formSlot struct {
	hash   uint32 // the upper half
	number uint32 // from 1; 0 in a free slot
}

const firstSlots = 16

func newForms() *forms { return &forms{seed: maphash.MakeSeed(), slots: make([]formSlot, firstSlots)} }

// number returns the number of b, and whether it has just got it.
func (s *forms) number(b []byte) (n int, isNew bool) {
	hash := maphash.Bytes(s.seed, b)
	mask := uint64(len(s.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := &s.slots[i]
		if slot.number == 0 {
			*slot = formSlot{uint32(hash >> 32), uint32(len(s.ends) + 1)}
			return s.add(b), true
		}
		if slot.hash == uint32(hash>>32) && bytes.Equal(s.at(int(slot.number-1)), b) {
			return int(slot.number - 1), false
		}
	}
}

// at returns piece n.
func (s *forms) at(n int) []byte {
	start := 0
	if n > 0 {
		start = s.ends[n-1]
	}
	return s.data[start:s.ends[n]]
}

func (s *forms) add(b []byte) int {
	s.data = append(s.data, b...)
	s.ends = append(s.ends, len(s.data))
	if 3*len(s.ends) > 2*len(s.slots) {
		s.widen()
	}
	return len(s.ends) - 1
}

// widen doubles the slots.
func (s *forms) widen() {
	s.slots = make([]formSlot, 2*len(s.slots))
	mask := uint64(len(s.slots) - 1)
	for n := range s.ends {
		hash := maphash.Bytes(s.seed, s.at(n))
		i := hash & mask
		for s.slots[i].number != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = formSlot{uint32(hash >> 32), uint32(n + 1)}
	}
}
