package plan

import (
	"bytes"
	"math"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// span is a range of index entries or, without an index, of ids.
type span struct {
	index        *catalog.Index // nil for ids
	lower, upper []byte         // of entries, [lower, upper); nil is unbounded
	key          []byte         // of the one value that all entries have, which hence come by id; or nil
	ids          ids
}

// isID reports whether s is one id.
func (s *span) isID() bool { return s.index == nil && s.ids.first == s.ids.last }

// option is a set of rows that holds every one that a filter keeps.
type option struct {
	spans []span
	index *catalog.Index // that all spans are ranges of, in order; else nil

	// Of many values, spans are made only when it comes to them, by make, which
	// is nil then. size is how many there may be.
	make func() (spans []span, ok bool)
	size int
}

// ready makes the spans of o if that is left to be done. If it cannot be done, o
// is of no use.
func (o *option) ready() bool {
	if o.make == nil {
		return true
	}
	spans, ok := o.make()
	if !ok {
		o.size = math.MaxInt // so that it is not tried again
		return false
	}
	o.spans, o.make = spans, nil
	return true
}

// length returns how many spans o has, or may have.
func (o *option) length() int {
	if o.make != nil {
		return o.size
	}
	return len(o.spans)
}

// ids reports whether o is single ids and no entries.
func (o *option) ids() bool {
	for i := range o.spans {
		if !o.spans[i].isID() {
			return false
		}
	}
	return o.index == nil
}

// single reports whether o is at most one row, as a value of a unique field
// is.
func (o *option) single() bool {
	if o.length() != 1 {
		return o.length() == 0
	}
	s := &o.spans[0]
	return s.isID() || s.key != nil && s.index.Kind == catalog.Unique && !bytes.Equal(s.key, nullKey)
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

// inOrderOf returns spans of one index in the order of their entries. It joins
// those that overlap, and those of one value, between which entries of others
// cannot lie.
func inOrderOf(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b span) int { return bytes.Compare(a.lower, b.lower) })
	out := spans[:1]
	for _, s := range spans[1:] {
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
	return out
}

// equalTo returns the entries of values equal to v, of rows whose ids are in
// bounds. It may hold others where keys are finer or coarser than equality, which
// exact denies.
func (t *target) equalTo(k *keyRoom, v value.Value, bounds ids) (s span, exact bool) {
	lower, upper, exact := t.class(k, v)
	s = span{index: t.index, lower: lower, upper: upper}
	if !exact {
		return s, false
	}
	s.key = lower
	if bounds.last < maxID {
		s.upper = k.withID(s.key, bounds.last+1)
	}
	if bounds.first > 0 {
		s.lower = k.withID(s.key, bounds.first)
	}
	return s, true
}

// class returns the range of the entries whose values may equal v. exact says
// that these have one key, which no other value has.
func (t *target) class(k *keyRoom, v value.Value) (lower, upper []byte, exact bool) {
	whole, cut := k.value(v, t.collation)
	if t.collation != collation.None {
		return whole, k.next(whole), !cut // texts are never equal in part
	}
	if !cut && oneKey(v) {
		return whole, k.next(whole), true
	}
	prefix := k.prefix(v)
	return prefix, k.next(prefix), !cut && len(prefix) == len(whole)
}

// oneKey reports whether it is known, without a look at the prefix of their keys,
// that all values equal to v have its key.
func oneKey(v value.Value) bool {
	if f, ok := v.Number(); ok {
		return -exactFloat < f && f < exactFloat
	}
	return v.Kind() != value.KindList && v.Kind() != value.KindObject
}

// exactFloat is where floats stop telling whole numbers apart.
const exactFloat = 1 << 53

// bounds returns the range of the entries whose values x may make x op v true.
// exact says that all of them do.
func (t *target) bounds(k *keyRoom, op termOp, v value.Value) (lower, upper []byte, exact bool) {
	if v.IsNull() {
		return afterNull, afterNull, true
	}
	first, past, exact := t.class(k, v)
	switch op {
	case opLess:
		if exact {
			return afterNull, first, true
		}
		return afterNull, past, false
	case opLessEqual:
		return afterNull, past, exact
	case opGreater:
		if exact {
			return past, nil, true
		}
	}
	return first, nil, exact
}
