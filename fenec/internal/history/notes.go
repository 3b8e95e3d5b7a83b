package history

import "slices"

// Op says what happened.
type Op uint8

// What happens. The numbers are part of stored files.
const (
	Put    Op = iota // a document was written
	Del              // a document was deleted
	Create           // a collection came to be
	Alter            // a collection's definition changed
	Drop             // a collection went
)

// Entry is what one number of the sequence stands for.
type Entry struct {
	Seq        uint64
	At         int64 // of the block, milliseconds since 1970
	Collection uint32
	Op         Op
	Internal   bool   // the collection is the server's own
	ID         uint64 // of the document, 0 unless Put or Del
}

// note is an entry without what its place tells.
type note struct {
	id         uint64
	collection uint32
	op         Op
	internal   bool
}

// noteBytes is the size of a note in memory.
const noteBytes = 16

// Notes are what a block has done so far, a note a number, in order.
type Notes struct {
	list    []note
	touched []uint32 // collections, each once
	visible bool     // one of them is not the server's own
	dropped []dropped
}

// dropped is a collection that has gone, with the name that can be found
// nowhere else any more.
type dropped struct {
	seq    uint64
	number uint32
	name   string
}

// Add notes the block's next number.
func (n *Notes) Add(op Op, collection uint32, id uint64, internal bool) {
	n.list = append(n.list, note{id, collection, op, internal})
	n.visible = n.visible || !internal
	if i := len(n.touched); i == 0 || n.touched[i-1] != collection && !slices.Contains(n.touched, collection) {
		n.touched = append(n.touched, collection)
	}
}

// Dropped notes what the collection was called that the last note dropped.
func (n *Notes) Dropped(name string) {
	at := len(n.list) - 1
	n.dropped = append(n.dropped, dropped{uint64(at), n.list[at].collection, name})
}

// maxKept bounds the memory kept for the next block, in notes.
const maxKept = 4096

// Reset forgets all notes.
func (n *Notes) Reset() {
	n.list, n.touched, n.visible, n.dropped = n.list[:0], n.touched[:0], false, nil
	if cap(n.list) > maxKept {
		n.list, n.touched = nil, nil
	}
}

// Collections returns the collections of the notes, each once. The slice is good
// until Reset.
func (n *Notes) Collections() []uint32 { return n.touched }

// Visible reports whether one of the collections is not the server's own.
func (n *Notes) Visible() bool { return n.visible }
