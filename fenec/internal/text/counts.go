package text

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
)

// counts is a hash table of terms, by open addressing. Its entries are in the
// order in which the terms first came.
type counts struct {
	entries []entry
	arena   []byte // the terms, one after another
	total   uint32 // the sum of all freq

	// What distinct terms may still take, which are counted as each bytes more than
	// they have. Below 0 no more terms are added.
	room, each int64

	// ended, unless nil, is asked now and then whether to go on; its error leaves no
	// room.
	ended func() error

	// slots has 1 + the index in entries, or 0 where free. Its length is a power
	// of two and, so that little is cleared for a small text, no more than the
	// text at hand needs.
	// Invariant: 2*len(entries) <= len(slots).
	slots []uint32
}

// An entry is a term, the bytes [at, at+size) of the arena.
type entry struct {
	head uint64 // the first 8 bytes, big endian, filled up with 0
	hash uint32
	freq uint32
	at   int
	size int
}

// The seeds are drawn for each process, so that no text can be made to collide.
var (
	headSeed = rand.Uint64()
	tailSeed = maphash.MakeSeed()
)

// leastSlots is the least length of slots.
const leastSlots = 64

// bytesPerSlot is how many bytes of text there is a slot for at first. Of
// English about three terms in five appear twice or more.
const bytesPerSlot = 4

// checkEvery is after how many terms ended is asked.
const checkEvery = 4096

// reset makes the table that of no term, with room for a text of n bytes.
func (c *counts) reset(n int) {
	c.entries, c.arena, c.total = c.entries[:0], c.arena[:0], 0
	c.room, c.each, c.ended = math.MaxInt64, 0, nil
	c.makeSlots(1 << bits.Len(uint(max(leastSlots, n/bytesPerSlot)-1)))
}

func (c *counts) makeSlots(n int) {
	if n > cap(c.slots) {
		c.slots = make([]uint32, n)
		return
	}
	c.slots = c.slots[:n]
	clear(c.slots)
}

func (c *counts) term(e *entry) []byte { return c.arena[e.at : e.at+e.size : e.at+e.size] }

// add counts a term once more. The term is not kept.
func (c *counts) add(term []byte) {
	if c.total++; c.total%checkEvery == 0 && c.ended != nil && c.ended() != nil {
		c.room = -1
	}
	head := headOf(term)
	hash := hashOf(head, term)
	mask := uint32(len(c.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := c.slots[i]
		if slot == 0 {
			c.insert(i, head, hash, term)
			return
		}
		e := &c.entries[slot-1]
		if e.head == head && e.size == len(term) && (len(term) <= 8 || bytes.Equal(c.term(e), term)) {
			e.freq++
			return
		}
	}
}

// insert puts a term that is not in the table into slot i, which is free, unless
// there is no room.
func (c *counts) insert(i uint32, head uint64, hash uint32, term []byte) {
	if c.room -= int64(len(term)) + c.each; c.room < 0 {
		c.room = -1
		return
	}
	c.entries = append(c.entries, entry{head: head, hash: hash, freq: 1, at: len(c.arena), size: len(term)})
	c.arena = append(c.arena, term...)
	c.slots[i] = uint32(len(c.entries))
	if 2*len(c.entries) == len(c.slots) {
		c.grow()
	}
}

func (c *counts) grow() {
	c.makeSlots(2 * len(c.slots))
	mask := uint32(len(c.slots) - 1)
	for e := range c.entries {
		i := c.entries[e].hash & mask
		for c.slots[i] != 0 {
			i = (i + 1) & mask
		}
		c.slots[i] = uint32(e + 1)
	}
}

// headOf returns the first 8 bytes of term, big endian, filled up with 0. As no
// term holds a 0, terms of at most 8 bytes are equal when their heads are.
func headOf(term []byte) uint64 {
	var head uint64
	if cap(term) >= 8 {
		// What the memory holds behind a shorter term is masked out.
		head = binary.BigEndian.Uint64(term[:8])
	} else {
		var short [8]byte
		copy(short[:], term)
		head = binary.BigEndian.Uint64(short[:])
	}
	return head &^ (^uint64(0) >> (8 * min(len(term), 8)))
}

// hashOf mixes the head by multiplying it into 128 bits, as wyhash does.
func hashOf(head uint64, term []byte) uint32 {
	if len(term) > 8 {
		return uint32(maphash.Bytes(tailSeed, term))
	}
	hi, lo := bits.Mul64(head^headSeed, 0x9e3779b97f4a7c15)
	return uint32(hi ^ lo)
}
