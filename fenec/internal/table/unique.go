package table

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// checkUnique reports whether another row holds a unique value of b. A row may
// keep its own. Holders that are expired are deleted, and removed is true if any
// was.
func (w *Writer) checkUnique(id uint64, b []byte) (removed bool, err error) {
	if w.tx.replays {
		return false, nil
	}
	for _, x := range w.col.Indexes() {
		if x.Kind != catalog.Unique {
			continue
		}
		r, err := row.Parse(b)
		if err != nil {
			return removed, err
		}
		v, err := indexed(w.col, x, &r)
		if err != nil {
			return removed, err
		}
		gone, err := w.claim(x, v, id)
		if err != nil {
			return removed, err
		}
		removed = removed || gone
	}
	return removed, nil
}

// claim makes sure that no row but id holds v in the unique index x. It deletes
// an expired holder and reports that it has.
func (w *Writer) claim(x *catalog.Index, v value.Value, id uint64) (removed bool, err error) {
	holder, err := w.holder(x, v, id)
	if holder == 0 || err != nil {
		return false, err
	}
	gone, err := w.gone(holder)
	if err != nil {
		return false, err
	}
	if !gone {
		return false, duplicate(w.col, x, v, "is held by id %d", holder)
	}
	old, err := w.stored(holder)
	if err != nil {
		return false, err
	}
	return true, w.remove(holder, old)
}

// gone reports whether a row that an index leads to is expired.
func (w *Writer) gone(id uint64) (bool, error) {
	if w.Now == 0 || w.col.TTL() == nil {
		return false, nil
	}
	b, err := w.TxReader.Get(id)
	if b == nil || err != nil {
		return false, err
	}
	return w.expired(b)
}

// Holder returns the id of the row, other than except, that holds v in the
// unique index x, or 0 if there is none. Null is held by nobody.
func (w *Writer) Holder(x *catalog.Index, v value.Value, except uint64) (uint64, error) {
	id, err := w.holder(x, v, except)
	if id == 0 || err != nil {
		return 0, err
	}
	gone, err := w.gone(id)
	if gone || err != nil {
		return 0, err
	}
	return id, nil
}

// holder is Holder for which no row expires.
func (w *Writer) holder(x *catalog.Index, v value.Value, except uint64) (uint64, error) {
	if v.IsNull() {
		return 0, nil
	}
	w.lower = IndexKey(w.lower[:0], x, &w.col.Fields[x.Field], v)
	w.upper = append(append(w.upper[:0], w.lower...), pastIDs...)
	prefix := w.lower
	cut := key.Cut(prefix)
	scan := w.Index(x, prefix, w.upper, false)
	defer scan.Close()
	for scan.Next() {
		id := scan.ID()
		if id == except || len(scan.ValueKey()) != len(prefix) {
			continue
		}
		if !cut {
			return id, nil
		}
		same, err := w.holds(x, id, v)
		if same || err != nil {
			return id, err
		}
	}
	return 0, scan.Err()
}

// pastIDs stands, behind the key of a value, after every id.
var pastIDs = slices.Repeat([]byte{0xff}, idBytes+1)

// holds reports whether x has v for the row with that id: of long values the
// entries tell only how they begin.
func (r *Reader) holds(x *catalog.Index, id uint64, v value.Value) (bool, error) {
	b, err := r.Get(id)
	if b == nil || err != nil {
		return false, err
	}
	held, err := row.Parse(b)
	if err != nil {
		return false, err
	}
	other, err := indexed(r.col, x, &held)
	return err == nil && value.Equal(other, v), err
}

// duplicate returns the error for a value that a unique index would hold twice.
func duplicate(c *catalog.Collection, x *catalog.Index, v value.Value, format string, args ...any) error {
	args = append([]any{c.Name, c.PathName(x), brief(v)}, args...)
	return fault.New(fault.Duplicate, "%s.%s: %s "+format, args...)
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
