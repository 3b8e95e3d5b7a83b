package ql_test

import (
	"fmt"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// get returns a get of one of the forms whose clauses go together.
func (g grower) get() *ql.Get {
	s := &ql.Get{From: g.name(), Where: g.where()}
	switch g.IntN(5) {
	case 0:
		s.Count = true
		if g.maybe(2) {
			s.Facets = g.facets()
		}
		if g.maybe(2) {
			s.Lookup = g.lookups(s.From.Text)
			if s.Lookup != nil {
				s.Lookup.Required = true
			}
		}
	case 1:
		g.grouped(s)
	case 2:
		g.scored(s)
	default:
		g.columns(s)
		s.Order, s.Limit, s.Offset, s.Require = g.order(), g.number(), g.number(), g.number()
		s.Facets, s.Lookup = g.facets(), g.lookups(s.From.Text)
	}
	return s
}

// innerGet returns a get that may stand inside "in".
func (g grower) innerGet() *ql.Get {
	g.inner++
	g.aggregates = false
	s := &ql.Get{From: g.name(), Where: g.where(), Order: g.order(), Limit: g.number()}
	s.Columns = []ql.Column{{Expr: pick[ql.Expr](g, g.field(), g.aggregate(1))}}
	return s
}

func (g grower) columns(s *ql.Get) {
	if s.Star = g.maybe(5); !s.Star {
		s.Columns = several(g, 3, g.column)
	}
}

func (g grower) column() ql.Column {
	c := ql.Column{Expr: g.expr(4)}
	if g.maybe(2) {
		c.As = g.name()
	}
	return c
}

func (g grower) grouped(s *ql.Get) {
	s.Group = append(several(g, 2, func() ql.Expr { return g.expr(2) }), g.expr(2))
	g.aggregates = true
	s.Columns = several(g, 3, g.column)
	if g.maybe(2) {
		s.Having = g.expr(4)
	}
	s.Count = g.maybe(3)
	if !s.Count {
		s.Order, s.Limit, s.Offset, s.Require = g.order(), g.number(), g.number(), g.number()
	}
}

// aggregate returns an aggregate, in which there is no other.
func (g grower) aggregate(depth int) *ql.Call {
	g.aggregates = false
	c := call(pick(g, "count", "Count", "SUM", "avg", "min", "max", "hll_combine", "approx_count_distinct", "HLL_accumulate"))
	switch {
	case len(c.Name) != len("count"):
		c.Args = []ql.Expr{g.expr(depth)}
	case g.maybe(2):
		c.Star = g.maybe(2)
	default:
		c.Distinct, c.Args = true, []ql.Expr{g.expr(depth)}
	}
	if g.maybe(4) {
		c = call(pick(g, "first", "Last"), g.expr(depth))
		if g.maybe(2) {
			c.By = g.expr(depth)
		}
	}
	return c
}

func (g grower) scored(s *ql.Get) {
	g.columns(s)
	page := func() *int64 {
		n := g.Int64N(5001)
		return pick(g, nil, &n)
	}
	candidates := func() *int64 {
		n := 1 + g.Int64N(10000)
		return pick(g, nil, &n)
	}
	s.Limit, s.Offset, s.Require = page(), page(), g.number()
	if g.maybe(3) {
		s.Near = g.near()
		return
	}
	s.Match = &ql.Match{Field: g.name(), Query: g.expr(2)}
	s.Columns = append(s.Columns, g.marks()...)
	switch g.IntN(3) {
	case 0:
		s.Near, s.Fuse = g.near(), &ql.Fuse{K: g.number(), Candidates: candidates()}
	case 1:
		s.Rerank, s.Facets = &ql.Rerank{Field: g.name(), Vector: g.expr(2), Candidates: candidates()}, g.facets()
	}
}

func (g grower) near() *ql.Near {
	ef := 1 + g.Int64N(1000)
	return &ql.Near{Field: g.name(), Vector: g.expr(2), EF: pick(g, nil, &ef), Exact: g.maybe(2)}
}

// marks returns a mark of each kind, of any field.
func (g grower) marks() []ql.Column {
	tag := func() ql.Expr { return pick[ql.Expr](g, g.literal(), &ql.Param{N: 1}) }
	high := &ql.Mark{Kind: ql.MarkHighlight, Field: g.name(), Args: pick(g, nil, []ql.Expr{tag(), tag()})}
	snip := &ql.Mark{Kind: ql.MarkSnippet, Field: g.name(), Words: 1 + g.Int64N(50),
		Args: pick(g, nil, []ql.Expr{tag()}, []ql.Expr{tag(), tag(), tag()})}
	return pick(g, nil, []ql.Column{{Mark: high}}, []ql.Column{{Mark: snip}, {Mark: high}})
}

func (g grower) facets() []ql.Facet {
	list := several(g, 2, func() ql.Facet {
		f := ql.Facet{Path: g.path(), Disjunctive: g.maybe(2)}
		top := 1 + g.Int64N(10000)
		switch g.IntN(3) {
		case 0:
			f.Top = &top
		case 1:
			f.Ranges = []*ql.Literal{integer(-top), decimal(0.5), integer(top)}
		}
		return f
	})
	seen := map[string]bool{}
	list = slices.DeleteFunc(list, func(f ql.Facet) bool {
		twice := seen[f.Path.String()]
		seen[f.Path.String()] = true
		return twice
	})
	return list
}

// lookups returns a chain of lookups below a collection, or nil.
func (g grower) lookups(root string) *ql.Lookup {
	g.aggregates = false
	var top *ql.Lookup
	next := &top
	for i := range g.IntN(4) {
		l := &ql.Lookup{Collection: name(fmt.Sprintf("%s%d", root, i)), On: g.name(), Star: g.maybe(3),
			Where: g.where(), Order: g.order(), Limit: g.number(), Offset: g.number(), Required: g.maybe(2)}
		if g.maybe(2) {
			l.Parent = g.name()
		}
		if !l.Star {
			l.Columns = several(g, 2, g.path)
		}
		*next, next = l, &l.Lookup
	}
	return top
}

func (g grower) returning() *ql.Returning {
	return pick(g, nil, &ql.Returning{Star: true}, &ql.Returning{Paths: append(several(g, 2, g.path), g.path())})
}
