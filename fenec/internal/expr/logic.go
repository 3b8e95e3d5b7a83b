package expr

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func (c *Compiler) unary(e *ql.Unary) (node, class, error) {
	nodes, class, err := c.parts(e.X)
	if err != nil {
		return nil, 0, err
	}
	if e.Op == ql.OpNeg {
		return finish(&neg{nodes[0]}, class)
	}
	return finish(&not{asCond(nodes[0])}, class)
}

func (c *Compiler) binary(e *ql.Binary) (node, class, error) {
	switch e.Op {
	case ql.OpAnd, ql.OpOr:
		return c.chain(e)
	case ql.OpAdd, ql.OpSub, ql.OpMul, ql.OpDiv:
		return c.arithmetic(e)
	}
	return c.comparison(e)
}

// chain compiles a chain of ands or of ors, which leans to the left, as one.
func (c *Compiler) chain(e *ql.Binary) (node, class, error) {
	nodes, class, err := c.parts(Chain(e, e.Op)...)
	if err != nil {
		return nil, 0, err
	}
	conds := make([]cond, len(nodes))
	for i, n := range nodes {
		conds[i] = asCond(n)
	}
	if e.Op == ql.OpAnd {
		return finish(&and{conds}, class)
	}
	return finish(&or{conds}, class)
}

// Chain returns the terms that op joins in e, in the order written.
func Chain(e ql.Expr, op ql.Op) []ql.Expr {
	var terms []ql.Expr
	for {
		b, ok := e.(*ql.Binary)
		if !ok || b.Op != op {
			terms = append(terms, e)
			slices.Reverse(terms)
			return terms
		}
		terms = append(terms, b.Right)
		e = b.Left
	}
}

// Both returns the filter of what passes both, either of which may be nil: no
// filter.
func Both(a, b ql.Expr) ql.Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &ql.Binary{Op: ql.OpAnd, Left: a, Right: b}
}

type and struct{ terms []cond }

func (x *and) test(f *Frame) (bool, error) {
	for _, t := range x.terms {
		if ok, err := t.test(f); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func (x *and) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

type or struct{ terms []cond }

func (x *or) test(f *Frame) (bool, error) {
	for _, t := range x.terms {
		if ok, err := t.test(f); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func (x *or) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

type not struct{ x cond }

func (x *not) test(f *Frame) (bool, error) {
	ok, err := x.x.test(f)
	return !ok, err
}

func (x *not) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

// boolean returns what c tests as a value.
func boolean(c cond, f *Frame) (value.Value, error) {
	ok, err := c.test(f)
	if err != nil {
		return value.Null, err
	}
	return value.Bool(ok), nil
}

type isNull struct {
	x   node
	not bool
}

func (c *Compiler) isNull(e *ql.IsNull) (node, class, error) {
	nodes, class, err := c.parts(e.X)
	if err != nil {
		return nil, 0, err
	}
	return finish(&isNull{nodes[0], e.Not}, class)
}

func (x *isNull) test(f *Frame) (bool, error) {
	if field, ok := x.x.(*field); ok {
		return f.row.IsNull(field.at) != x.not, nil
	}
	v, err := x.x.eval(f)
	return v.IsNull() != x.not, err
}

func (x *isNull) eval(f *Frame) (value.Value, error) { return boolean(x, f) }

// caseWhen is "case when conds[i] then thens[i] … else otherwise end".
type caseWhen struct {
	conds     []cond
	thens     []node
	otherwise node
}

func (c *Compiler) caseWhen(e *ql.Case) (node, class, error) {
	var exprs []ql.Expr
	for _, w := range e.Whens {
		exprs = append(exprs, w.Cond, w.Then)
	}
	if e.Else != nil {
		exprs = append(exprs, e.Else)
	}
	nodes, class, err := c.parts(exprs...)
	if err != nil {
		return nil, 0, err
	}
	x := &caseWhen{otherwise: &literal{value.Null}}
	for i := range e.Whens {
		x.conds = append(x.conds, asCond(nodes[2*i]))
		x.thens = append(x.thens, nodes[2*i+1])
	}
	if e.Else != nil {
		x.otherwise = nodes[len(nodes)-1]
	}
	return finish(x, class)
}

func (x *caseWhen) eval(f *Frame) (value.Value, error) {
	for i, c := range x.conds {
		ok, err := c.test(f)
		if err != nil {
			return value.Null, err
		}
		if ok {
			return x.thens[i].eval(f)
		}
	}
	return x.otherwise.eval(f)
}
