package plan

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// condition is the terms of a filter, joined by and, that say something about
// where its rows are. It may leave out any term, unless it is whole.
type condition struct {
	terms []term
	whole bool // no term of the filter is left out, within those neither
}

// term is one term of a condition: target op constants, or a choice of
// conditions.
type term struct {
	target
	op     termOp
	consts []*expr.Expr // one where op does not say otherwise; for opIn any number, for opNotNull none
	inner  int          // for opInner: which of a frame's Inners holds the values
	either []condition  // for opEither; none of them is empty
}

type termOp uint8

const (
	opEqual termOp = iota
	opIn
	opInner
	opHas // one constant, a list that has the value
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opNotNull
	opEither
	opNear   // two constants, a point and metres
	opWithin // a box
)

// count returns how many constants t has in a run.
func (t *term) count(f *expr.Frame) int {
	switch t.op {
	case opInner:
		return f.Inners[t.inner].Len()
	case opHas:
		return len(t.elements(f))
	}
	return len(t.consts)
}

// elements returns the values of the list of an opHas: none if it is anything else,
// in which no value is, or fails.
func (t *term) elements(f *expr.Frame) []value.Value {
	v, err := t.consts[0].Eval(f)
	if err != nil || v.Kind() != value.KindList {
		return nil
	}
	return v.AsList()
}

// constant returns one of the constants.
func (t *term) constant(f *expr.Frame, i int) (value.Value, error) {
	switch t.op {
	case opInner:
		return f.Inners[t.inner].All()[i], nil
	case opHas:
		return t.elements(f)[i], nil
	}
	return t.consts[i].Eval(f)
}

// whole reports whether t says all of a term of the filter.
func (t *term) whole() bool {
	switch t.op {
	case opEither:
		return !slices.ContainsFunc(t.either, func(c condition) bool { return !c.whole })
	case opNear, opWithin, opHas:
		return false
	}
	return true
}

// analyzer turns filters into conditions.
type analyzer struct{ c *expr.Compiler }

// condition returns what e says about where its rows are.
func (a *analyzer) condition(e ql.Expr) (condition, error) {
	out := condition{whole: true}
	for _, e := range expr.Chain(e, ql.OpAnd) {
		if isAnd(e) { // in parentheses, at the right of another
			inner, err := a.condition(e)
			if err != nil {
				return out, err
			}
			out.terms = append(out.terms, inner.terms...)
			out.whole = out.whole && inner.whole
			continue
		}
		t, ok, err := a.term(e)
		if err != nil {
			return out, err
		}
		if ok {
			out.terms = append(out.terms, t)
		}
		out.whole = out.whole && ok && t.whole()
	}
	return out, nil
}

func isAnd(e ql.Expr) bool {
	b, ok := e.(*ql.Binary)
	return ok && b.Op == ql.OpAnd
}

// term returns what one term of a chain of ands says; ok is false if that is
// nothing.
func (a *analyzer) term(e ql.Expr) (t term, ok bool, err error) {
	switch e := e.(type) {
	case *ql.Binary:
		if e.Op == ql.OpOr {
			return a.either(e)
		}
		return a.comparison(e)
	case *ql.In:
		return a.in(e)
	case *ql.IsNull:
		return a.isNull(e)
	case *ql.Path:
		return a.truth(e)
	case *ql.Call:
		if expr.IsExpired(e) {
			return a.expired(), true, nil
		}
		return a.within(e)
	}
	return term{}, false, nil
}

func (a *analyzer) either(e ql.Expr) (term, bool, error) {
	t := term{op: opEither}
	for _, side := range expr.Chain(e, ql.OpOr) {
		c, err := a.condition(side)
		if err != nil || len(c.terms) == 0 {
			return term{}, false, err
		}
		t.either = append(t.either, c)
	}
	return t, true, nil
}

var comparisons = map[ql.Op]termOp{
	ql.OpEq: opEqual,
	ql.OpLt: opLess,
	ql.OpLe: opLessEqual,
	ql.OpGt: opGreater,
	ql.OpGe: opGreaterEqual,
}

// mirrored are the operators with their sides exchanged.
var mirrored = map[termOp]termOp{
	opEqual:        opEqual,
	opLess:         opGreater,
	opLessEqual:    opGreaterEqual,
	opGreater:      opLess,
	opGreaterEqual: opLessEqual,
}

func (a *analyzer) comparison(e *ql.Binary) (term, bool, error) {
	if e.Op == ql.OpHas {
		return a.has(e)
	}
	op, ok := comparisons[e.Op]
	if !ok {
		return term{}, false, nil
	}
	of, ok := a.values(e.Left)
	if ok {
		return a.constants(term{target: of, op: op}, e.Right)
	}
	if of, ok = a.values(e.Right); ok {
		return a.constants(term{target: of, op: mirrored[op]}, e.Left)
	}
	if t, ok, err := a.near(e.Left, op, e.Right); ok || err != nil {
		return t, ok, err
	}
	return a.near(e.Right, mirrored[op], e.Left)
}

func (a *analyzer) in(e *ql.In) (term, bool, error) {
	of, ok := a.values(e.X)
	if !ok {
		return term{}, false, nil
	}
	if e.Get == nil {
		return a.constants(term{target: of, op: opIn}, e.List...)
	}
	at, err := a.c.InnerAt(e.Get)
	return term{target: of, op: opInner, inner: at}, err == nil, err
}

// has is a field that a given list has.
func (a *analyzer) has(e *ql.Binary) (term, bool, error) {
	of, ok := a.values(e.Right)
	if !ok {
		return term{}, false, nil
	}
	return a.constants(term{target: of, op: opHas}, e.Left)
}

func (a *analyzer) isNull(e *ql.IsNull) (term, bool, error) {
	of, ok := targetOf(a.c.Collection(), e.X)
	switch {
	case !ok || of.isID() || !hasNulls(of.index):
		return term{}, false, nil
	case e.Not:
		return term{target: of, op: opNotNull}, true, nil
	}
	return a.constants(term{target: of, op: opEqual}, &ql.Literal{})
}

// truth is a bool field that stands by itself.
func (a *analyzer) truth(p *ql.Path) (term, bool, error) {
	of, ok := a.values(p)
	if !ok || !of.typ.Is(value.BaseBool) {
		return term{}, false, nil
	}
	return a.constants(term{target: of, op: opEqual}, &ql.Literal{Kind: ql.Bool, Bool: true})
}

// expired is expired() by itself.
func (a *analyzer) expired() term {
	col := a.c.Collection()
	return term{target: targetOfIndex(col, col.TTL()), op: opLessEqual, consts: []*expr.Expr{a.c.Cutoff()}}
}

// constants completes t, unless an operand depends on the row.
func (a *analyzer) constants(t term, operands ...ql.Expr) (term, bool, error) {
	for _, e := range operands {
		x, err := a.c.Compile(e, expr.Filter)
		if err != nil {
			return term{}, false, err
		}
		if !x.Constant() {
			return term{}, false, nil
		}
		t.consts = append(t.consts, x)
	}
	return t, true, nil
}

// values returns the target that e names, if its values are found by the order
// they have.
func (a *analyzer) values(e ql.Expr) (target, bool) {
	t, ok := targetOf(a.c.Collection(), e)
	return t, ok && (t.isID() || inOrder(t.index))
}
