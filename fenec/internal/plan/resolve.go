package plan

import (
	"bytes"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// resolved is what a condition comes to in a run.
type resolved struct {
	ids     ids // a range that holds the ids of all its rows
	options []option
}

// point reports whether one row at most can meet the condition, by its id.
func (r *resolved) point() bool { return r.ids.first == r.ids.last }

// none reports whether no row can meet the condition.
func (r *resolved) none() bool {
	if r.ids.empty() {
		return true
	}
	for i := range r.options {
		if len(r.options[i].spans) == 0 {
			return true
		}
	}
	return false
}

// resolver evaluates the constants of conditions.
type resolver struct {
	col *catalog.Collection
	f   *expr.Frame
}

// resolve returns what c comes to. Terms whose constants fail, or have no place
// in the order of keys, are left out: the rows will tell.
func (r *resolver) resolve(c *condition) resolved {
	out := resolved{ids: allIDs}
	for i := range c.terms {
		if t := &c.terms[i]; t.field == idField && t.op != opEither && t.op != opIn {
			if v, err := t.consts[0].Eval(r.f); err == nil {
				out.ids = out.ids.and(idsWhere(t.op, v))
			}
		}
	}
	r.ranges(c, &out)
	for i := range c.terms {
		r.term(&c.terms[i], &out)
	}
	return out
}

func (r *resolved) add(o option) { r.options = append(r.options, o) }

// term adds the option that a term is, unless it is a bound of ids or of an
// index, which resolve and ranges see to.
func (r *resolver) term(t *term, out *resolved) {
	switch {
	case t.op == opEither:
		r.either(t, out)
	case t.field == idField && t.op == opIn:
		r.idsIn(t, out)
	case t.op == opEqual && t.field != idField, t.op == opIn:
		r.valuesIn(t, out)
	}
}

// idsIn adds the ids of a list.
func (r *resolver) idsIn(t *term, out *resolved) {
	o := option{order: noField}
	for _, x := range t.consts {
		v, err := x.Eval(r.f)
		if err != nil {
			return
		}
		in := idsWhere(opEqual, v).and(out.ids)
		if in.empty() {
			continue
		}
		if in.first != in.last {
			return
		}
		o.spans = append(o.spans, span{field: idField, id: in.first})
	}
	slices.SortFunc(o.spans, func(a, b span) int { return compareIDs(a.id, b.id) })
	o.spans = slices.CompactFunc(o.spans, func(a, b span) bool { return a.id == b.id })
	out.add(o)
}

func compareIDs(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// valuesIn adds the entries of the values that a field is to equal one of.
func (r *resolver) valuesIn(t *term, out *resolved) {
	f := &r.col.Fields[t.field]
	o := option{order: t.field}
	for _, x := range t.consts {
		v, err := x.Eval(r.f)
		if err != nil {
			return
		}
		v, ok := keyable(v, f.Type)
		if !ok {
			return
		}
		o.spans = append(o.spans, equalTo(t.field, f.Index, v, out.ids))
	}
	o.sort()
	out.add(o)
}

// ranges adds, for each field that is compared with bounds, the entries between
// all of them.
func (r *resolver) ranges(c *condition, out *resolved) {
	for i := range c.terms {
		t := &c.terms[i]
		if !t.isBound() || t.boundedBefore(c.terms[:i]) {
			continue
		}
		if o, ok := r.between(t.field, c.terms[i:]); ok {
			out.add(o)
		}
	}
}

// isBound reports whether t bounds the values of an indexed field.
func (t *term) isBound() bool {
	return t.field != idField && t.op >= opLess && t.op <= opNotNull
}

func (t *term) boundedBefore(terms []term) bool {
	return slices.ContainsFunc(terms, func(o term) bool { return o.isBound() && o.field == t.field })
}

// between returns the entries of a field that lie within the bounds set by
// terms; ok is false if none of them has a place in the order of keys.
func (r *resolver) between(field int, terms []term) (o option, ok bool) {
	f := &r.col.Fields[field]
	s := span{field: field, index: f.Index, lower: afterNull}
	for i := range terms {
		if t := &terms[i]; t.isBound() && t.field == field && r.narrow(&s, t, f.Type) {
			ok = true
		}
	}
	o = option{spans: []span{s}, order: field}
	if s.upper != nil && bytes.Compare(s.lower, s.upper) >= 0 {
		o.spans = nil
	}
	return o, ok
}

// narrow brings the bounds of s in to those that t sets, and reports whether it
// sets any.
func (r *resolver) narrow(s *span, t *term, typ value.Type) bool {
	if t.op == opNotNull {
		return true
	}
	v, err := t.consts[0].Eval(r.f)
	if err != nil {
		return false
	}
	if v, ok := keyable(v, typ); ok {
		lower, upper := bounds(t.op, v)
		if bytes.Compare(lower, s.lower) > 0 {
			s.lower = lower
		}
		if upper != nil && (s.upper == nil || bytes.Compare(upper, s.upper) < 0) {
			s.upper = upper
		}
		return true
	}
	return false
}

// either adds the union of conditions of which each is met by few rows, if all
// of them say so.
func (r *resolver) either(t *term, out *resolved) {
	union := option{order: noField}
	for i := range t.either {
		side := r.resolve(&t.either[i])
		if side.none() {
			continue
		}
		best := side.best()
		if best == nil {
			return
		}
		if len(union.spans) == 0 {
			union.order = best.order
		}
		if union.order != best.order {
			union.order = noField
		}
		union.spans = append(union.spans, best.spans...)
	}
	if union.order != noField {
		union.sort()
	}
	out.add(union)
}

// best returns the option that is likely to hold the fewest rows, or nil.
func (r *resolved) best() *option {
	if r.point() {
		return &option{spans: []span{{field: idField, id: r.ids.first}}, order: noField}
	}
	var best *option
	for i := range r.options {
		if o := &r.options[i]; best == nil || o.rank() < best.rank() {
			best = o
		}
	}
	return best
}
