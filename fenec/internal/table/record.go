package table

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/feed"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// A block's record is its operations in order, each a tag and what it needs.
// Numbers are uvarints; what is sized begins with its length as one.
//
//	opPut     collection number, id, sized row
//	opDelete  collection number, id
//	opCreate  sized definition
//	opDrop    collection number
//	opAlter   sized definition, of the number of the collection it changes
//
// Each takes one number of the sequence.
const (
	opPut    = 1
	opDelete = 2
	opCreate = 3
	opDrop   = 4
	opAlter  = 5
)

// Operation is what an operation of a record does.
type Operation struct {
	Op  history.Op
	ID  uint64 // of the document that is put or deleted
	Row []byte // that is put, encoded; it lies in the operation
}

// DecodeOperation returns what one operation does. What it does to a definition it
// does not say: see feed.Entry.
func DecodeOperation(op []byte) (Operation, error) {
	d := decoder{rest: op}
	var out Operation
	switch tag := d.byte(); tag {
	case opPut:
		d.uvarint()
		out = Operation{history.Put, d.uvarint(), d.sized()}
	case opDelete:
		d.uvarint()
		out = Operation{Op: history.Del, ID: d.uvarint()}
	case opCreate:
		d.sized()
		out.Op = history.Create
	case opDrop:
		d.uvarint()
		out.Op = history.Drop
	case opAlter:
		d.sized()
		out.Op = history.Alter
	default:
		d.fail("operation %d in a record", tag)
	}
	if d.err == nil && len(d.rest) > 0 {
		d.fail("bytes after an operation")
	}
	return out, d.err
}

// Altered returns the definitions that a record makes those of its collections, which
// were there before.
func Altered(record []byte) (list []*catalog.Collection, err error) {
	d := decoder{rest: record}
	for len(d.rest) > 0 && d.err == nil {
		switch d.byte() {
		case opPut:
			d.uvarint()
			d.uvarint()
			d.sized()
		case opDelete:
			d.uvarint()
			d.uvarint()
		case opCreate:
			d.sized()
		case opDrop:
			d.uvarint()
		case opAlter:
			c, err := d.definition()
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		default:
			d.fail("an operation of a record")
		}
	}
	return list, d.err
}

func appendSized(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// Replayer brings a store back to its last block: Load reads the catalog it
// begins with, Replay makes the changes of the records since, in their order.
type Replayer struct {
	History *history.History // as Cache.History
	Feed    *feed.Feed       // as Cache.Feed

	cache Cache
	cat   *catalog.Catalog
}

// Load begins with the catalog that v sees.
func (r *Replayer) Load(v *store.View) (err error) {
	r.cat, err = loadCatalog(v)
	return err
}

// Catalog returns the catalog as of the last record.
func (r *Replayer) Catalog() *catalog.Catalog { return r.cat }

// Replay makes the changes of one record, or of one part of it, in b.
func (r *Replayer) Replay(b *store.Block, record []byte) error {
	r.cache.History, r.cache.Feed = r.History, r.Feed
	t := r.cache.Begin(b)
	t.replays = true
	if err := r.run(t, record); err != nil {
		return err
	}
	if err := t.Seal(); err != nil {
		return err
	}
	t.Publish()
	return nil
}

// Apply makes the changes of a record of another store as a block of this one, whose
// definitions are cat. Nothing is checked, since that store has. It returns the
// definitions as they are then. The Tx is to be sealed and published as any.
func (c *Cache) Apply(b *store.Block, cat *catalog.Catalog, record []byte) (*Tx, *catalog.Catalog, error) {
	t := c.Begin(b)
	t.replays = true
	r := Replayer{cat: cat}
	err := r.run(t, record)
	return t, r.cat, err
}

// run makes the changes of a record in t.
func (r *Replayer) run(t *Tx, record []byte) error {
	d := decoder{rest: record}
	for len(d.rest) > 0 && d.err == nil {
		if err := r.replayOp(t, &d); err != nil {
			return err
		}
	}
	return d.err
}

func (r *Replayer) replayOp(t *Tx, d *decoder) error {
	switch op := d.byte(); op {
	case opPut:
		w, id, b := r.writer(t, d), d.uvarint(), d.sized()
		if d.err != nil {
			return d.err
		}
		return w.Put(id, b)
	case opDelete:
		w, id := r.writer(t, d), d.uvarint()
		if d.err != nil {
			return d.err
		}
		return w.Delete(id)
	case opCreate:
		return r.create(t, d)
	case opDrop:
		return r.drop(t, d)
	case opAlter:
		return r.alter(t, d)
	default:
		return fmt.Errorf("%w: operation %d in a record", ErrCorrupt, op)
	}
}

func (r *Replayer) create(t *Tx, d *decoder) error {
	c, err := d.definition()
	if err != nil {
		return err
	}
	cat, err := r.cat.Add(c)
	if err != nil {
		return err
	}
	r.cat = cat
	return t.Create(cat, c)
}

func (r *Replayer) alter(t *Tx, d *decoder) error {
	after, err := d.definition()
	if err != nil {
		return err
	}
	cat, before, err := r.cat.Replace(after)
	if err != nil {
		return err
	}
	r.cat = cat
	return t.Alter(context.Background(), cat, before, after)
}

func (r *Replayer) drop(t *Tx, d *decoder) error {
	c := r.collection(d)
	if d.err != nil {
		return d.err
	}
	cat, _, err := r.cat.Drop(c.Name)
	if err != nil {
		return err
	}
	r.cat = cat
	return t.Drop(c)
}

func (r *Replayer) writer(t *Tx, d *decoder) *Writer {
	c := r.collection(d)
	if c == nil {
		return nil
	}
	return t.Writer(c)
}

// collection decodes a collection's number; it returns nil with d.err set if
// there is none.
func (r *Replayer) collection(d *decoder) *catalog.Collection {
	number := d.uvarint()
	if d.err != nil {
		return nil
	}
	c := r.cat.Numbered(uint32(number))
	if c == nil || uint64(c.Number) != number {
		d.fail("collection number %d in a record", number)
		return nil
	}
	return c
}

// decoder reads a record; after an error all it returns is zero.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
	}
	d.rest = nil
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail("a record ends early")
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail("a damaged number in a record")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) sized() []byte { return d.take(d.uvarint()) }

// definition decodes a sized definition.
func (d *decoder) definition() (*catalog.Collection, error) {
	def := d.sized()
	if d.err != nil {
		return nil, d.err
	}
	return catalog.Decode(def)
}
