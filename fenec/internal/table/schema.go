package table

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Create writes the definition of a new collection. cat is the catalog that
// has it.
func (t *Tx) Create(cat *catalog.Catalog, c *catalog.Collection) error {
	t.change.Grew = true
	def := c.Append(nil)
	t.op = appendSized(append(t.op[:0], opCreate), def)
	if err := t.log(history.Create, c, 0); err != nil {
		return err
	}
	return t.define(cat, c, def)
}

// define stores the definition of a collection, whose encoded form is def, and
// the next free number.
func (t *Tx) define(cat *catalog.Catalog, c *catalog.Collection, def []byte) error {
	if err := t.block.Put(Meta, nextKey, binary.BigEndian.AppendUint32(nil, cat.Next())); err != nil {
		return err
	}
	return t.block.Put(Meta, definitionKey(c.Number), row.Seal(def))
}

// Alter makes a collection what after says, which was what before says: it
// drops the indexes that are gone and builds the new ones from the rows, but for
// those that after has in the building. cat is the catalog that has after. A new
// unique index of which two rows hold a value is a fault.Duplicate.
func (t *Tx) Alter(ctx context.Context, cat *catalog.Catalog, before, after *catalog.Collection) error {
	def := after.Append(nil)
	t.op = appendSized(append(t.op[:0], opAlter), def)
	if err := t.log(history.Alter, after, 0); err != nil {
		return err
	}
	if err := t.define(cat, after, def); err != nil {
		return err
	}
	for _, x := range before.NewIndexes(after) {
		if err := t.dropIndex(x); err != nil {
			return err
		}
	}
	added := after.NewIndexes(before)
	t.change.Grew = t.change.Grew || len(added) > 0 || len(after.Fields) > len(before.Fields)
	for _, x := range added {
		if !after.Built(x) {
			continue
		}
		if err := t.build(ctx, after, x); err != nil {
			return err
		}
	}
	return t.countTexts(before, after)
}

// countTexts counts the figures of the full-text indexes that were in the building
// before and are built.
func (t *Tx) countTexts(before, after *catalog.Collection) error {
	for _, x := range after.Indexes() {
		if x.Kind != catalog.Text || !after.Built(x) || !before.Builds(x) {
			continue
		}
		f, err := t.textFigures(x.Space)
		if err != nil {
			return err
		}
		counted, err := t.Reader(after).recount(x)
		if err != nil {
			return err
		}
		*f = counted
	}
	return nil
}

// dropIndex takes an index out, with what is known of it.
func (t *Tx) dropIndex(x *catalog.Index) error {
	if x.Kind == catalog.Text {
		t.texts = slices.DeleteFunc(t.texts, func(f touchedText) bool { return f.space == x.Space })
		if err := t.block.Delete(Meta, textFiguresKey(x.Space)); err != nil {
			return err
		}
	}
	for _, space := range x.Spaces() {
		if err := t.block.DropSpace(space); err != nil {
			return err
		}
	}
	return nil
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
	if err := t.log(history.Drop, c, 0); err != nil {
		return err
	}
	t.notes.Dropped(c.Name)
	t.forget(c.Number)
	for _, key := range [][]byte{definitionKey(c.Number), figuresKey(c.Number)} {
		if err := t.block.Delete(Meta, key); err != nil {
			return err
		}
	}
	for _, x := range c.Indexes() {
		if err := t.dropIndex(x); err != nil {
			return err
		}
	}
	return t.block.DropSpace(c.RowSpace)
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
