package plan

import (
	"bytes"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
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
		if r.options[i].length() == 0 {
			return true
		}
	}
	return false
}

// resolver evaluates the constants of conditions.
type resolver struct {
	run *run
	f   *expr.Frame
}

// resolve narrows out, which holds all rows, down to what c comes to. Terms whose
// constants fail, or have no place in the order of keys, are left out: the rows
// will tell.
func (r *resolver) resolve(c *condition, out *resolved) {
	for i := range c.terms {
		if t := &c.terms[i]; t.boundsIDs() {
			if v, err := t.constant(r.f, 0); err == nil {
				out.ids = out.ids.and(idsWhere(t.op, v))
			}
		}
	}
	if out.point() || out.ids.empty() {
		return
	}
	r.ranges(c, out)
	for i := range c.terms {
		r.term(&c.terms[i], out)
	}
}

func (r *resolved) add(o option) { r.options = append(r.options, o) }

// term adds the option that a term is, unless it is a bound of ids or of an
// index, which resolve and ranges see to.
func (r *resolver) term(t *term, out *resolved) {
	switch {
	case t.op == opEither:
		r.either(t, out)
	case t.op == opNear, t.op == opWithin:
		r.area(t, out)
	case t.op == opIn, t.op == opInner, t.op == opHas, t.op == opEqual && !t.isID():
		r.list(t, out)
	}
}

// list adds the rows that the values of a list lead to.
func (r *resolver) list(t *term, out *resolved) {
	if t.op == opHas {
		if _, err := t.consts[0].Eval(r.f); err != nil {
			return
		}
	}
	n := t.count(r.f)
	if n <= fewEntries {
		if spans, _, ok := r.spans(t, out.ids); ok {
			out.add(option{index: t.index, spans: spans})
		}
		return
	}
	cost := n
	if !t.isID() {
		cost *= seekCost
	}
	if most, err := r.run.worthwhile(out.ids); err == nil && cost <= most {
		later, bounds := *r, out.ids
		out.add(option{index: t.index, size: n, make: func() ([]span, bool) {
			spans, _, ok := later.spans(t, bounds)
			return spans, ok
		}})
	}
}

// spans returns the ids or entries of the values of a list, of rows whose ids
// are in bounds. exact says that all of them have one of the values. ok is false
// when a constant fails, or has no place in the order of keys.
func (r *resolver) spans(t *term, bounds ids) (spans []span, exact, ok bool) {
	if t.isID() {
		spans, ok = r.idsIn(t, bounds)
		return spans, false, ok
	}
	return r.valuesIn(t, bounds)
}

