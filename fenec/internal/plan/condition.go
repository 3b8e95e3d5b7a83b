package plan

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// condition is the terms of a filter, joined by and, that say something about
// where its rows are. It may leave out any term.
type condition struct{ terms []term }

// idField is the position that stands for the id.
const idField = -1

// term is one term of a condition: field op constants, or a choice of
// conditions.
type term struct {
	field  int // a field with an index, or idField
	op     termOp
	consts []*expr.Expr // one, for opIn any number, for opNotNull none
	either []condition  // for opEither; none of them is empty
}

type termOp uint8

const (
	opEqual termOp = iota
	opIn
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opNotNull
	opEither
)

// analyzer turns filters into conditions.
type analyzer struct{ c *expr.Compiler }

// condition returns what e says about where its rows are.
func (a *analyzer) condition(e ql.Expr) (condition, error) {
	var out condition
	for _, e := range expr.Chain(e, ql.OpAnd) {
		if isAnd(e) { // in parentheses, at the right of another
			inner, err := a.condition(e)
			if err != nil {
				return out, err
			}
			out.terms = append(out.terms, inner.terms...)
			continue
		}
		t, ok, err := a.term(e)
		if err != nil {
			return out, err
		}
		if ok {
			out.terms = append(out.terms, t)
		}
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
	op, ok := comparisons[e.Op]
	if !ok {
		return term{}, false, nil
	}
	field, other := e.Left, e.Right
	at, ok := a.field(field)
	if !ok {
		op, other = mirrored[op], e.Left
		at, ok = a.field(e.Right)
	}
	if !ok {
		return term{}, false, nil
	}
	return a.constants(term{field: at, op: op}, other)
}

func (a *analyzer) in(e *ql.In) (term, bool, error) {
	at, ok := a.field(e.X)
	if !ok {
		return term{}, false, nil
	}
	return a.constants(term{field: at, op: opIn}, e.List...)
}

func (a *analyzer) isNull(e *ql.IsNull) (term, bool, error) {
	at, ok := a.field(e.X)
	switch {
	case !ok || at == idField:
		return term{}, false, nil
	case e.Not:
		return term{field: at, op: opNotNull}, true, nil
	}
	return a.constants(term{field: at, op: opEqual}, &ql.Literal{})
}

// truth is a bool field that stands by itself.
func (a *analyzer) truth(p *ql.Path) (term, bool, error) {
	at, ok := a.field(p)
	if !ok || at == idField || !a.c.Collection().Fields[at].Type.Is(value.BaseBool) {
		return term{}, false, nil
	}
	return a.constants(term{field: at, op: opEqual}, &ql.Literal{Kind: ql.Bool, Bool: true})
}

// constants completes t, unless an operand depends on the row.
func (a *analyzer) constants(t term, operands ...ql.Expr) (term, bool, error) {
	for _, e := range operands {
		x, err := a.c.Compile(e, expr.Late)
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

// field returns the position of the id, or of a field with an index, that e
// names.
func (a *analyzer) field(e ql.Expr) (at int, ok bool) {
	p, ok := e.(*ql.Path)
	if !ok || len(p.Keys) > 0 {
		return 0, false
	}
	if p.Field == catalog.ID {
		return idField, true
	}
	at, ok = a.c.Collection().Position(p.Field)
	return at, ok && a.c.Collection().Fields[at].Index != nil
}
