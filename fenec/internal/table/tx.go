package table

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Change sums up what a block does.
type Change struct {
	LiveBytes int64 // net change of the encoded rows, all collections
	Written   int   // documents written or deleted, without the server's own
	Rows      int   // net change of documents, without the server's own
	Grew      bool  // something was added or became longer
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
	op      []byte // the operation being built
	replays bool   // the record is being replayed: nothing is logged or checked
	writer  Writer // the last one handed out
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
	figures map[uint32]Figures
	tx      Tx
}

// maxKeptOp bounds the buffer kept for the next block, in bytes.
const maxKeptOp = 64 << 10

// Begin makes b a Tx, which is good until the next Begin.
func (c *Cache) Begin(b *store.Block) *Tx {
	t := &c.tx
	*t = Tx{block: b, cache: c, touched: t.touched[:0], op: t.op[:0], writer: Writer{buffers: t.writer.buffers}}
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
	return nil
}

// Publish makes the block's figures those of the cache. Call it when the block
// is committed, under the write lock.
func (t *Tx) Publish() {
	if t.cache.figures == nil {
		t.cache.figures = map[uint32]Figures{}
	}
	for i := range t.touched {
		t.cache.figures[t.touched[i].number] = t.touched[i].Figures
	}
}

// log adds the operation in t.op to the record.
func (t *Tx) log() error {
	if t.replays {
		return nil
	}
	return t.block.Log(t.op, 1)
}

// Create writes the definition of a new collection. cat is the catalog that
// has it.
func (t *Tx) Create(cat *catalog.Catalog, c *catalog.Collection) error {
	t.change.Grew = true
	def := c.Append(nil)
	t.op = appendSized(append(t.op[:0], opCreate), def)
	if err := t.log(); err != nil {
		return err
	}
	if err := t.block.Put(Meta, nextKey, binary.BigEndian.AppendUint32(nil, cat.Next())); err != nil {
		return err
	}
	return t.block.Put(Meta, definitionKey(c.Number), row.Seal(def))
}

// Drop takes a collection out, with its rows and indexes.
func (t *Tx) Drop(c *catalog.Collection) error {
	f, err := t.figures(c.Number)
	if err != nil {
		return err
	}
	t.change.LiveBytes -= f.LiveBytes
	if !internal(c.Name) {
		t.change.Rows -= int(f.Rows)
	}
	t.op = binary.AppendUvarint(append(t.op[:0], opDrop), uint64(c.Number))
	if err := t.log(); err != nil {
		return err
	}
	t.forget(c.Number)
	for _, key := range [][]byte{definitionKey(c.Number), figuresKey(c.Number)} {
		if err := t.block.Delete(Meta, key); err != nil {
			return err
		}
	}
	for _, space := range c.Spaces() {
		if err := t.block.DropSpace(space); err != nil {
			return err
		}
	}
	return nil
}

// forget makes sure that Seal writes no figures of a dropped collection.
func (t *Tx) forget(number uint32) {
	for i := range t.touched {
		if t.touched[i].number == number {
			t.touched = append(t.touched[:i], t.touched[i+1:]...)
			return
		}
	}
}

// loadCatalog reads the catalog that v sees.
func loadCatalog(v *store.View) (*catalog.Catalog, error) {
	b, err := v.Get(Meta, nextKey)
	if err != nil {
		return nil, err
	}
	var next uint32
	if b != nil {
		if len(b) != 4 {
			return nil, fmt.Errorf("%w: a next number of %d bytes", ErrCorrupt, len(b))
		}
		next = binary.BigEndian.Uint32(b)
	}
	var found []*catalog.Collection
	it := v.Iter(Meta, []byte{'c'}, []byte{'c' + 1})
	for it.First(); it.Valid(); it.Next() {
		def, err := row.Open(it.Value())
		if err != nil {
			return nil, fmt.Errorf("a collection's definition: %w", err)
		}
		c, err := catalog.Decode(def)
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	if err := it.Err(); err != nil {
		return nil, err
	}
	return catalog.Load(next, found)
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
