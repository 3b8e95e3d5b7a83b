package fenec_test

import (
	"slices"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// checkLookup checks a chain of lookups beneath rows of t.
func (q *asked) checkLookup(t *table, l *ql.Lookup) error {
	child, err := q.w.table(l.Collection.Text)
	if err != nil {
		return err
	}
	key, err := child.typeOf(l.On.Text)
	if err != nil {
		return err
	}
	parent, err := t.typeOf(l.Parent.Text)
	if err != nil {
		return err
	}
	if f := child.field(l.On.Text); f != nil && f.index != "hash" && f.index != "unique" {
		return fenec.ErrQuery
	}
	if key != parent {
		return fenec.ErrType
	}
	if _, err := selectionOf(child, lookupColumns(l)); err != nil {
		return err
	}
	for i := range l.Order {
		if err := child.sortable(&l.Order[i]); err != nil {
			return err
		}
	}
	if out := q.runInners(child, l.Where); out.vague {
		panic(errUnsure)
	} else if out.err != nil {
		return out.err
	}
	if l.Lookup == nil {
		return nil
	}
	return q.checkLookup(child, l.Lookup)
}

// typeOf returns the declared type of a field, "" being the id.
func (t *table) typeOf(name string) (string, error) {
	if name == "" || name == "id" {
		return "int", nil
	}
	f := t.field(name)
	if f == nil {
		return "", fenec.ErrNotFound
	}
	return typeText(&f.Type), nil
}

func lookupColumns(l *ql.Lookup) (columns []ql.Column) {
	for i := range l.Columns {
		columns = append(columns, ql.Column{Expr: &l.Columns[i]})
	}
	return columns
}

// required returns what tells whether a row has the children it must have, or
// nil if it need not have any.
func (q *asked) required(l *ql.Lookup) func(*scope) bool {
	if l == nil || !l.Required {
		return nil
	}
	return func(s *scope) bool {
		child := q.w.cols[l.Collection.Text]
		return len(q.childIDs(child, l, s, picked{where: l.Where})) > 0
	}
}

// childIDs returns the children of the row of a scope that p picks.
func (q *asked) childIDs(child *table, l *ql.Lookup, of *scope, p picked) []int64 {
	parent := of.named(l.Parent.Text)
	deeper := q.required(l.Lookup)
	p.also = func(s *scope) bool {
		v := s.named(l.On.Text)
		return parent != nil && v != nil && equals(v, parent) && (deeper == nil || deeper(s))
	}
	ids, out := q.pick(child, p)
	if out.err != nil {
		panic(errUnsure)
	}
	return ids
}

// named returns the field of that name, "" being the id.
func (s *scope) named(name string) any {
	if name == "" || name == "id" {
		return s.id
	}
	return s.d[name]
}

// children answers the children of the row of a scope.
func (q *asked) children(l *ql.Lookup, of *scope) string {
	child := q.w.cols[l.Collection.Text]
	show, _ := selectionOf(child, lookupColumns(l)) // it has been checked
	ids := q.childIDs(child, l, of, picked{where: l.Where, order: l.Order, limit: l.Limit, offset: l.Offset})
	out := q.rows(child, ids, show, l.Lookup)
	if out.err != nil {
		panic(errUnsure)
	}
	return out.json
}

// checkFacets checks a facet clause.
func checkFacets(t *table, s *ql.Get) error {
	var seen []string
	for i := range s.Facets {
		f := &s.Facets[i]
		if slices.Contains(seen, f.Path.String()) {
			return fenec.ErrQuery
		}
		seen = append(seen, f.Path.String())
		if err := t.has(&f.Path); err != nil {
			return err
		}
		if def := t.field(f.Path.Field); f.Ranges != nil && def != nil && !countable(&def.Type) {
			return fenec.ErrQuery
		}
		if _, ok := withoutTerms(s.Where, f.Path.String()); f.Disjunctive && !ok {
			return fenec.ErrQuery
		}
	}
	return nil
}

// countable reports whether the values of a type may be in ranges.
func countable(t *ql.TypeDef) bool {
	switch t.Kind {
	case ql.TypeInt, ql.TypeFloat, ql.TypeTimestamp, ql.TypeJSON:
		return true
	case ql.TypeList:
		return countable(t.Elem)
	}
	return false
}
