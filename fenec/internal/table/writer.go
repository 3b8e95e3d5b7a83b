package table

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Writer writes the rows of one collection within a block. It reads what the
// block has written.
type Writer struct {
	Reader
	tx *Tx
	buffers
}

// buffers are what a write needs for a moment.
type buffers struct {
	sealed        []byte // the row with its checksum
	before, after []byte // keys of an index entry
}

// Writer returns a writer of c, which is good until the next one is asked for.
func (t *Tx) Writer(c *catalog.Collection) *Writer {
	w := &t.writer
	*w = Writer{Reader: Reader{view: t.View(), col: c}, tx: t, buffers: w.buffers}
	return w
}

// NextID returns the id a document gets that brings none.
func (w *Writer) NextID() (uint64, error) {
	f, err := w.tx.figures(w.col.Number)
	if err != nil {
		return 0, err
	}
	return f.Highest + 1, nil
}

// Get returns the row with that id, or nil. An id above every one ever used is
// known to be free without a look.
func (w *Writer) Get(id uint64) ([]byte, error) {
	f, err := w.tx.figures(w.col.Number)
	if err != nil {
		return nil, err
	}
	if id > f.Highest {
		return nil, nil
	}
	return w.Reader.Get(id)
}

// Rows returns how many rows the collection has, with what the block has
// written.
func (w *Writer) Rows() (int64, error) {
	f, err := w.tx.figures(w.col.Number)
	if err != nil {
		return 0, err
	}
	return f.Rows, nil
}

// Put writes the encoded row b under id, in place of the one there. A unique
// value that another row holds is a fault.Duplicate.
func (w *Writer) Put(id uint64, b []byte) error {
	old, err := w.Get(id)
	if err != nil {
		return err
	}
	if err := w.checkUnique(id, old, b); err != nil {
		return err
	}
	t := w.tx
	t.op = binary.AppendUvarint(append(t.op[:0], opPut), uint64(w.col.Number))
	t.op = binary.AppendUvarint(t.op, id)
	t.op = appendSized(t.op, b)
	if err := t.log(); err != nil {
		return err
	}
	if err := w.count(id, old, b); err != nil {
		return err
	}
	if err := w.index(id, old, b); err != nil {
		return err
	}
	w.sealed = row.Seal(append(w.sealed[:0], b...))
	return t.block.Put(w.col.RowSpace, w.idKey(id), w.sealed)
}

// Delete takes the row with that id out. It must be there.
func (w *Writer) Delete(id uint64) error {
	old, err := w.Get(id)
	if err != nil {
		return err
	}
	if old == nil {
		return fmt.Errorf("%w: collection %q has no id %d to delete", ErrCorrupt, w.col.Name, id)
	}
	t := w.tx
	t.op = binary.AppendUvarint(append(t.op[:0], opDelete), uint64(w.col.Number))
	t.op = binary.AppendUvarint(t.op, id)
	if err := t.log(); err != nil {
		return err
	}
	if err := w.count(id, old, nil); err != nil {
		return err
	}
	if err := w.index(id, old, nil); err != nil {
		return err
	}
	return t.block.Delete(w.col.RowSpace, w.idKey(id))
}

func (w *Writer) idKey(id uint64) []byte {
	binary.BigEndian.PutUint64(w.key[:], id)
	return w.key[:]
}

// count keeps the figures in step with a row that changes from old to b; nil
// is no row.
func (w *Writer) count(id uint64, old, b []byte) error {
	f, err := w.tx.figures(w.col.Number)
	if err != nil {
		return err
	}
	rows, size := 0, len(b)-len(old)
	if old == nil {
		rows++
	}
	if b == nil {
		rows--
	}
	f.Rows += int64(rows)
	f.LiveBytes += int64(size)
	f.Highest = max(f.Highest, id)
	c := &w.tx.change
	c.LiveBytes += int64(size)
	c.Grew = c.Grew || rows > 0 || size > 0
	if !internal(w.col.Name) {
		c.Written++
		c.Rows += rows
	}
	return nil
}

// index keeps the index entries in step with a row that changes from old to b.
func (w *Writer) index(id uint64, old, b []byte) error {
	for i := range w.col.Fields {
		f := &w.col.Fields[i]
		if f.Index == nil {
			continue
		}
		if err := w.indexField(i, f, id, old, b); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) indexField(i int, f *catalog.Field, id uint64, old, b []byte) (err error) {
	if w.before, err = entry(w.before[:0], f, i, id, old); err != nil {
		return err
	}
	if w.after, err = entry(w.after[:0], f, i, id, b); err != nil {
		return err
	}
	if bytes.Equal(w.before, w.after) {
		return nil
	}
	if old != nil {
		if err := w.tx.block.Delete(f.Index.Space, w.before); err != nil {
			return err
		}
	}
	if b != nil {
		return w.tx.block.Put(f.Index.Space, w.after, nil)
	}
	return nil
}

// entry appends the index entry of field number i of the row b, or nothing if
// there is no row.
func entry(dst []byte, f *catalog.Field, i int, id uint64, b []byte) ([]byte, error) {
	if b == nil {
		return dst, nil
	}
	v, err := row.View(b, i, f.Type)
	if err != nil {
		return nil, err
	}
	return appendID(key.Append(dst, v), id), nil
}

// checkUnique reports whether another row holds a unique value of b. A row may
// keep its own.
func (w *Writer) checkUnique(id uint64, old, b []byte) error {
	if w.tx.replays {
		return nil
	}
	for i := range w.col.Fields {
		f := &w.col.Fields[i]
		if f.Index == nil || f.Index.Kind != catalog.Unique {
			continue
		}
		v, err := row.View(b, i, f.Type)
		if err != nil {
			return err
		}
		holder, err := w.Holder(i, v, id)
		if err != nil {
			return err
		}
		if holder != 0 {
			return fault.New(fault.Duplicate, "%s.%s: %s is held by id %d", w.col.Name, f.Name, brief(v), holder)
		}
	}
	return nil
}

// Holder returns the id of the row, other than except, that holds v in unique
// field number i, or 0 if there is none. Null is held by nobody.
func (w *Writer) Holder(i int, v value.Value, except uint64) (uint64, error) {
	if v.IsNull() {
		return 0, nil
	}
	f := &w.col.Fields[i]
	prefix := key.Append(nil, v)
	cut := key.Cut(prefix)
	scan := w.Index(f.Index, prefix, key.Next(prefix), false)
	for scan.Next() {
		id := scan.ID()
		if id == except || len(scan.ValueKey()) != len(prefix) {
			continue
		}
		if !cut {
			return id, nil
		}
		same, err := w.holds(id, i, v)
		if same || err != nil {
			return id, err
		}
	}
	return 0, scan.Err()
}

// holds reports whether field number i of the row is v: of long values the
// index knows only how they begin.
func (w *Writer) holds(id uint64, i int, v value.Value) (bool, error) {
	b, err := w.Reader.Get(id)
	if b == nil || err != nil {
		return false, err
	}
	x, err := row.View(b, i, w.col.Fields[i].Type)
	return err == nil && value.Equal(x, v), err
}

// brief returns v as it is named in messages.
func brief(v value.Value) string {
	const most = 80
	s := []rune(v.String())
	if len(s) > most {
		return string(s[:most]) + "…"
	}
	return string(s)
}
