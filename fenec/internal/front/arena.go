package front

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

const (
	wordBytes  = 4
	offsetBits = 18
	offsetMask = 1<<offsetBits - 1

	firstChunkWords = 256                // 1 KiB: an arena of two streams starts at 2 KiB
	fullChunkWords  = 1 << offsetBits    // 1 MiB: what chunks double up to
	ownChunkWords   = fullChunkWords / 4 // a larger record gets a chunk of its own
	keptChunkWords  = 4096               // 16 KiB: the largest chunk a reset keeps

	firstSlots = 4
	maxChunks  = 1 << (32 - offsetBits)
	slotBytes  = int64(unsafe.Sizeof([]uint32{}))
)

// ref is the place of a record in an arena: the number of its chunk, and the
// offset in words inside it. No record is ever at zero, which means none.
type ref uint32

// arena hands out space in chunks of words that hold no pointers. Nothing is
// ever given back but by reset. One writer allocates; readers may follow any
// ref they have loaded from an atomic word, since a chunk is in the table
// before anything refers into it.
type arena struct {
	// table is replaced when its slots run out. A slot once filled never
	// changes, so an old table stays good for the refs it was loaded for.
	table atomic.Pointer[[][]uint32]
	held  atomic.Int64 // bytes of all chunks and of the table
	// chunks counts the filled slots; the writer's own.
	chunks int
}

// stream is where an arena puts one sort of record: the chunk being filled.
// Nodes are kept apart from versions so that a search stays in little memory.
type stream struct {
	number int // of the chunk in the table
	words  []uint32
	used   int // words of it
}

// alloc returns the place of n fresh words. Their contents are undefined.
func (a *arena) alloc(s *stream, n int) ref {
	if n > ownChunkWords {
		return ref(a.add(make([]uint32, n))) << offsetBits
	}
	if n > len(s.words)-s.used {
		a.extend(s, n)
	}
	r := ref(s.number<<offsetBits | s.used)
	s.used += n
	return r
}

// extend gives the stream a new chunk, twice the last one or large enough for n
// words. What was left of the last one is lost.
func (a *arena) extend(s *stream, n int) {
	size := max(2*len(s.words), 1<<bits.Len(uint(n-1)))
	s.words = make([]uint32, min(size, fullChunkWords))
	s.used = 0
	s.number = a.add(s.words)
}

// add puts a chunk in the table and returns its number.
func (a *arena) add(chunk []uint32) int {
	size := int64(len(chunk)) * wordBytes
	if a.chunks == maxChunks || a.held.Load()+size > MaxBytes {
		panic(fmt.Sprintf("front: more than %d bytes", int64(MaxBytes)))
	}
	table := *a.table.Load()
	if a.chunks == len(table) {
		table = a.growTable(table)
	}
	table[a.chunks] = chunk
	a.chunks++
	a.held.Add(size)
	return a.chunks - 1
}

func (a *arena) growTable(old [][]uint32) [][]uint32 {
	table := make([][]uint32, max(firstSlots, 2*len(old)))
	copy(table, old)
	a.held.Add(int64(len(table)-len(old)) * slotBytes)
	a.table.Store(&table)
	return table
}

// reset makes the arena empty, with a chunk for each stream: the one it was
// filling, or a new one if that was large.
func (a *arena) reset(streams ...*stream) {
	a.chunks = 0
	if table := a.table.Load(); table != nil && len(*table) == firstSlots {
		clear(*table)
		a.held.Store(firstSlots * slotBytes)
	} else {
		a.held.Store(0)
		a.growTable(nil)
	}
	for _, s := range streams {
		if len(s.words) == 0 || len(s.words) > keptChunkWords {
			s.words = make([]uint32, firstChunkWords)
		}
		s.number = a.add(s.words)
		s.used = 0
	}
}

// at returns the chunk that holds r, and r's offset in it.
func (a *arena) at(r ref) ([]uint32, int) {
	return (*a.table.Load())[r>>offsetBits], int(r & offsetMask)
}

// bytesOf returns the first n bytes of words, in place.
func bytesOf(words []uint32, n int) []byte {
	words = words[:wordsFor(n)] // keeps n within the words
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

// wordsFor returns how many words hold n bytes.
func wordsFor(n int) int { return (n + wordBytes - 1) / wordBytes }
