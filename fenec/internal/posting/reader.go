package posting

import (
	"bytes"
	"encoding/binary"
)

// farChunks is how many chunks ahead an id must be, by the width of the current
// one, for it to be sought rather than walked to.
const farChunks = 4

// reader walks the stored postings of one term.
//
// It always stands at a block. Only if it is deep does it stand at a posting:
// moving from block to block for the sake of their bounds does not look into
// them. Past the end it is deep, and id and last are End.
type reader struct {
	cursor Cursor
	kind   Kind
	prefix []byte
	seed   uint32 // of the prefix
	head   head
	err    error

	chunk chunk
	block block // laid out, and opened if deep
	at    int   // which block of the chunk
	last  uint64
	id    uint64 // of the posting, if deep; else no posting from here on is below it
	i     int    // the posting in the block, if deep
	deep  bool

	sought bool   // the cursor came here by SeekLT, and Next is not allowed
	key    []byte // buffer
}

// open stands at the first posting.
func (r *reader) open(kind Kind, c Cursor, prefix []byte) error {
	r.cursor, r.kind, r.prefix, r.seed = c, kind, prefix, seedOf(prefix)
	return r.rewind()
}

// rewind goes back to the first posting.
func (r *reader) rewind() error {
	r.end()
	r.err, r.sought, r.head.df = nil, false, 0
	r.cursor.SeekGE(r.prefix)
	if !r.standsInTerm() {
		return r.err
	}
	key := r.cursor.Key()
	if len(key) != len(r.prefix) {
		return corrupt(key, "no head before it")
	}
	if err := r.chunk.open(r.kind, r.seed, key, r.cursor.Value(), &r.head); err != nil {
		return err
	}
	r.enter(0, 0)
	r.deepen(0)
	return r.err
}

// standsInTerm reports whether the cursor stands at a key of the term.
func (r *reader) standsInTerm() bool {
	if !r.cursor.Valid() {
		r.err = r.cursor.Err()
		return false
	}
	return bytes.HasPrefix(r.cursor.Key(), r.prefix)
}

// end goes past the last posting.
func (r *reader) end() { r.id, r.last, r.deep = End, End, true }

func (r *reader) fail(err error) {
	r.err = err
	r.end()
}

// enter stands at block i of the chunk, on the way to id.
func (r *reader) enter(i int, id uint64) {
	from, last := r.chunk.extent(i)
	r.at, r.last, r.id, r.deep = i, last, max(from, id), false
}

// deepen stands at the first posting of the block from id on, which is not
// beyond the block.
func (r *reader) deepen(id uint64) {
	if !r.block.open(&r.chunk, r.at) {
		r.fail(corrupt(r.cursor.Key(), "block %d", r.at))
		return
	}
	r.stand(r.block.seek(0, id))
}

// stand stands at posting i of the block, if it has so many.
func (r *reader) stand(i int) {
	if i >= r.block.n {
		r.nextBlock()
		return
	}
	r.i, r.id, r.deep = i, r.block.id(i), true
}

// next moves to the following posting. The reader is deep and not past the end.
func (r *reader) next() {
	if i := r.i + 1; i < r.block.n {
		r.i, r.id = i, r.block.id(i)
		return
	}
	r.nextBlock()
}

func (r *reader) nextBlock() {
	if r.at+1 < r.chunk.blocks {
		r.enter(r.at+1, 0)
	} else if !r.nextChunk(0) {
		return
	}
	r.deepen(0)
}

// seekGE moves to the first posting at or after id. It never moves back.
func (r *reader) seekGE(id uint64) {
	if id > r.last {
		r.shallow(id)
	}
	switch {
	case !r.deep:
		r.deepen(id)
	case id > r.id:
		r.stand(r.block.seek(r.i+1, id))
	}
}

// shallow moves to the first block whose last id is at or after id.
func (r *reader) shallow(id uint64) {
	for id > r.last {
		switch {
		case id <= r.chunk.last:
			r.enter(r.chunk.find(r.at+1, id), id)
		case id > MaxID:
			r.end()
		case !r.towards(id):
			return
		}
	}
}

// towards moves to a further chunk on the way to id: to the one it is in, or would
// be in, if it is far.
func (r *reader) towards(id uint64) bool {
	if (id-r.chunk.last)/farChunks <= r.chunk.last-r.chunk.first {
		return r.nextChunk(id)
	}
	r.key = chunkKey(r.key[:0], r.prefix, id+1)
	r.cursor.SeekLT(r.key)
	r.sought = true
	if !r.standsInTerm() {
		r.lost()
		return false
	}
	key := r.cursor.Key()
	if n := len(key) - len(r.prefix); n == 0 || n == 8 && firstID(key) == r.chunk.first {
		return r.nextChunk(id) // nothing is between
	}
	return r.openChunk(id)
}

// lost ends the walk where a chunk was found before.
func (r *reader) lost() {
	if r.err == nil {
		r.err = corrupt(r.prefix, "a chunk is not where it was")
	}
	r.end()
}

// nextChunk stands at the first block of the following chunk.
func (r *reader) nextChunk(id uint64) bool {
	if r.sought {
		r.key = append(append(r.key[:0], r.cursor.Key()...), 0)
		r.cursor.SeekGE(r.key)
		r.sought = false
	} else {
		r.cursor.Next()
	}
	if !r.standsInTerm() {
		r.end()
		return false
	}
	return r.openChunk(id)
}

// openChunk stands at the first block of the chunk that the cursor has come to.
func (r *reader) openChunk(id uint64) bool {
	key, before := r.cursor.Key(), r.chunk.last
	if len(key) != len(r.prefix)+8 {
		r.fail(corrupt(key, "no key of a chunk"))
		return false
	}
	if err := r.chunk.open(r.kind, r.seed, key, r.cursor.Value(), nil); err != nil {
		r.fail(err)
		return false
	}
	if r.chunk.first != firstID(key) || r.chunk.first <= before {
		r.fail(corrupt(key, "a chunk whose first id is %d after %d", r.chunk.first, before))
		return false
	}
	r.enter(0, id)
	return true
}

// firstID returns the first id in the key of a chunk that is not the head's.
func firstID(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// posting returns the posting stood at.
func (r *reader) posting() Posting { return r.block.posting(r.kind, r.i) }

// blockBound reads the bound of the block, which is not past the end.
func (r *reader) blockBound(into *bound) {
	if !r.deep && !r.block.layout(&r.chunk, r.at) || !r.block.parseBound(&r.chunk, into) {
		*into = bound{}
		r.fail(corrupt(r.cursor.Key(), "bound of block %d", r.at))
	}
}
