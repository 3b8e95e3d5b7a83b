package table

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/history"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
)

// Writer writes the rows of one collection within a block. It reads what the
// block has written.
//
// Once Now is set, Get, Put and Holder take rows that are expired for gone, and
// Put deletes those in its way. The TxReader within sees them still.
type Writer struct {
	TxReader
	Now int64 // milliseconds since 1970; 0: no row expires
	buffers
	searcher searcher
}

// buffers are what a write needs for a moment.
type buffers struct {
	sealed        []byte // the row with its checksum
	before, after []byte // keys of an index entry
	lower, upper  []byte // bounds of the entries of one value
}

// Writer returns a writer of c, which is good until the next one is asked for.
func (t *Tx) Writer(c *catalog.Collection) *Writer {
	w := &t.writer
	*w = Writer{TxReader: TxReader{Reader: Reader{view: t.View(), col: c}, tx: t}, buffers: w.buffers, searcher: w.searcher}
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

// Get returns the row with that id, or nil.
func (w *Writer) Get(id uint64) ([]byte, error) { return w.unexpired(w.TxReader.Get(id)) }

// Named is Get of a row that an index names. If it is not there at all, that is
// damage.
func (w *Writer) Named(id uint64) ([]byte, error) { return w.unexpired(w.TxReader.Named(id)) }

// unexpired returns what it is given, but no row that counts as gone.
func (w *Writer) unexpired(b []byte, err error) ([]byte, error) {
	if b == nil || err != nil {
		return nil, err
	}
	gone, err := w.expired(b)
	if gone || err != nil {
		return nil, err
	}
	return b, nil
}

// expired reports whether the row b counts as gone.
func (w *Writer) expired(b []byte) (bool, error) {
	if w.Now == 0 {
		return false, nil
	}
	return Expired(w.col, b, w.Now)
}

// Put writes the encoded row b under id, in place of the one there. A unique
// value that another row holds is a fault.Duplicate.
func (w *Writer) Put(id uint64, b []byte) error {
	old, err := w.stored(id)
	if err != nil {
		return err
	}
	if old.row != nil {
		gone, err := w.expired(old.row)
		if err != nil {
			return err
		}
		if gone {
			if err := w.remove(id, old); err != nil {
				return err
			}
			old = stored{}
		}
	}
	return w.write(id, old, b)
}

// Replace is Put in place of a row that must be there, expired or not, and that
// is not deleted first.
func (w *Writer) Replace(id uint64, b []byte) error {
	old, err := w.stored(id)
	if err != nil {
		return err
	}
	if old.row == nil {
		return w.missing(id, "replace")
	}
	return w.write(id, old, b)
}

// Delete takes the row with that id out. It must be there, expired or not.
func (w *Writer) Delete(id uint64) error {
	old, err := w.stored(id)
	if err != nil {
		return err
	}
	if old.row == nil {
		return w.missing(id, "delete")
	}
	return w.remove(id, old)
}

func (w *Writer) missing(id uint64, what string) error {
	return fmt.Errorf("%w: collection %q has no id %d to %s", ErrCorrupt, w.col.Name, id, what)
}

// write puts b in the place of old, which may be no row.
func (w *Writer) write(id uint64, old stored, b []byte) error {
	removed, err := w.checkUnique(id, b)
	if err != nil {
		return err
	}
	if removed && old.row != nil {
		// A row is good until the next write only.
		if old, err = w.stored(id); err != nil {
			return err
		}
	}
	t := w.tx
	if t.Hook != nil {
		if err := t.Hook(w.col, id, old.row, b); err != nil {
			return err
		}
	}
	t.op = binary.AppendUvarint(append(t.op[:0], opPut), uint64(w.col.Number))
	t.op = binary.AppendUvarint(t.op, id)
	t.op = appendSized(t.op, b)
	if err := t.log(history.Put, w.col, id); err != nil {
		return err
	}
	w.sealed = row.Seal(append(w.sealed[:0], b...))
	if err := w.count(id, old, storedRow(b, w.sealed)); err != nil {
		return err
	}
	if err := w.index(id, old.row, b); err != nil {
		return err
	}
	return t.block.Put(w.col.RowSpace, w.idKey(id), w.sealed)
}

// remove takes the row out, which is old.
func (w *Writer) remove(id uint64, old stored) error {
	t := w.tx
	if t.Hook != nil {
		if err := t.Hook(w.col, id, old.row, nil); err != nil {
			return err
		}
	}
	t.op = binary.AppendUvarint(append(t.op[:0], opDelete), uint64(w.col.Number))
	t.op = binary.AppendUvarint(t.op, id)
	if err := t.log(history.Del, w.col, id); err != nil {
		return err
	}
	if err := w.count(id, old, stored{}); err != nil {
		return err
	}
	if err := w.index(id, old.row, nil); err != nil {
		return err
	}
	return t.block.Delete(w.col.RowSpace, w.idKey(id))
}

func (w *Writer) idKey(id uint64) []byte {
	binary.BigEndian.PutUint64(w.key[:], id)
	return w.key[:]
}

// count keeps the figures in step with a row that changes from old to now, of
// which either may be no row.
func (w *Writer) count(id uint64, old, now stored) error {
	f, err := w.tx.figures(w.col.Number)
	if err != nil {
		return err
	}
	rows, size := 0, len(now.row)-len(old.row)
	if old.row == nil {
		rows++
	}
	if now.row == nil {
		rows--
	}
	f.Rows += int64(rows)
	f.LiveBytes += int64(size)
	f.Highest = max(f.Highest, id)
	if !f.Unsummed {
		f.Sum += now.hash(id) - old.hash(id)
	}
	c := &w.tx.change
	c.LiveBytes += int64(size)
	c.Grew = c.Grew || rows > 0 || size > 0
	if !internal(w.col.Name) {
		c.Written++
		c.Rows += rows
	}
	return nil
}

// index keeps the index entries in step with a row that changes from old to b;
// nil is no row.
func (w *Writer) index(id uint64, old, b []byte) error {
	if len(w.col.Indexes()) == 0 {
		return nil
	}
	before, err := parse(old)
	if err != nil {
		return err
	}
	after, err := parse(b)
	if err != nil {
		return err
	}
	for _, x := range w.col.Indexes() {
		if x.Kind.Search() {
			if err := w.search(x, id, &before, &after); err != nil {
				return err
			}
			continue
		}
		if err := w.entries(x, id, old != nil, b != nil, &before, &after); err != nil {
			return err
		}
	}
	return nil
}

// parse is row.Parse of what may be no row.
func parse(b []byte) (row.Row, error) {
	if b == nil {
		return row.Row{}, nil
	}
	return row.Parse(b)
}

// entries brings x from the entry of before, if there was a row, to that of
// after, if there is one.
func (w *Writer) entries(x *catalog.Index, id uint64, was, is bool, before, after *row.Row) (err error) {
	w.before, w.after = w.before[:0], w.after[:0]
	if was {
		if w.before, err = appendEntry(w.before, w.col, x, id, before); err != nil {
			return err
		}
	}
	if is {
		if w.after, err = appendEntry(w.after, w.col, x, id, after); err != nil {
			return err
		}
	}
	if bytes.Equal(w.before, w.after) {
		return nil
	}
	if was {
		if err := w.tx.block.Delete(x.Space, w.before); err != nil {
			return err
		}
	}
	if is {
		return w.tx.block.Put(x.Space, w.after, nil)
	}
	return nil
}
