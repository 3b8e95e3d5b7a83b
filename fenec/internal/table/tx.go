package table

import (
	"encoding/binary"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/feed"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Change sums up what a block does.
type Change struct {
	LiveBytes int64 // net change of the encoded rows, all collections
	Written   int   // documents written or deleted, without the server's own
	Rows      int   // net change of documents, without the server's own
	Grew      bool  // something was added or became longer
}

// Since returns what c has added to an earlier state of the same block.
func (c Change) Since(earlier Change) Change {
	return Change{
		LiveBytes: c.LiveBytes - earlier.LiveBytes,
		Written:   c.Written - earlier.Written,
		Rows:      c.Rows - earlier.Rows,
		Grew:      c.Grew,
	}
}

// internal reports whether a collection is the server's own: it counts toward
// bytes only.
func internal(name string) bool { return strings.HasPrefix(name, "_") }

// Tx is an open block that knows documents. It is for one goroutine.
type Tx struct {
	block   *store.Block
	cache   *Cache
	change  Change
	touched []touched
	texts   []touchedText
	op      []byte // the operation being built
	notes   history.Notes
	first   uint64 // number of the sequence that the notes begin at
	replays bool   // the record is being replayed: nothing is checked
	writer  Writer // the last one handed out

	// Hook, if not nil, is called with each row that is about to be written, as
	// it was and as it will be; nil is no row. Uniqueness has been checked. Its
	// error fails the write. The rows are good until it returns.
	Hook func(c *catalog.Collection, id uint64, before, after []byte) error
}

// touched is a collection whose figures the block has looked at, and what they
// were when it began.
type touched struct {
	number uint32
	Figures
	before Figures
}

// Cache holds the figures of collections as of the last committed block, and
// the memory of the one open block. It is guarded by the store's write lock.
type Cache struct {
	History *history.History // is told of every block; nil for none
	Feed    *feed.Feed       // is given every block; nil for none

	figures map[uint32]Figures
	texts   map[uint32]TextFigures // by the index's space
	tx      Tx
}

// maxKeptOp bounds the buffer kept for the next block, in bytes.
const maxKeptOp = 64 << 10

// Begin makes b a Tx, which is good until the next Begin.
func (c *Cache) Begin(b *store.Block) *Tx {
	t := &c.tx
	*t = Tx{block: b, cache: c, touched: t.touched[:0], texts: t.texts[:0], op: t.op[:0], notes: t.notes, first: b.Next(), writer: Writer{buffers: t.writer.buffers, searcher: t.writer.searcher}}
	t.notes.Reset()
	if c.Feed != nil {
		c.Feed.Begin()
	}
	if cap(t.op) > maxKeptOp {
		t.op, t.writer.buffers = nil, buffers{}
	}
	return t
}

// Change returns what the block has done so far.
func (t *Tx) Change() Change { return t.change }

// View returns the block's view, which sees what the block has written.
func (t *Tx) View() *store.View { return &t.block.View }

// figures returns the figures of a collection as the block sees them, to be
// changed in place. The pointer is good until the next call.
func (t *Tx) figures(number uint32) (*Figures, error) {
	for i := range t.touched {
		if t.touched[i].number == number {
			return &t.touched[i].Figures, nil
		}
	}
	f, known := t.cache.figures[number]
	if !known {
		var err error
		if f, err = readFigures(t.View(), number); err != nil {
			return nil, err
		}
	}
	t.touched = append(t.touched, touched{number, f, f})
	return &t.touched[len(t.touched)-1].Figures, nil
}

// Seal writes the figures that the block has changed. Call it once, before the
// block's Commit.
func (t *Tx) Seal() error {
	var key, val [figuresBytes]byte
	for i := range t.touched {
		if t.touched[i].Figures == t.touched[i].before {
			continue // else a block that changes nothing would write a record
		}
		k := binary.BigEndian.AppendUint32(append(key[:0], 'f'), t.touched[i].number)
		if err := t.block.Put(Meta, k, t.touched[i].append(val[:0])); err != nil {
			return err
		}
	}
	return t.sealTexts()
}

// Publish makes the block's figures those of the cache, its notes part of the
// history, and its operations part of the feed. Call it when the block is committed, under the write lock.
func (t *Tx) Publish() {
	if t.cache.figures == nil {
		t.cache.figures, t.cache.texts = map[uint32]Figures{}, map[uint32]TextFigures{}
	}
	for i := range t.touched {
		t.cache.figures[t.touched[i].number] = t.touched[i].Figures
	}
	for i := range t.texts {
		t.cache.texts[t.texts[i].space] = t.texts[i].known
	}
	if h := t.cache.History; h != nil {
		h.Append(t.first, t.block.Time().UnixMilli(), &t.notes)
	}
	if f := t.cache.Feed; f != nil {
		f.Append(t.block.Seq()+1, t.first, t.block.Time().UnixMilli())
	}
}

// Notes returns what the block has done so far. They are good until the next
// Begin.
func (t *Tx) Notes() *history.Notes { return &t.notes }

// log adds the operation in t.op to the record and notes what it does to c, or
// to its document of that id.
func (t *Tx) log(op history.Op, c *catalog.Collection, id uint64) error {
	t.notes.Add(op, c.Number, id, internal(c.Name))
	if f := t.cache.Feed; f != nil {
		f.Add(c, t.op)
	}
	return t.block.Log(t.op, 1)
}
