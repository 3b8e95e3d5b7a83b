package feed

import (
	"sort"
	"sync"
)

// buffer is memory for a chunk. That of chunks that were folded goes to others: to
// clear and to touch it anew would cost writers as much as what they put there.
type buffer [chunkBytes + sumBytes]byte

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// tail is the newest chunks. Only the last one is added to.
type tail struct {
	chunks []chunk
	bytes  int64 // of their data
	size   int   // that chunks have
}

// shortBytes is the length up to which the last chunk is taken up again by a later
// fold, and stays in memory for it.
func (t *tail) shortBytes() int { return t.size / 4 }

// takeUp makes a stored chunk the one that is added to.
func (t *tail) takeUp(c chunk) {
	t.chunks, t.bytes = []chunk{c}, int64(len(c.data))
}

// append adds a group, in as many chunks as it takes.
func (t *tail) append(g group) {
	for g.count > 0 {
		c := t.room(g.first, maxGroup+g.next())
		before := len(c.data)
		c.define(g.col) // which takes of the room
		c.add(g.cut(c.limit(t.size) - maxGroup - len(c.data)))
		t.bytes += int64(len(c.data) - before)
	}
}

// room returns the chunk to add n bytes to: the last, or another one that begins at
// first.
func (t *tail) room(first uint64, n int) *chunk {
	last := len(t.chunks) - 1
	if last >= 0 && len(t.chunks[last].data)+n <= t.chunks[last].limit(t.size) {
		return &t.chunks[last]
	}
	var data []byte // a small database stays small
	if last >= 0 && t.size == chunkBytes {
		data = buffers.Get().(*buffer)[:0]
	}
	t.chunks = append(t.chunks, newChunk(first, data))
	return &t.chunks[last+1]
}

// dropTo forgets the chunks without an entry past seq.
func (t *tail) dropTo(seq uint64) { t.drop(t.index(seq)) }

// foldedTo is dropTo when all of that is in the base, but for the last chunk if it
// is short. Nobody may be reading the chunks.
func (t *tail) foldedTo(seq uint64) {
	n := t.index(seq)
	if last := len(t.chunks) - 1; n == last+1 && n > 0 && len(t.chunks[last].data) <= t.shortBytes() {
		n = last
	}
	for i := range t.chunks[:n] {
		if data := t.chunks[i].data; cap(data) == len(buffer{}) {
			buffers.Put((*buffer)(data[:len(buffer{})]))
		}
	}
	t.drop(n)
}

// drop forgets the first n chunks.
func (t *tail) drop(n int) {
	for i := range t.chunks[:n] {
		t.bytes -= int64(len(t.chunks[i].data))
	}
	clear(t.chunks[:n])
	t.chunks = t.chunks[n:]
	if len(t.chunks) == 0 {
		t.chunks = nil
	}
}

// index returns the place of the first chunk with entries past seq.
func (t *tail) index(seq uint64) int {
	return sort.Search(len(t.chunks), func(i int) bool { return t.chunks[i].last > seq })
}

// held returns the memory that the chunks take up.
func (t *tail) held() (bytes int64) {
	for i := range t.chunks {
		bytes += int64(cap(t.chunks[i].data))
	}
	return bytes
}