// idsIn is spans for a list of ids.
func (r *resolver) idsIn(t *term, bounds ids) (spans []span, ok bool) {
	for i := range t.count(r.f) {
		v, err := t.constant(r.f, i)
		if err != nil {
			return nil, false
		}
		in := idsWhere(opEqual, v).and(bounds)
		if in.empty() {
			continue
		}
		if in.first != in.last {
			return nil, false
		}
		spans = append(spans, span{ids: in})
	}
	slices.SortFunc(spans, func(a, b span) int { return compareIDs(a.ids.first, b.ids.first) })
	return slices.CompactFunc(spans, func(a, b span) bool { return a.ids == b.ids }), true
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

// valuesIn is spans for a list of values.
func (r *resolver) valuesIn(t *term, bounds ids) (spans []span, exact, ok bool) {
	start := len(r.run.spans)
	exact = true
	for i := range t.count(r.f) {
		v, err := t.constant(r.f, i)
		if err != nil {
			return nil, false, false
		}
		if v, ok = t.keyable(v); !ok {
			return nil, false, false
		}
		s, one := t.equalTo(&r.run.keys, v, bounds)
		r.run.spans = append(r.run.spans, s)
		exact = exact && one
	}
	return inOrderOf(slices.Clip(r.run.spans[start:])), exact, true
}

// ranges adds, for each index whose values are compared with bounds, the entries
// between all of them.
func (r *resolver) ranges(c *condition, out *resolved) {
	for i := range c.terms {
		t := &c.terms[i]
		if !t.isBound() || t.boundedBefore(c.terms[:i]) {
			continue
		}
		if spans, _, ok := r.between(&t.target, c.terms[i:]); ok {
			out.add(option{index: t.index, spans: spans})
		}
	}
}

// boundsIDs reports whether t bounds the ids.
func (t *term) boundsIDs() bool {
	return t.isID() && (t.op == opEqual || t.op >= opLess && t.op <= opGreaterEqual)
}

// isBound reports whether t bounds the values of an index.
func (t *term) isBound() bool {
	return !t.isID() && t.op >= opLess && t.op <= opNotNull
}

func (t *term) boundedBefore(terms []term) bool {
	return slices.ContainsFunc(terms, func(o term) bool { return o.isBound() && o.index == t.index })
}

// between returns the entries of an index that lie within the bounds set by
// terms, of which it is at most one span; exact says that all of them do, and ok
// is false if no term has a place in the order of keys.
func (r *resolver) between(of *target, terms []term) (spans []span, exact, ok bool) {
	s := span{index: of.index, lower: afterNull}
	exact = true
	for i := range terms {
		if t := &terms[i]; t.isBound() && t.index == of.index {
			one, sets := r.narrow(&s, t)
			exact, ok = exact && one, ok || sets
		}
	}
	if s.upper != nil && bytes.Compare(s.lower, s.upper) >= 0 {
		return nil, exact, ok
	}
	r.run.spans = append(r.run.spans, s)
	return slices.Clip(r.run.spans[len(r.run.spans)-1:]), exact, ok
}

// narrow brings the bounds of s in to those that t sets, and reports whether it
// sets any, and whether all within them meet t.
func (r *resolver) narrow(s *span, t *term) (exact, ok bool) {
	if t.op == opNotNull {
		return true, true
	}
	v, err := t.constant(r.f, 0)
	if err != nil {
		return false, false
	}
	if v, ok = t.keyable(v); !ok {
		return false, false
	}
	lower, upper, exact := t.bounds(&r.run.keys, t.op, v)
	s.within(lower, upper)
	return exact, true
}

// within brings the bounds of s in to others.
func (s *span) within(lower, upper []byte) {
	if bytes.Compare(lower, s.lower) > 0 {
		s.lower = lower
	}
	if upper != nil && (s.upper == nil || bytes.Compare(upper, s.upper) < 0) {
		s.upper = upper
	}
}

// either adds the union of conditions of which each is met by few rows, if all
// of them say so.
func (r *resolver) either(t *term, out *resolved) {
	var union option
	for i := range t.either {
		side := resolved{ids: allIDs}
		r.resolve(&t.either[i], &side)
		if side.none() {
			continue
		}
		best := r.least(&side)
		if best == nil || !best.ready() {
			return
		}
		if len(union.spans) == 0 {
			union.index = best.index
		}
		if union.index != best.index {
			union.index = nil
		}
		union.spans = append(union.spans, best.spans...)
	}
	if union.index != nil {
		union.spans = inOrderOf(union.spans)
	}
	out.add(union)
}

// least returns the option of fewest rows on one side of an or, or nil.
func (r *resolver) least(side *resolved) *option {
	best := side.best()
	switch {
	case best == nil:
		return r.someIDs(side.ids)
	case best.single() || len(side.options) == 1:
		return best
	}
	most, err := r.run.affordable(side.ids)
	if err != nil {
		return best
	}
	if _, winner, err := r.run.race(side, most); winner != nil && err == nil {
		return winner
	}
	return best
}

// someIDs returns a range of ids as an option, or nil if it seems to hold too
// many rows.
func (r *resolver) someIDs(in ids) *option {
	if in == allIDs {
		return nil
	}
	n, err := r.run.rows()
	if err != nil {
		return nil
	}
	most, err := r.run.worthwhile(allIDs)
	if last := min(in.last, uint64(n)); err != nil || last > in.first && last-in.first > uint64(most) {
		return nil
	}
	return &option{spans: []span{{ids: in}}}
}

// best returns the option that is likely to hold the fewest rows, or nil.
func (r *resolved) best() *option {
	if r.point() {
		return &option{spans: []span{{ids: r.ids}}}
	}
	var best *option
	for i := range r.options {
		if o := &r.options[i]; best == nil || o.rank() < best.rank() {
			best = o
		}
	}
	return best
}
