package plan

import (
	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// imposed is what a plan does so that rows that an imposed condition hides do not
// show. No answer tells of them, but an error could: the rows that a term which
// may fail is tested on depend on the path, and the path on counts of all rows.
// So terms that may fail come after those that cannot, no path is chosen by them,
// and no index on another order than that of ids is walked. Each of them then
// meets the same rows in the same order on every path. Constants, which may fail
// too, are computed before any row is read.
type imposed struct {
	on     bool
	unsure bool         // a term of the filter may fail
	consts []*expr.Expr // of terms that fail only where one of these does
}

// settled returns what a constant of the filter fails with.
func (i *imposed) settled(f *expr.Frame) error {
	for _, x := range i.consts {
		if _, err := x.Eval(f); err != nil {
			return err
		}
	}
	return nil
}

// filter returns the filter of q, and the part of it that paths are chosen by.
func (i *imposed) filter(c *expr.Compiler, q Clauses) (where, paths ql.Expr, err error) {
	if q.Imposed == nil || q.Where == nil {
		i.on = q.Imposed != nil
		where = expr.Both(q.Imposed, q.Where)
		return where, where, nil
	}
	i.on = true
	var unsure ql.Expr
	paths = q.Imposed
	for _, e := range ands(nil, q.Where) {
		sure, err := i.sure(c, e)
		if err != nil {
			return nil, nil, err
		}
		if sure {
			paths = expr.Both(paths, e)
		} else {
			unsure = expr.Both(unsure, e)
		}
	}
	i.unsure = unsure != nil
	return expr.Both(paths, unsure), paths, nil
}

// ands appends the terms that and joins in e, in parentheses or not.
func ands(terms []ql.Expr, e ql.Expr) []ql.Expr {
	for _, e := range expr.Chain(e, ql.OpAnd) {
		if isAnd(e) {
			terms = ands(terms, e)
		} else {
			terms = append(terms, e)
		}
	}
	return terms
}

// sure reports whether e fails on no row, once none of its constants fails.
func (i *imposed) sure(c *expr.Compiler, e ql.Expr) (bool, error) {
	switch e := e.(type) {
	case *ql.Path:
		return i.readable(c.Collection(), e), nil
	case *ql.Unary:
		if e.Op == ql.OpNot {
			return i.sure(c, e.X)
		}
	case *ql.IsNull:
		return i.sure(c, e.X)
	case *ql.Binary:
		if !computes(e.Op) {
			return i.allSure(c, e.Left, e.Right)
		}
	case *ql.In:
		return i.allSure(c, append([]ql.Expr{e.X}, e.List...)...)
	case *ql.Call:
		if expr.IsExpired(e) {
			return true, nil
		}
	}
	return i.constant(c, e)
}

// readable reports whether p is there to be read, which a row does not say.
func (i *imposed) readable(c *catalog.Collection, p *ql.Path) bool {
	if len(p.Keys) == 0 && p.Field == catalog.ID {
		return true
	}
	at, ok := c.Position(p.Field)
	return ok && (len(p.Keys) == 0 || c.Fields[at].Type.Is(value.BaseJSON))
}

func computes(op ql.Op) bool {
	return op == ql.OpAdd || op == ql.OpSub || op == ql.OpMul || op == ql.OpDiv
}

func (i *imposed) allSure(c *expr.Compiler, all ...ql.Expr) (bool, error) {
	for _, e := range all {
		if sure, err := i.sure(c, e); !sure || err != nil {
			return false, err
		}
	}
	return true, nil
}

// constant is sure for what may be a constant.
func (i *imposed) constant(c *expr.Compiler, e ql.Expr) (bool, error) {
	x, err := c.Compile(e, expr.Filter)
	if err != nil || !x.Constant() {
		return false, err
	}
	i.consts = append(i.consts, x)
	return true, nil
}
