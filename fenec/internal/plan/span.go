package plan

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// span is a range of index entries or, without an index, one id.
type span struct {
	field        int // that the index is of, or idField
	index        *catalog.Index
	lower, upper []byte // of entries, [lower, upper); nil is unbounded
	key          []byte // of the one value that all entries have, which hence come by id; or nil
	id           uint64
}

// option is a set of rows that holds every one that a filter keeps.
type option struct {
	spans []span
	order int // the field by which the spans are ranges of one index, in order; else noField
}

const noField = -2

// ids reports whether o is ids and no entries.
func (o *option) ids() bool {
	for i := range o.spans {
		if o.spans[i].index != nil {
			return false
		}
	}
	return true
}

// single reports whether o is at most one row, as a value of a unique field
// is.
func (o *option) single() bool {
	if len(o.spans) != 1 {
		return len(o.spans) == 0
	}
	s := &o.spans[0]
	return s.index == nil || s.key != nil && s.index.Kind == catalog.Unique && !bytes.Equal(s.key, nullKey)
}

// nullKey is the key of null, and afterNull the least key of anything else.
var (
	nullKey   = key.Append(nil, value.Null)
	afterNull = key.Next(nullKey)
)

// rank orders options by what is known without reading entries.
func (o *option) rank() int {
	switch {
	case o.single():
		return 0
	case o.ids():
		return 1
	case o.streams():
		return 2
	}
	return 3
}

// sort brings spans of one index into the order of their entries. It joins
// those that overlap, and those of one value, between which entries of others
// cannot lie.
func (o *option) sort() {
	if len(o.spans) < 2 {
		return
	}
	slices.SortFunc(o.spans, func(a, b span) int { return bytes.Compare(a.lower, b.lower) })
	out := o.spans[:1]
	for _, s := range o.spans[1:] {
		last := &out[len(out)-1]
		same := s.key != nil && bytes.Equal(s.key, last.key)
		if !same && last.upper != nil && bytes.Compare(s.lower, last.upper) >= 0 {
			out = append(out, s)
			continue
		}
		if !same {
			last.key = nil
		}
		if last.upper != nil && (s.upper == nil || bytes.Compare(s.upper, last.upper) > 0) {
			last.upper = s.upper
		}
	}
	o.spans = out
}

// equalTo returns the entries of values equal to v, of rows whose ids are in
// bounds. It may hold others where keys are finer or coarser than equality.
func equalTo(field int, ix *catalog.Index, v value.Value, bounds ids) span {
	lower, upper, exact := class(v)
	s := span{field: field, index: ix, lower: lower, upper: upper}
	if !exact {
		return s
	}
	s.key = lower
	n := len(lower)
	if bounds.last < maxID {
		s.upper = binary.BigEndian.AppendUint64(bytes.Clone(lower), bounds.last+1)
	}
	if bounds.first > 0 {
		s.lower = binary.BigEndian.AppendUint64(lower[:n:n], bounds.first)
	}
	return s
}

// class returns the range of the entries whose values may equal v. exact says
// that these have one key, which no other value has.
func class(v value.Value) (lower, upper []byte, exact bool) {
	whole, cut := key.AppendCut(make([]byte, 0, 48), v)
	if !cut && (!v.IsNumber() && v.Kind() != value.KindList && v.Kind() != value.KindObject) {
		return whole, key.Next(whole), true
	}
	prefix := key.AppendPrefix(nil, v)
	return prefix, key.Next(prefix), !cut && len(prefix) == len(whole)
}

// bounds returns the range of the entries whose values x may make x op v true.
func bounds(op termOp, v value.Value) (lower, upper []byte) {
	if v.IsNull() {
		return afterNull, afterNull
	}
	first, past, exact := class(v)
	switch op {
	case opLess:
		if exact {
			return afterNull, first
		}
		return afterNull, past
	case opLessEqual:
		return afterNull, past
	case opGreater:
		if exact {
			return past, nil
		}
	}
	return first, nil
}
