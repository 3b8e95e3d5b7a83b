package value

import (
	"cmp"
	"math"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/collation"
)

// groups ranks the kinds: values of different groups compare by rank.
var groups = [...]uint8{
	KindNull:      0,
	KindBool:      10,
	KindInt:       20,
	KindFloat:     20,
	KindTimestamp: 20,
	KindText:      30,
	KindBytes:     30,
	KindVector:    40,
	KindList:      50,
	KindSparse:    60,
	KindObject:    70,
}

// Compare returns -1, 0 or 1 as a comes before, with or after b:
//
//	null < bool < int, float, timestamp < text, bytes < vector < list < sparse < object
//
// Two ints and two timestamps compare exactly, every other pair of numbers as
// float64s, so that an int beyond 2^53 may equal a nearby float; a NaN equals
// every number. Text and bytes compare by bytes. Vectors and lists compare by
// element, sparse vectors by entry (index, then weight), objects by member (key,
// then value), and where one is the beginning of the other the shorter comes
// first. Sparse vectors of the same entries compare by dimension.
//
// Two pairs reach across groups: text beside a timestamp is read as one, and
// comes after it when it cannot be; a list that holds only numbers, at least
// one, is compared with a vector as the vector of its float32s.
//
// NaN, numbers beyond 2^53 of mixed kinds and the two pairs across groups are
// where the order is not transitive. A field holds values of one type, so that
// it is met only between a field and a constant, or under a path into json.
func Compare(a, b Value) int {
	if a.kind == b.kind {
		return compareAlike(a, b)
	}
	ga, gb := groups[a.kind], groups[b.kind]
	if ga == gb {
		if a.kind >= KindText {
			return strings.Compare(a.str(), b.str())
		}
		x, _ := a.Number()
		y, _ := b.Number()
		return compareFloats(x, y)
	}
	switch {
	case a.kind == KindTimestamp && b.kind == KindText:
		return compareTimestampText(a, b)
	case a.kind == KindText && b.kind == KindTimestamp:
		return -compareTimestampText(b, a)
	case a.kind == KindVector && b.kind == KindList && isNumberList(b):
		return compareVectorList(a.AsVector(), b.AsList())
	case a.kind == KindList && b.kind == KindVector && isNumberList(a):
		return -compareVectorList(b.AsVector(), a.AsList())
	}
	return cmp.Compare(ga, gb)
}

// CompareCollated is Compare with texts in the order of c, those within lists
// too.
func CompareCollated(a, b Value, c collation.Collation) int {
	switch {
	case c == collation.None:
		return Compare(a, b)
	case a.kind == KindText && b.kind == KindText:
		return c.Compare(a.str(), b.str())
	case a.kind == KindList && b.kind == KindList:
		return compareLists(a.AsList(), b.AsList(), c)
	}
	return Compare(a, b)
}

// compareAlike compares two values of the same kind.
func compareAlike(a, b Value) int {
	switch a.kind {
	case KindBool:
		return cmp.Compare(a.num, b.num)
	case KindInt, KindTimestamp:
		return cmp.Compare(int64(a.num), int64(b.num))
	case KindFloat:
		return compareFloats(math.Float64frombits(a.num), math.Float64frombits(b.num))
	case KindText, KindBytes:
		return strings.Compare(a.str(), b.str())
	case KindVector:
		return compareVectors(a.AsVector(), b.AsVector())
	case KindList:
		return compareLists(a.AsList(), b.AsList(), collation.None)
	case KindSparse:
		return compareSparse(a, b)
	case KindObject:
		return compareObjects(a.AsObject(), b.AsObject())
	}
	return 0
}

// compareFloats orders numbers so that a NaN equals all of them.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareTimestampText(ts, text Value) int {
	ms, ok := parseTimestamp(text.str())
	if !ok {
		return -1
	}
	return cmp.Compare(int64(ts.num), ms)
}

func compareVectors(a, b []float32) int {
	for i := range min(len(a), len(b)) {
		if c := compareFloats(float64(a[i]), float64(b[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// isNumberList reports whether v is a list of ints and floats only, and of one
// at least: what a list of numbers in a query looks like before its target is
// known.
func isNumberList(v Value) bool {
	elems := v.AsList()
	for _, e := range elems {
		if e.kind != KindInt && e.kind != KindFloat {
			return false
		}
	}
	return len(elems) > 0
}

func compareVectorList(a []float32, b []Value) int {
	for i := range min(len(a), len(b)) {
		f, _ := b[i].Number()
		if c := compareFloats(float64(a[i]), float64(float32(f))); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareLists(a, b []Value, by collation.Collation) int {
	for i := range min(len(a), len(b)) {
		if c := CompareCollated(a[i], b[i], by); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareObjects(a, b []Member) int {
	for i := range min(len(a), len(b)) {
		if c := strings.Compare(a[i].Key, b[i].Key); c != 0 {
			return c
		}
		if c := Compare(a[i].Value, b[i].Value); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// Equal reports whether Compare(a, b) is 0. Null equals null.
func Equal(a, b Value) bool {
	if a.kind == KindText && b.kind == KindText {
		return a.str() == b.str()
	}
	return Compare(a, b) == 0
}

// Truthy reports whether v counts as true in a condition: true, a number other
// than zero, and whatever is not empty. Null does not.
func (v Value) Truthy() bool {
	if v.kind == KindFloat {
		return math.Float64frombits(v.num) != 0
	}
	return v.kind != KindNull && v.num != 0
}

// Has reports whether v is a list that holds an element equal to x.
func (v Value) Has(x Value) bool {
	if v.kind != KindList {
		return false
	}
	for _, e := range v.AsList() {
		if Equal(e, x) {
			return true
		}
	}
	return false
}
