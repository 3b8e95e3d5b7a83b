package exec

import (
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// facets is a compiled facet clause.
type facets struct {
	list   []facet
	passes []facetPass
}

// facet is one field, or place in json, whose values are counted.
type facet struct {
	name   string
	of     *source
	top    int64         // how many values are answered; 0 for all
	bounds []value.Value // of ranges, or nil
}

// facetPass is a walk over the rows of one filter, for some of the facets.
type facetPass struct {
	plan   *plan.Plan
	facets []int
}

// facets compiles the facet clause of s, nil if there is none. Facets are
// counted in one pass over the rows, but for those that are disjunctive: these
// have filters of their own.
func (k *compiler) facets(l *level, s *ql.Get) (*facets, error) {
	if len(s.Facets) == 0 {
		return nil, nil
	}
	out := new(facets)
	var shared []int
	for i := range s.Facets {
		def := &s.Facets[i]
		if err := out.add(l.c, def); err != nil {
			return nil, err
		}
		if !def.Disjunctive {
			shared = append(shared, i)
			continue
		}
		where, err := withoutTerms(s.Where, def.Path.String())
		if err != nil {
			return nil, err
		}
		if err := out.pass(k, l, where, i); err != nil {
			return nil, err
		}
	}
	if shared == nil {
		return out, nil
	}
	return out, out.pass(k, l, s.Where, shared...)
}

// add compiles a facet.
func (x *facets) add(c *expr.Compiler, def *ql.Facet) error {
	f := facet{name: def.Path.String()}
	for i := range x.list {
		if x.list[i].name == f.name {
			return fault.New(fault.Query, "facet %s stands twice", f.name)
		}
	}
	var err error
	if f.of, err = compileSource(c, &def.Path); err != nil {
		return err
	}
	if def.Top != nil {
		f.top = *def.Top
	}
	for _, b := range def.Ranges {
		f.bounds = append(f.bounds, number(b))
	}
	if f.bounds != nil && !f.of.holdsNumbers() {
		return fault.New(fault.Query, "facet %s: ranges are of numbers, not of a field of type %s", f.name, f.of.typ)
	}
	x.list = append(x.list, f)
	return nil
}

func number(l *ql.Literal) value.Value {
	if l.Kind == ql.Int {
		return value.Int(l.Int)
	}
	return value.Float(l.Float)
}

// holdsNumbers reports whether values may be numbers or lists of them.
func (s *source) holdsNumbers() bool {
	switch s.typ.Base() {
	case value.BaseInt, value.BaseFloat, value.BaseTimestamp, value.BaseJSON:
		return true
	}
	return s.typ == (value.Type{})
}

// pass adds a pass over the rows that a filter leaves.
func (x *facets) pass(k *compiler, l *level, where ql.Expr, facets ...int) error {
	p, err := k.plan(l, plan.Clauses{Where: where})
	x.passes = append(x.passes, facetPass{p, facets})
	return err
}

// withoutTerms returns a filter without those of its terms joined by and that
// read nothing but the given path.
func withoutTerms(where ql.Expr, path string) (ql.Expr, error) {
	if b, ok := where.(*ql.Binary); ok && b.Op == ql.OpAnd {
		left, err := withoutTerms(b.Left, path)
		if err != nil {
			return nil, err
		}
		right, err := withoutTerms(b.Right, path)
		if err != nil || left == nil {
			return right, err
		}
		return expr.Both(left, right), nil
	}
	if where == nil {
		return nil, nil
	}
	reads := pathsOf(where)
	switch {
	case !slices.Contains(reads, path):
		return where, nil
	case slices.ContainsFunc(reads, func(other string) bool { return other != path }):
		return nil, fault.New(fault.Query, "facet %s disjunctive: a term of the filter reads other fields beside it", path)
	}
	return nil, nil
}

// pathsOf returns what an expression reads of a row, other than by gets within
// it.
func pathsOf(e ql.Expr) []string {
	var paths []string
	ql.Walk(e, func(e ql.Expr) bool {
		switch e := e.(type) {
		case *ql.Path:
			paths = append(paths, e.String())
		case *ql.Call:
			if strings.EqualFold(e.Name, "expired") {
				paths = append(paths, ql.CallName(e))
			}
		case *ql.In:
			if e.Get != nil {
				paths = append(paths, pathsOf(e.X)...)
				return false
			}
		}
		return true
	})
	return paths
}

// run counts all facets over the rows that walk gives of a plan, with job's frame
// standing at each.
func (x *facets) run(job plan.Job, walk func(p *plan.Plan, visit plan.VisitFunc) error) ([]FacetCounts, error) {
	out := make([]FacetCounts, len(x.list))
	for _, p := range x.passes {
		counters := make([]facetCounter, len(p.facets))
		for i, at := range p.facets {
			counters[i] = x.list[at].counter()
		}
		err := walk(p.plan, func(plan.Row) error {
			for _, c := range counters {
				if err := c.add(job.Frame); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i, at := range p.facets {
			out[at] = FacetCounts{x.list[at].name, counters[i].counts()}
		}
	}
	return out, nil
}
