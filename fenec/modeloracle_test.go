package fenec_test

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
)

// world is what a database holds, as plain Go maps. It is the oracle of the
// model test: values are nil, bool, int64, float64, string, moment and []any,
// and everything about them is decided here, a second time and naively.
type world struct {
	cols map[string]*table
	seq  uint64
	now  moment

	// What the statements since the last reset of these have done, without the
	// collections whose names begin with _.
	written, rows int
}

// table is one collection.
type table struct {
	fields  []modelField
	docs    map[int64]doc
	highest int64 // id ever used
}

// doc is a document; it is replaced, never changed.
type doc map[string]any

// modelField is a declared field.
type modelField struct {
	name, typ, index string
	required         bool
}

// moment is a timestamp in milliseconds since 1970.
type moment int64

func newWorld() *world { return &world{cols: map[string]*table{}} }

func (w *world) clone() *world {
	c := *w
	c.cols = make(map[string]*table, len(w.cols))
	for name, t := range w.cols {
		c.cols[name] = &table{t.fields, maps.Clone(t.docs), t.highest}
	}
	return &c
}

func (w *world) table(name string) (*table, error) {
	if t := w.cols[name]; t != nil {
		return t, nil
	}
	return nil, fenec.ErrNotFound
}

// changed counts one document written or deleted.
func (w *world) changed(name string, rows int) {
	w.seq++
	if !strings.HasPrefix(name, "_") {
		w.written++
		w.rows += rows
	}
}

func (w *world) create(name string, fields []modelField) {
	w.cols[name] = &table{fields: fields, docs: map[int64]doc{}}
	w.seq++
}

func (w *world) drop(name string) {
	if !strings.HasPrefix(name, "_") {
		w.rows -= len(w.cols[name].docs)
	}
	delete(w.cols, name)
	w.seq++
}

// put writes one document. id is nil when it brings none.
func (w *world) put(name string, insert bool, id any, given doc) error {
	t := w.cols[name]
	d := doc{}
	for _, f := range t.fields {
		v, named := given[f.name]
		if f.required && !named {
			return fenec.ErrType
		}
		var err error
		if d[f.name], err = coerce(f.typ, v); err != nil {
			return err
		}
	}
	key := t.highest + 1
	if id != nil {
		n, ok := id.(int64)
		if !ok || n < 1 {
			return fenec.ErrType
		}
		key = n
	}
	if insert && t.docs[key] != nil {
		return fenec.ErrDuplicate
	}
	return w.store(name, key, d)
}

// store puts d in the place of id.
func (w *world) store(name string, id int64, d doc) error {
	t := w.cols[name]
	for _, f := range t.fields {
		if f.index != "@unique" || d[f.name] == nil {
			continue
		}
		for other, o := range t.docs {
			if other != id && equals(o[f.name], d[f.name]) {
				return fenec.ErrDuplicate
			}
		}
	}
	rows := 1
	if t.docs[id] != nil {
		rows = 0
	}
	t.docs[id] = d
	t.highest = max(t.highest, id)
	w.changed(name, rows)
	return nil
}

func (w *world) del(name string, id int64) {
	delete(w.cols[name].docs, id)
	w.changed(name, -1)
}

// clauses pick rows.
type clauses struct {
	where         *expression // or nil
	order         []orderKey
	limit, offset int // limit is -1 without one
}

type orderKey struct {
	field string
	desc  bool
}

// pick returns the ids that the clauses pick, in order.
func (w *world) pick(t *table, q clauses) []int64 {
	ids := slices.Sorted(maps.Keys(t.docs))
	ids = slices.DeleteFunc(ids, func(id int64) bool {
		if q.where == nil {
			return false
		}
		v, err := q.where.eval(scope{w, id, t.docs[id]})
		if err != nil {
			panic("a condition of the model fails: " + q.where.text)
		}
		return !truthy(v)
	})
	slices.SortStableFunc(ids, func(a, b int64) int {
		for _, k := range q.order {
			sign := compare(scope{w, a, t.docs[a]}.field(k.field), scope{w, b, t.docs[b]}.field(k.field))
			if sign != 0 && k.desc {
				return -sign
			}
			if sign != 0 {
				return sign
			}
		}
		return 0
	})
	ids = ids[min(q.offset, len(ids)):]
	if q.limit >= 0 {
		ids = ids[:min(q.limit, len(ids))]
	}
	return ids
}

