package ql

// Walk visits the expressions of a tree, each before its parts, and those in
// the order in which [Print] writes them. It goes into the parts of those for
// which visit returns true; the gets inside "in" are among them. n itself is
// visited when it is an expression.
//
// The fields that a statement reads by their paths are visited as expressions:
// those to sort by, to count in facets, to return, and the columns of lookups.
// Those that a put or a set writes to are not, nor those that a clause names,
// such as the field of a match.
func Walk(n Node, visit func(Expr) bool) {
	switch n := n.(type) {
	case Expr:
		walkExpr(n, visit)
	case *Put:
		walkPut(n, visit)
	case *Get:
		walkGet(n, visit)
	case *Explain:
		walkGet(n.Get, visit)
	case *Set:
		walkDocument(n.Pairs, visit)
		walkPick(n.Where, n.Order, visit)
		walkReturning(n.Returning, visit)
	case *Del:
		walkPick(n.Where, n.Order, visit)
		walkReturning(n.Returning, visit)
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

func walkPut(s *Put, visit func(Expr) bool) {
	for _, d := range s.Docs {
		walkDocument(d, visit)
	}
	if s.Param != nil {
		visit(s.Param)
	}
	walkDocument(s.ElseSet, visit)
}

func walkGet(g *Get, visit func(Expr) bool) {
	for i := range g.Columns {
		c := &g.Columns[i]
		if c.Mark != nil {
			walkExprs(c.Mark.Args, visit)
		} else {
			walkExpr(c.Expr, visit)
		}
	}
	walkOptional(g.Where, visit)
	walkScore(g, visit)
	walkExprs(g.Group, visit)
	walkOptional(g.Having, visit)
	walkOrder(g.Order, visit)
	for i := range g.Facets {
		visit(&g.Facets[i].Path)
	}
	for l := g.Lookup; l != nil; l = l.Lookup {
		walkPaths(l.Columns, visit)
		walkPick(l.Where, l.Order, visit)
	}
}

// walkScore visits the clauses of a get that score its rows.
func walkScore(g *Get, visit func(Expr) bool) {
	if g.Near != nil {
		walkExpr(g.Near.Vector, visit)
	}
	if g.Match != nil {
		walkExpr(g.Match.Query, visit)
	}
	if g.Rerank != nil {
		walkExpr(g.Rerank.Vector, visit)
	}
}

func walkPick(where Expr, order []Key, visit func(Expr) bool) {
	walkOptional(where, visit)
	walkOrder(order, visit)
}

func walkOrder(order []Key, visit func(Expr) bool) {
	for i := range order {
		if k := &order[i]; k.Call != nil {
			walkExpr(k.Call, visit)
		} else {
			visit(&k.Path)
		}
	}
}

func walkReturning(r *Returning, visit func(Expr) bool) {
	if r != nil {
		walkPaths(r.Paths, visit)
	}
}

func walkPaths(paths []Path, visit func(Expr) bool) {
	for i := range paths {
		visit(&paths[i])
	}
}

// walkOptional visits an expression that may be missing.
func walkOptional(e Expr, visit func(Expr) bool) {
	if e != nil {
		walkExpr(e, visit)
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
		if e.Get != nil {
			walkGet(e.Get, visit)
		}
	case *IsNull:
		walkExpr(e.X, visit)
	case *Case:
		walkCase(e, visit)
	case *Call:
		walkExprs(e.Args, visit)
		walkOptional(e.By, visit)
	}
}

func walkCase(c *Case, visit func(Expr) bool) {
	for _, w := range c.Whens {
		walkExpr(w.Cond, visit)
		walkExpr(w.Then, visit)
	}
	walkOptional(c.Else, visit)
}
