package rules

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// pinsOf returns the values that a condition requires of fields: those that its
// terms, joined by "and", say are equal to a claim or a constant. claims are those
// of the parameters. Of two for one field the first counts: no document meets both.
func pinsOf(e ql.Expr, claims []string) []pin {
	b, ok := e.(*ql.Binary)
	if !ok {
		return nil
	}
	switch b.Op {
	case ql.OpAnd:
		out := pinsOf(b.Left, claims)
		for _, p := range pinsOf(b.Right, claims) {
			if !slices.ContainsFunc(out, func(q pin) bool { return q.field == p.field }) {
				out = append(out, p)
			}
		}
		return out
	case ql.OpEq:
		if p, ok := pinOf(b.Left, b.Right, claims); ok {
			return []pin{p}
		}
		if p, ok := pinOf(b.Right, b.Left, claims); ok {
			return []pin{p}
		}
	}
	return nil
}

func pinOf(field, to ql.Expr, claims []string) (pin, bool) {
	path, ok := field.(*ql.Path)
	if !ok || len(path.Keys) > 0 || path.Field == id {
		return pin{}, false
	}
	switch to := to.(type) {
	case *ql.Param:
		return pin{field: path.Field, claim: claims[to.N-1]}, true
	case *ql.Literal:
		return pin{field: path.Field, text: ql.PrintExpr(to)}, to.Kind != ql.Null
	case *ql.List, *ql.Object:
		return pin{field: path.Field, text: ql.PrintExpr(to)}, true
	}
	return pin{}, false
}

// fill returns what rules that let insert fill in: what all of them pin. A rule
// without a filter pins nothing.
func fill(rules []*rule, places *places) map[string]string {
	if len(rules) == 0 || rules[0].filter == nil {
		return nil
	}
	out := map[string]string{}
	for _, p := range rules[0].filter.pins {
		if slices.ContainsFunc(rules, func(r *rule) bool { return !r.pins(p) }) {
			continue
		}
		out[p.field] = p.text
		if p.claim != "" {
			out[p.field] = string(places.appendOne(nil, p.claim))
		}
	}
	return out
}

func (r *rule) pins(p pin) bool { return r.filter != nil && slices.Contains(r.filter.pins, p) }
