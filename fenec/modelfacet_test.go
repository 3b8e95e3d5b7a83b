package fenec_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// withoutTerms returns a filter without the terms that read only the path; not
// ok if one of them reads something else besides.
func withoutTerms(where ql.Expr, path string) (out ql.Expr, ok bool) {
	if where == nil {
		return nil, true
	}
	if b, is := where.(*ql.Binary); is && b.Op == ql.OpAnd {
		left, ok1 := withoutTerms(b.Left, path)
		right, ok2 := withoutTerms(b.Right, path)
		switch {
		case left == nil:
			return right, ok1 && ok2
		case right == nil:
			return left, ok1 && ok2
		}
		return &ql.Binary{Op: ql.OpAnd, Left: left, Right: right}, ok1 && ok2
	}
	reads := map[string]bool{}
	readsOf(where, reads)
	if !reads[path] {
		return where, true
	}
	return nil, len(reads) == 1
}

// readsOf collects what an expression reads of its row.
func readsOf(e ql.Expr, reads map[string]bool) {
	ql.Walk(e, func(e ql.Expr) bool {
		switch e := e.(type) {
		case *ql.Path:
			reads[e.String()] = true
		case *ql.Call:
			reads["expired()"] = reads["expired()"] || e.Name == "expired"
		case *ql.In:
			if e.Get != nil {
				readsOf(e.X, reads)
				return false
			}
		}
		return true
	})
	if !reads["expired()"] {
		delete(reads, "expired()")
	}
}

// facets adds what is counted to an answer.
func (q *asked) facets(t *table, s *ql.Get, p picked, out outcome) outcome {
	if len(s.Facets) == 0 || out.err != nil {
		return out
	}
	var row jsonRow
	for i := range s.Facets {
		f := &s.Facets[i]
		rows := picked{where: p.where, also: p.also}
		if f.Disjunctive {
			rows.where, _ = withoutTerms(s.Where, f.Path.String())
		}
		ids, failure := q.pick(t, rows)
		if failure.err != nil {
			return failure
		}
		counts, err := q.count(t, f, ids)
		if err != nil {
			return outcome{err: err, vague: true}
		}
		row.add(f.Path.String(), listOf(counts))
	}
	out.json = `{"rows":` + out.json + `,"facets":` + row.String() + `}`
	return out
}

// count counts one facet over rows.
func (q *asked) count(t *table, f *ql.Facet, ids []int64) ([]string, error) {
	counts := map[string]int{}
	values := map[string]any{}
	for i := range max(len(f.Ranges)-1, 0) {
		v := []any{literalValue(f.Ranges[i]), literalValue(f.Ranges[i+1])}
		counts[formOf(v)], values[formOf(v)] = 0, v
	}
	for _, id := range ids {
		v, err := (&scope{asked: q, t: t, id: id, d: t.docs[id]}).path(&f.Path)
		if err != nil {
			return nil, err
		}
		once := map[string]bool{}
		for _, item := range facetValues(t.field(f.Path.Field), v) {
			if item = facetEntry(f, item); item == nil && f.Ranges != nil || once[formOf(item)] {
				continue
			}
			form := formOf(item)
			once[form], values[form] = true, item
			counts[form]++
		}
	}
	return facetAnswer(f, counts, values), nil
}

// facetValues returns what a value of a field counts as: a list as its elements,
// unless it is a point.
func facetValues(f *modelField, v any) []any {
	if list, ok := v.([]any); ok && f.Type.Kind != ql.TypeGeo {
		return list
	}
	return []any{v}
}

// facetEntry returns the range that a value belongs to, nil for none, or without
// ranges the value.
func facetEntry(f *ql.Facet, v any) any {
	if f.Ranges == nil {
		return v
	}
	for i := range len(f.Ranges) - 1 {
		from, to := literalValue(f.Ranges[i]), literalValue(f.Ranges[i+1])
		if rank(v) == rank(from) && compare(v, from) >= 0 && compare(v, to) < 0 {
			return []any{from, to}
		}
	}
	return nil
}

// facetAnswer returns the entries of a facet in order.
func facetAnswer(f *ql.Facet, counts map[string]int, values map[string]any) []string {
	forms := slices.Collect(maps.Keys(counts))
	slices.SortFunc(forms, func(a, b string) int {
		byCount := cmp.Compare(counts[b], counts[a])
		if f.Ranges != nil {
			byCount = 0
		}
		return cmp.Or(byCount, compare(values[a], values[b]), compareForms(values[a], values[b]))
	})
	if f.Top != nil {
		forms = page(forms, f.Top, nil)
	}
	var out []string
	for _, form := range forms {
		out = append(out, jsonRow{`"value":` + jsonOf(values[form]), fmt.Sprintf(`"count":%d`, counts[form])}.String())
	}
	return out
}

// formOf returns a text that is the same for values of one kind and content.
func formOf(v any) string {
	switch x := v.(type) {
	case []any:
		return jsonList(len(x), func(i int) string { return formOf(x[i]) })
	case map[string]any:
		var row jsonRow
		for _, k := range slices.Sorted(maps.Keys(x)) {
			row.add(k, formOf(x[k]))
		}
		return row.String()
	}
	return fmt.Sprintf("%T %s", v, jsonOf(v))
}

// compareForms puts values that are equal but of two kinds in order: an int
// before a float.
func compareForms(a, b any) int {
	_, aFloat := a.(float64)
	_, bFloat := b.(float64)
	return cmp.Compare(number(aFloat), number(bFloat))
}
