package feed

import (
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
)

// Entry is one operation of a block. What it refers to is never changed.
type Entry struct {
	Seq        uint64
	Block      uint64              // number of its block's first operation
	At         int64               // of the block, milliseconds since 1970
	Collection *catalog.Collection // as it was once the operation was done
	Op         []byte
}

// walk goes through the entries of a chunk.
type walk struct {
	entry  Entry // the one it stands at
	err    error // what ended it early, or nil
	rest   []byte
	first  uint64 // number of the chunk
	defs   []definition
	target int
	left   uint64 // entries of the group still to come
	held   bool   // next stays at entry
}

// newWalk returns a walk before the first entry of data, in which entries will lie.
func newWalk(first uint64, data []byte) *walk {
	return &walk{rest: data, first: first, target: -1, entry: Entry{Seq: first - 1}}
}

// next moves to the next entry and reports whether there is one.
func (w *walk) next() bool {
	if w.held {
		w.held = false
		return true
	}
	for w.left == 0 && w.err == nil {
		if len(w.rest) == 0 {
			return false
		}
		w.item()
	}
	op := w.take(w.uvarint())
	switch {
	case w.err != nil:
		return false
	case len(op) == 0:
		return w.fail("an operation of no bytes")
	}
	w.entry.Seq++
	w.entry.Op = op
	w.left--
	return w.entry.Seq != 0 || w.fail("numbers past the last")
}

// skipTo moves to the first entry past after, so that next goes there, and reports
// whether there is one.
func (w *walk) skipTo(after uint64) bool {
	for w.next() {
		if w.entry.Seq > after {
			w.held = true
			return true
		}
	}
	return false
}

// item reads a definition, or what stands before a group's operations.
func (w *walk) item() {
	tag := w.take(1)[0]
	if tag == tagDefinition {
		w.define()
		return
	}
	if tag&tagDefinition != 0 || tag > tagGoesOn|tagNextSeq|tagSameAt|tagSameTarget|tagOne {
		w.fail("tag %d", tag)
		return
	}
	e := &w.entry
	last := e.Seq
	if tag&tagNextSeq == 0 {
		e.Seq += w.uvarint()
	}
	e.Block = e.Seq + 1
	if tag&tagGoesOn != 0 {
		e.Block -= w.uvarint()
	}
	if tag&tagSameAt == 0 {
		e.At += w.varint()
	}
	if tag&tagSameTarget == 0 {
		w.aim(w.uvarint())
	}
	w.left = 1
	if tag&tagOne == 0 {
		w.left = w.uvarint()
	}
	if e.Seq < last || e.Block == 0 || e.Block > e.Seq+1 || e.Collection == nil || w.left == 0 {
		w.fail("a group after %d", last)
	}
}

// aim makes the definition of that place the one of the group.
func (w *walk) aim(place uint64) {
	if place >= uint64(len(w.defs)) {
		w.fail("definition %d of %d", place, len(w.defs))
		return
	}
	w.target = int(place)
	w.entry.Collection = w.defs[place].col
}

func (w *walk) define() {
	raw := w.take(w.uvarint())
	if w.err != nil {
		return
	}
	col, err := catalog.Decode(raw)
	if err != nil {
		w.fail("a definition: %w", err)
		return
	}
	w.defs = append(w.defs, definition{col, raw})
}

// fail ends the walk. It returns false.
func (w *walk) fail(format string, args ...any) bool {
	if w.err == nil {
		w.err = fmt.Errorf("%w: the chunk of %d: "+format, append([]any{ErrCorrupt, w.first}, args...)...)
	}
	w.rest, w.left = nil, 0
	return false
}

func (w *walk) take(n uint64) []byte {
	if n > uint64(len(w.rest)) {
		w.fail("it ends early")
		return nil
	}
	b := w.rest[:n:n]
	w.rest = w.rest[n:]
	return b
}

func (w *walk) uvarint() uint64 {
	v, n := binary.Uvarint(w.rest)
	if n <= 0 {
		w.fail("a damaged number")
		return 0
	}
	w.rest = w.rest[n:]
	return v
}

func (w *walk) varint() int64 {
	v, n := binary.Varint(w.rest)
	if n <= 0 {
		w.fail("a damaged number")
		return 0
	}
	w.rest = w.rest[n:]
	return v
}
