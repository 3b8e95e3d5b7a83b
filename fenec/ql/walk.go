package ql

// Walk visits the expressions of a tree, each before its parts, and those in
// the order in which they were written. It goes into the parts of those for
// which visit returns true. n itself is visited when it is an expression.
//
// The fields to be sorted by are visited as expressions. Those that a put or
// a set writes to are not: they are read by nobody.
func Walk(n Node, visit func(Expr) bool) {
	switch n := n.(type) {
	case Expr:
		walkExpr(n, visit)
	case *Put:
		for _, d := range n.Docs {
			walkDocument(d, visit)
		}
		if n.Param != nil {
			visit(n.Param)
		}
	case *Get:
		walkGet(n, visit)
	case *Explain:
		walkGet(n.Get, visit)
	case *Set:
		walkDocument(n.Pairs, visit)
		walkPick(n.Where, n.Order, visit)
	case *Del:
		walkPick(n.Where, n.Order, visit)
	}
}

// Params returns the number of parameters that a tree expects: the highest N
// of its Params, or 0. A text may name any number, so it is no measure for
// memory to reserve.
func Params(n Node) int {
	highest := 0
	Walk(n, func(e Expr) bool {
		if p, ok := e.(*Param); ok {
			highest = max(highest, p.N)
		}
		return true
	})
	return highest
}

func walkGet(g *Get, visit func(Expr) bool) {
	for _, c := range g.Columns {
		walkExpr(c.Expr, visit)
	}
	walkPick(g.Where, g.Order, visit)
}

func walkPick(where Expr, order []Key, visit func(Expr) bool) {
	if where != nil {
		walkExpr(where, visit)
	}
	for i := range order {
		visit(&order[i].Path)
	}
}

func walkDocument(d Document, visit func(Expr) bool) {
	for _, pair := range d {
		walkExpr(pair.Value, visit)
	}
}

func walkExprs(list []Expr, visit func(Expr) bool) {
	for _, e := range list {
		walkExpr(e, visit)
	}
}

func walkExpr(e Expr, visit func(Expr) bool) {
	if !visit(e) {
		return
	}
	switch e := e.(type) {
	case *List:
		walkExprs(e.Items, visit)
	case *Object:
		for _, m := range e.Members {
			walkExpr(m.Value, visit)
		}
	case *Unary:
		walkExpr(e.X, visit)
	case *Binary:
		walkExpr(e.Left, visit)
		walkExpr(e.Right, visit)
	case *In:
		walkExpr(e.X, visit)
		walkExprs(e.List, visit)
	case *IsNull:
		walkExpr(e.X, visit)
	case *Case:
		walkCase(e, visit)
	case *Call:
		walkExprs(e.Args, visit)
	}
}

func walkCase(c *Case, visit func(Expr) bool) {
	for _, w := range c.Whens {
		walkExpr(w.Cond, visit)
		walkExpr(w.Then, visit)
	}
	if c.Else != nil {
		walkExpr(c.Else, visit)
	}
}
