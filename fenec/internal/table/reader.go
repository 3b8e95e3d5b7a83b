package table

import (
	"encoding/binary"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/store"
)

// Reader reads one collection through a view. Rows it returns are valid until
// a scan of the same view moves, the view is released, or, in a block, until
// the next write. It is for one goroutine.
type Reader struct {
	view *store.View
	col  *catalog.Collection
	key  [idBytes]byte
}

// NewReader returns a reader of c through v.
func NewReader(v *store.View, c *catalog.Collection) *Reader {
	return &Reader{view: v, col: c}
}

// Collection returns the definition of the collection that r reads.
func (r *Reader) Collection() *catalog.Collection { return r.col }

// Get returns the row with that id, or nil if there is none.
func (r *Reader) Get(id uint64) ([]byte, error) {
	binary.BigEndian.PutUint64(r.key[:], id)
	sealed, err := r.view.Get(r.col.RowSpace, r.key[:])
	if sealed == nil || err != nil {
		return nil, err
	}
	return openRow(r.col, id, sealed)
}

// Named is Get of a row that an index names. If it is not there, that is damage.
func (r *Reader) Named(id uint64) ([]byte, error) {
	b, err := r.Get(id)
	if b == nil && err == nil {
		err = fmt.Errorf("%w: collection %q has no id %d, where an index leads", ErrCorrupt, r.col.Name, id)
	}
	return b, err
}

func openRow(c *catalog.Collection, id uint64, sealed []byte) ([]byte, error) {
	b, err := row.Open(sealed)
	if err != nil {
		return nil, fmt.Errorf("collection %q, id %d: %w", c.Name, id, err)
	}
	return b, nil
}

// Figures returns the collection's figures.
func (r *Reader) Figures() (Figures, error) { return readFigures(r.view, r.col.Number) }

// Rows returns how many rows the collection has.
func (r *Reader) Rows() (int64, error) {
	f, err := r.Figures()
	return f.Rows, err
}

func readFigures(v *store.View, number uint32) (Figures, error) {
	b, err := v.Get(Meta, figuresKey(number))
	if b == nil || err != nil {
		return Figures{}, err
	}
	return decodeFigures(b)
}

// Scan walks rows in order of their ids.
type Scan struct {
	walk
	col        *catalog.Collection
	row        []byte
	first, end [idBytes]byte // the bounds' keys
}

// Scan returns a scan of the rows with ids from first to last, both included,
// from last to first if reverse.
func (r *Reader) Scan(first, last uint64, reverse bool) *Scan {
	s := &Scan{col: r.col}
	lower, upper := s.bounds(first, last)
	s.walk = r.walk(r.col.RowSpace, lower, upper, reverse)
	return s
}

// Reset makes s walk other rows, from the beginning. That costs the less the
// nearer they are to where it stood.
func (s *Scan) Reset(first, last uint64) {
	s.walk.reset(s.bounds(first, last))
}

// bounds returns the keys of a range, in place of those of the one before.
func (s *Scan) bounds(first, last uint64) (lower, upper []byte) {
	binary.BigEndian.PutUint64(s.first[:], first)
	if last == ^uint64(0) {
		return s.first[:], nil
	}
	binary.BigEndian.PutUint64(s.end[:], last+1)
	return s.first[:], s.end[:]
}

// Next moves to the next row and reports whether there is one.
func (s *Scan) Next() bool {
	if !s.next() {
		return false
	}
	k := s.it.Key()
	if len(k) != idBytes {
		s.err = fmt.Errorf("%w: collection %q: an id of %d bytes", ErrCorrupt, s.col.Name, len(k))
		return false
	}
	s.id = binary.BigEndian.Uint64(k)
	s.row, s.err = openRow(s.col, s.id, s.it.Value())
	return s.err == nil
}

// Row returns the row the scan stands at.
func (s *Scan) Row() []byte { return s.row }

// IndexScan walks the entries of an index in order of value, then id.
type IndexScan struct {
	walk
	col *catalog.Collection
}

// Index returns a scan of the entries of ix whose keys, a value's key followed
// by the id in 8 bytes big endian, lie in [lower, upper); nil is unbounded.
// From the end to the beginning if reverse.
func (r *Reader) Index(ix *catalog.Index, lower, upper []byte, reverse bool) *IndexScan {
	return &IndexScan{walk: r.walk(ix.Space, lower, upper, reverse), col: r.col}
}

// Reset makes s walk other entries of the same index, from the beginning. That
// costs the less the nearer they are to where it stood.
func (s *IndexScan) Reset(lower, upper []byte) {
	s.walk.reset(lower, upper)
}

// CountIndex returns how many entries of ix have keys in [lower, upper), as
// Index would walk them, for the price of a look at each page.
func (r *Reader) CountIndex(ix *catalog.Index, lower, upper []byte) (int64, error) {
	return r.view.Count(ix.Space, lower, upper)
}

// Next moves to the next entry and reports whether there is one.
func (s *IndexScan) Next() bool {
	if !s.next() {
		return false
	}
	k := s.it.Key()
	if len(k) < idBytes {
		s.err = fmt.Errorf("%w: collection %q: an index entry of %d bytes", ErrCorrupt, s.col.Name, len(k))
		return false
	}
	s.id = binary.BigEndian.Uint64(k[len(k)-idBytes:])
	return true
}

// ValueKey returns the key of the value the scan stands at.
func (s *IndexScan) ValueKey() []byte {
	k := s.it.Key()
	return k[:len(k)-idBytes]
}

// walk is what scans share.
type walk struct {
	it      *store.Iter
	reverse bool
	begun   bool
	id      uint64
	err     error
}

func (r *Reader) walk(space uint32, lower, upper []byte, reverse bool) walk {
	return walk{it: r.view.Iter(space, lower, upper), reverse: reverse}
}

func (w *walk) reset(lower, upper []byte) {
	w.it.Reset(lower, upper)
	w.begun, w.err = false, nil
}

func (w *walk) next() bool {
	switch {
	case w.err != nil:
		return false
	case !w.begun && w.reverse:
		w.it.Last()
	case !w.begun:
		w.it.First()
	case w.reverse:
		w.it.Prev()
	default:
		w.it.Next()
	}
	w.begun = true
	w.err = w.it.Err()
	return w.err == nil && w.it.Valid()
}

// Close ends the scan, which spares the next one of the same view some memory.
// Neither it nor what it returned is used afterwards.
func (w *walk) Close() { w.it.Close() }

// ID returns the id of the row the scan stands at.
func (w *walk) ID() uint64 { return w.id }

// Err returns what ended the scan early, or nil.
func (w *walk) Err() error { return w.err }
