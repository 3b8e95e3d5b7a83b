package fenec_test

import (
	"cmp"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// The values of the oracle are nil, bool, int64, float64, string, []any,
// map[string]any for an object, and these. Everything about them is decided in
// the model a second time, naively.
type (
	moment int64     // a timestamp: milliseconds since 1970
	blob   string    // bytes
	vector []float32 // a vector
	sparse struct {  // a sparse vector
		dim     int
		entries []sparseEntry // by index, none of weight 0
	}
	sparseEntry struct {
		index  int
		weight float32
	}
)

// rank is the place of a value's group in the order of all values.
func rank(v any) int {
	switch v.(type) {
	case nil:
		return 0
	case bool:
		return 1
	case int64, float64, moment:
		return 2
	case string, blob:
		return 3
	case vector:
		return 4
	case []any:
		return 5
	case sparse:
		return 6
	}
	return 7
}

func compare(a, b any) int { return compareBy(a, b, "") }

// compareBy compares texts, those within lists too, in the order of a
// collation.
func compareBy(a, b any, collate string) int {
	if m, ok := a.(moment); ok {
		if s, ok := b.(string); ok {
			return compareMoment(m, s)
		}
	}
	if _, ok := a.(string); ok {
		if _, ok := b.(moment); ok {
			return -compareBy(b, a, collate)
		}
	}
	if v, ok := a.(vector); ok && numbersOnly(b) {
		return compareLists(vectorItems(v), rounded(b.([]any)), "")
	}
	if _, ok := b.(vector); ok && numbersOnly(a) {
		return -compareBy(b, a, collate)
	}
	if rank(a) != rank(b) {
		return cmp.Compare(rank(a), rank(b))
	}
	switch x := a.(type) {
	case nil:
		return 0
	case string, blob:
		s, aText := a.(string)
		u, bText := b.(string)
		if aText && bText {
			return compareTexts(s, u, collate)
		}
		return strings.Compare(octets(a), octets(b))
	case vector:
		return compareLists(vectorItems(x), vectorItems(b.(vector)), "")
	case []any:
		return compareLists(x, b.([]any), collate)
	case sparse:
		return compareSparse(x, b.(sparse))
	case map[string]any:
		return compareObjects(x, b.(map[string]any))
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
	case moment:
		if y, ok := b.(moment); ok {
			return cmp.Compare(x, y)
		}
	}
	x, y := number(a), number(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// octets returns what a text or bytes consist of.
func octets(v any) string {
	if b, ok := v.(blob); ok {
		return string(b)
	}
	return v.(string)
}

func compareMoment(m moment, s string) int {
	if other, ok := parseMoment(s); ok {
		return cmp.Compare(m, other)
	}
	return -1
}

func compareLists(a, b []any, collate string) int {
	for i := range min(len(a), len(b)) {
		if sign := compareBy(a[i], b[i], collate); sign != 0 {
			return sign
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareSparse(a, b sparse) int {
	for i := range min(len(a.entries), len(b.entries)) {
		x, y := a.entries[i], b.entries[i]
		if sign := cmp.Or(cmp.Compare(x.index, y.index), cmp.Compare(x.weight, y.weight)); sign != 0 {
			return sign
		}
	}
	return cmp.Or(cmp.Compare(len(a.entries), len(b.entries)), cmp.Compare(a.dim, b.dim))
}

func compareObjects(a, b map[string]any) int {
	x, y := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))
	for i := range min(len(x), len(y)) {
		if sign := cmp.Or(strings.Compare(x[i], y[i]), compare(a[x[i]], b[y[i]])); x[i] != y[i] || sign != 0 {
			return sign
		}
	}
	return cmp.Compare(len(x), len(y))
}

func vectorItems(v vector) []any {
	items := make([]any, len(v))
	for i, f := range v {
		items[i] = float64(f)
	}
	return items
}

// numbersOnly reports whether v is a list of numbers, and of one at least.
func numbersOnly(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(e any) bool { return !plainNumber(e) })
}

// rounded returns numbers as float32s hold them.
func rounded(list []any) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = float64(float32(number(e)))
	}
	return out
}

func number(v any) float64 {
	switch x := v.(type) {
	case bool:
		if x {
			return 1
		}
		return 0
	case int64:
		return float64(x)
	case moment:
		return float64(x)
	}
	return v.(float64)
}

// plainNumber reports whether v is an int or a float.
func plainNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

func equals(a, b any) bool { return compare(a, b) == 0 }

func truthy(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case string, blob:
		return octets(x) != ""
	case []any:
		return len(x) > 0
	case vector:
		return len(x) > 0
	case sparse:
		return len(x.entries) > 0
	case map[string]any:
		return len(x) > 0
	}
	return number(v) != 0
}

// arithmetic computes a op b, for op one of + - * /.
func arithmetic(op byte, a, b any) (any, error) {
	x, xInt := a.(int64)
	y, yInt := b.(int64)
	s, sText := a.(string)
	u, uText := b.(string)
	m, mTime := a.(moment)
	o, oTime := b.(moment)
	switch {
	case a == nil || b == nil:
		return nil, nil
	case xInt && yInt:
		return intArithmetic(op, x, y)
	case sText && uText && op == '+':
		return s + u, nil
	case mTime && yInt && (op == '+' || op == '-'):
		v, err := intArithmetic(op, int64(m), y)
		return asMoment(v), err
	case xInt && oTime && op == '+':
		v, err := intArithmetic(op, x, int64(o))
		return asMoment(v), err
	case mTime && oTime && op == '-':
		return intArithmetic(op, int64(m), int64(o))
	case !plainNumber(a) || !plainNumber(b):
		return nil, fenec.ErrType
	}
	return floatArithmetic(op, number(a), number(b))
}

func asMoment(v any) any {
	if n, ok := v.(int64); ok {
		return moment(n)
	}
	return v
}

func intArithmetic(op byte, x, y int64) (any, error) {
	a, b, out := big.NewInt(x), big.NewInt(y), new(big.Int)
	switch op {
	case '+':
		out.Add(a, b)
	case '-':
		out.Sub(a, b)
	case '*':
		out.Mul(a, b)
	case '/':
		if y == 0 {
			return nil, fenec.ErrQuery
		}
		out.Quo(a, b)
	}
	if !out.IsInt64() {
		return nil, fenec.ErrQuery
	}
	return out.Int64(), nil
}

func floatArithmetic(op byte, x, y float64) (any, error) {
	var f float64
	switch op {
	case '+':
		f = x + y
	case '-':
		f = x - y
	case '*':
		f = x * y
	case '/':
		f = x / y
	}
	if y == 0 && op == '/' || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fenec.ErrQuery
	}
	return f, nil
}