// scope is what an expression is evaluated in.
type scope struct {
	w  *world
	id int64
	d  doc
}

func (s scope) field(name string) any {
	if name == "id" {
		return s.id
	}
	return s.d[name]
}

// coerce returns v as a field of that type holds it.
func coerce(typ string, v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case bool:
		if typ == "bool" {
			return x, nil
		}
	case int64:
		switch typ {
		case "int":
			return x, nil
		case "float":
			return float64(x), nil
		case "timestamp":
			return moment(x), nil
		}
	case float64:
		switch {
		case typ == "float":
			return x, nil
		case typ == "int" && x == math.Trunc(x) && math.Abs(x) < 1<<62:
			return int64(x), nil
		}
	case moment:
		switch typ {
		case "timestamp":
			return x, nil
		case "int":
			return int64(x), nil
		case "text":
			return x.String(), nil
		}
	case string:
		switch typ {
		case "text":
			return x, nil
		case "timestamp":
			if m, ok := parseMoment(x); ok {
				return m, nil
			}
		}
	case []any:
		return coerceList(typ, x)
	}
	return nil, fenec.ErrType
}

func coerceList(typ string, list []any) (any, error) {
	elem, ok := strings.CutPrefix(typ, "[")
	if !ok {
		return nil, fenec.ErrType
	}
	out := make([]any, len(list))
	for i := range list {
		var err error
		if out[i], err = coerce(strings.TrimSuffix(elem, "]"), list[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (m moment) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

func (m moment) String() string {
	if m%1000 == 0 {
		return m.Time().Format("2006-01-02T15:04:05Z")
	}
	return m.Time().Format("2006-01-02T15:04:05.000Z")
}

func parseMoment(s string) (moment, bool) {
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.000Z"} {
		if t, err := time.Parse(layout, s); err == nil {
			return moment(t.UnixMilli()), true
		}
	}
	return 0, false
}

// rank is the place of a value's group in the order of all values.
func rank(v any) int {
	switch v.(type) {
	case nil:
		return 0
	case bool:
		return 1
	case int64, float64, moment:
		return 2
	case string:
		return 3
	}
	return 4
}

func compare(a, b any) int {
	if m, ok := a.(moment); ok && rank(b) == 3 {
		return compareMoment(m, b.(string))
	}
	if m, ok := b.(moment); ok && rank(a) == 3 {
		return -compareMoment(m, a.(string))
	}
	if rank(a) != rank(b) {
		return cmp.Compare(rank(a), rank(b))
	}
	switch x := a.(type) {
	case nil:
		return 0
	case bool:
		return cmp.Compare(number(x), number(b))
	case string:
		return strings.Compare(x, b.(string))
	case []any:
		return slices.CompareFunc(x, b.([]any), compare)
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y)
		}
	case moment:
		if y, ok := b.(moment); ok {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(number(a), number(b))
}

func compareMoment(m moment, s string) int {
	if other, ok := parseMoment(s); ok {
		return cmp.Compare(m, other)
	}
	return -1
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

func equals(a, b any) bool { return compare(a, b) == 0 }

func truthy(v any) bool {
	switch x := v.(type) {
	case nil:
		return false
	case string:
		return x != ""
	case []any:
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
	switch {
	case a == nil || b == nil:
		return nil, nil
	case xInt && yInt:
		return intArithmetic(op, x, y)
	case sText && uText && op == '+':
		return s + u, nil
	case mTime && yInt && op == '+':
		return m + moment(y), nil
	case mTime && yInt && op == '-':
		return m - moment(y), nil
	case rank(a) != 2 || rank(b) != 2 || mTime:
		return nil, fenec.ErrType
	}
	return floatArithmetic(op, number(a), number(b))
}

func intArithmetic(op byte, x, y int64) (any, error) {
	switch op {
	case '+':
		if sum := x + y; (sum > x) == (y > 0) {
			return sum, nil
		}
	case '-':
		if diff := x - y; (diff < x) == (y > 0) {
			return diff, nil
		}
	case '*':
		if p := x * y; y == 0 || p/y == x {
			return p, nil
		}
	case '/':
		if y != 0 {
			return x / y, nil
		}
	}
	return nil, fenec.ErrQuery
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

// sameKind reports whether err is of the kind want, or both are nil.
func sameKind(err, want error) bool {
	if want == nil {
		return err == nil
	}
	return errors.Is(err, want)
}
