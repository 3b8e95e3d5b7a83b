package plan

import (
	"math"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// keyable returns a constant as the values of t are compared with it, if the
// order of t's keys is the order of that comparison.
func (t *target) keyable(v value.Value) (key value.Value, ok bool) {
	if t.collation != collation.None && !inCollation(v) {
		return value.Null, false
	}
	return keyable(v, t.typ)
}

// inCollation reports whether texts that have a collation, and lists of them,
// compare with v as their keys do. Beside bytes a text is bytes.
func inCollation(v value.Value) bool {
	return v.Kind() != value.KindBytes && (v.Kind() != value.KindList || !slices.ContainsFunc(v.AsList(), hasBytes))
}

func hasBytes(v value.Value) bool { return !inCollation(v) }

// keyable returns a constant, as it is compared with the values of a field of
// type t, so that the order of keys is the order of that comparison. ok is
// false where the order of keys is another: such a constant says nothing about
// where its rows are.
func keyable(v value.Value, t value.Type) (key value.Value, ok bool) {
	switch v.Kind() {
	case value.KindFloat:
		f := v.AsFloat()
		return v, f == f // a NaN equals every number
	case value.KindTimestamp:
		// A text beside a timestamp is read as one.
		return v, t.IsList() || t.Base() != value.BaseText && t.Base() != value.BaseJSON
	case value.KindText:
		if t.Is(value.BaseTimestamp) {
			return moment(v), true
		}
	case value.KindVector:
		// A list of numbers beside a vector is rounded as one.
		return v, !t.IsList() && t.Base() != value.BaseJSON && hasNoNaN(v.AsVector())
	case value.KindList:
		return keyableList(v, t)
	case value.KindObject:
		return keyableObject(v)
	}
	return v, true
}

// moment returns the timestamp that a text stands for, or the text.
func moment(v value.Value) value.Value {
	if t, err := value.ParseTimestamp(v.AsText()); err == nil {
		return t
	}
	return v
}

func hasNoNaN(x []float32) bool {
	for _, f := range x {
		if f != f {
			return false
		}
	}
	return true
}

// keyableList is keyable for a list. Beside a vector a list of numbers is the
// vector of these, rounded.
func keyableList(v value.Value, t value.Type) (value.Value, bool) {
	if t.Is(value.BaseVector) {
		if x, ok := asVector(v.AsList()); ok {
			return value.Vector(x), hasNoNaN(x)
		}
	}
	elem := t
	if t.IsList() {
		elem = t.Elem()
	}
	elems := make([]value.Value, v.Len())
	for i, e := range v.AsList() {
		var ok bool
		if elems[i], ok = keyable(e, elem); !ok {
			return value.Null, false
		}
	}
	return value.List(elems), true
}

// asVector returns a list of numbers, one at least, as a vector.
func asVector(elems []value.Value) ([]float32, bool) {
	x := make([]float32, len(elems))
	for i, e := range elems {
		f, ok := e.Number()
		if !ok || e.Kind() == value.KindTimestamp {
			return nil, false
		}
		x[i] = float32(f)
	}
	return x, len(x) > 0
}

// keyableObject is keyable for an object, which equals only what json holds.
func keyableObject(v value.Value) (value.Value, bool) {
	for _, m := range v.AsObject() {
		if _, ok := keyable(m.Value, value.TypeJSON); !ok {
			return value.Null, false
		}
	}
	return v, true
}

// maxID is the highest id.
const maxID = math.MaxInt64

// ids is a range of ids, both ends included. It is empty if first > last.
type ids struct{ first, last uint64 }

var (
	allIDs = ids{0, maxID}
	noIDs  = ids{1, 0}
)

func (r ids) empty() bool { return r.first > r.last }

// and returns what is in both.
func (r ids) and(o ids) ids { return ids{max(r.first, o.first), min(r.last, o.last)} }

// idsWhere returns a range that holds every id for which id op v is true.
func idsWhere(op termOp, v value.Value) ids {
	switch v.Kind() {
	case value.KindNull:
		return noIDs
	case value.KindInt:
		return around(op, v.AsInt(), v.AsInt())
	case value.KindFloat, value.KindTimestamp:
		f, _ := v.Number()
		return idsNear(op, f)
	case value.KindBool:
		return allOrNone(op == opGreater || op == opGreaterEqual)
	}
	return allOrNone(op == opLess || op == opLessEqual)
}

func allOrNone(all bool) ids {
	if all {
		return allIDs
	}
	return noIDs
}

// idsNear is idsWhere for a number that ids are compared with as float64s: from
// 2^53 on, up to 1024 of them on each side are equal to it.
func idsNear(op termOp, f float64) ids {
	const exact, blur = 1 << 53, 1 << 10
	switch {
	case f != f:
		return allIDs
	case f >= 1<<63:
		return around(op, maxID-blur, maxID)
	case f < 0:
		return around(op, -1, -1)
	case f+blur >= 1<<63:
		return around(op, int64(f)-blur, maxID)
	case f >= exact:
		return around(op, int64(f)-blur, int64(f)+blur)
	}
	return around(op, int64(math.Ceil(f)), int64(math.Floor(f)))
}

// around returns the ids for which id op x is true for an x that ids from low
// to high are equal to. Where low > high none is: x lies between the two.
func around(op termOp, low, high int64) ids {
	r := allIDs
	switch op {
	case opEqual:
		if high < 0 {
			return noIDs
		}
		return ids{uint64(max(low, 0)), uint64(high)}
	case opLess:
		// Those equal to x are left in where it is not known which they are.
		if low == high {
			high--
		}
		return upTo(high)
	case opLessEqual:
		return upTo(high)
	case opGreater:
		if low == high {
			if low == maxID {
				return noIDs
			}
			low++
		}
		r.first = uint64(max(low, 0))
	case opGreaterEqual:
		r.first = uint64(max(low, 0))
	}
	return r
}

func upTo(last int64) ids {
	if last < 0 {
		return noIDs
	}
	return ids{0, uint64(last)}
}
