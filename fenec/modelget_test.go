package fenec_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// picked is the clauses that pick rows.
type picked struct {
	where         ql.Expr
	order         []ql.Key
	limit, offset *int64
	also          func(*scope) bool // what else a row must meet, or nil
}

// pick returns the ids of the rows that p picks, in order. The outcome says why
// there are none.
func (q *asked) pick(t *table, p picked) ([]int64, outcome) {
	for i := range p.order {
		if err := t.sortable(&p.order[i]); err != nil {
			return nil, failed(err)
		}
	}
	if p.where != nil && namesExpired(p.where) && t.ttl() == nil {
		return nil, failed(fenec.ErrQuery)
	}
	if out := q.runInners(t, p.where); out.err != nil {
		return nil, out
	}
	var ids []int64
	for _, id := range t.ids() {
		ok, err := q.meets(t, id, &p)
		if err != nil {
			return nil, outcome{err: err, vague: true}
		}
		if ok {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b int64) int { return q.compareRows(t, a, b, p.order) })
	return page(ids, p.limit, p.offset), outcome{}
}

// meets reports whether p picks a row, its page aside.
func (q *asked) meets(t *table, id int64, p *picked) (bool, error) {
	s := &scope{asked: q, t: t, id: id, d: t.docs[id]}
	if (p.where == nil || !namesExpired(p.where)) && q.w.expired(t, s.d) {
		return false, nil
	}
	if p.where != nil {
		v, err := s.eval(p.where)
		if err != nil || !truthy(v) {
			return false, err
		}
	}
	return p.also == nil || p.also(s), nil
}

// namesExpired reports whether a filter is about expired rows.
func namesExpired(e ql.Expr) bool {
	found := false
	ql.Walk(e, func(e ql.Expr) bool {
		c, ok := e.(*ql.Call)
		found = found || ok && c.Name == "expired"
		in, ok := e.(*ql.In)
		return !ok || in.Get == nil
	})
	return found
}

// sortable checks that rows can be sorted by a key.
func (t *table) sortable(k *ql.Key) error {
	if k.Call != nil {
		return fenec.ErrQuery
	}
	if err := t.has(&k.Path); err != nil {
		return err
	}
	if k.Collate != "" && !t.collatable(&k.Path) {
		return fenec.ErrQuery
	}
	return nil
}

func (t *table) collatable(p *ql.Path) bool {
	f := t.field(p.Field)
	return f != nil && (f.Type.Kind == ql.TypeText || f.Type.Kind == ql.TypeList && f.Type.Elem.Kind == ql.TypeText)
}

func (q *asked) compareRows(t *table, a, b int64, order []ql.Key) int {
	x, y := &scope{asked: q, t: t, id: a, d: t.docs[a]}, &scope{asked: q, t: t, id: b, d: t.docs[b]}
	for i := range order {
		k := &order[i]
		v, _ := x.path(&k.Path)
		w, _ := y.path(&k.Path)
		sign := compareBy(v, w, cmp.Or(k.Collate, x.collation(&k.Path)))
		if sign != 0 && k.Desc {
			return -sign
		}
		if sign != 0 {
			return sign
		}
	}
	return 0
}

func page[T any](list []T, limit, offset *int64) []T {
	if offset != nil {
		list = list[min(*offset, int64(len(list))):]
	}
	if limit != nil {
		list = list[:min(*limit, int64(len(list)))]
	}
	return list
}

// selection is a select list: what is computed of each row.
type selection struct {
	t     *table
	names []string
	exprs []ql.Expr
}

// selectionOf returns a select list; an empty one stands for all fields.
func selectionOf(t *table, columns []ql.Column) (*selection, error) {
	s := &selection{t: t}
	if len(columns) == 0 {
		s.add("id", &ql.Path{Field: "id"})
		for _, f := range t.fields {
			s.add(f.Name.Text, &ql.Path{Field: f.Name.Text})
		}
		return s, nil
	}
	for _, c := range columns {
		if err := t.hasAll(c.Expr); err != nil {
			return nil, err
		}
		name := c.As.Text
		if name == "" {
			p, ok := c.Expr.(*ql.Path)
			if !ok {
				return nil, fenec.ErrQuery
			}
			name = p.String()
		}
		at := slices.Index(s.names, name)
		switch {
		case at < 0:
			s.add(name, c.Expr)
		case !samePath(s.exprs[at], c.Expr):
			return nil, fenec.ErrQuery
		}
	}
	return s, nil
}

func (s *selection) add(name string, e ql.Expr) {
	s.names, s.exprs = append(s.names, name), append(s.exprs, e)
}

func samePath(a, b ql.Expr) bool {
	p, ok := a.(*ql.Path)
	q, ok2 := b.(*ql.Path)
	return ok && ok2 && p.String() == q.String()
}

// hasAll checks that the fields in an expression are there.
func (t *table) hasAll(e ql.Expr) (err error) {
	ql.Walk(e, func(e ql.Expr) bool {
		if p, ok := e.(*ql.Path); ok && err == nil {
			err = t.has(p)
		}
		return true
	})
	return err
}

// row returns the columns of the row of a scope.
func (s *selection) row(of *scope) (jsonRow, error) {
	var row jsonRow
	for i, e := range s.exprs {
		v, err := of.eval(e)
		if err != nil {
			return nil, err
		}
		row.add(s.names[i], jsonOf(v))
	}
	return row, nil
}

func (q *asked) get(s *ql.Get) outcome {
	t, err := q.w.table(s.From.Text)
	if err != nil {
		return failed(err)
	}
	if grouped(s) {
		return q.group(t, s)
	}
	show, err := selectionOf(t, s.Columns)
	if err != nil {
		return failed(err)
	}
	if ranks(s) {
		return q.ranked(t, s, show)
	}
	clauses := picked{where: s.Where, order: s.Order, limit: s.Limit, offset: s.Offset}
	if s.Lookup != nil {
		if err := q.checkLookup(t, s.Lookup); err != nil {
			return failed(err)
		}
		clauses.also = q.required(s.Lookup)
	}
	if err := checkFacets(t, s); err != nil {
		return failed(err)
	}
	ids, out := q.pick(t, clauses)
	if out.err != nil {
		return out
	}
	if s.Count {
		out = countOutcome(len(ids))
	} else if out = q.rows(t, ids, show, s.Lookup); out.err != nil {
		return out
	}
	return q.facets(t, s, clauses, out.require(s.Require, out.rows))
}

func countOutcome(n int) outcome {
	return outcome{columns: []string{"count"}, rows: 1, json: fmt.Sprintf(`[{"count":%d}]`, n), plan: fmt.Sprintf("count: %d", n)}
}

// rows answers rows.
func (q *asked) rows(t *table, ids []int64, show *selection, l *ql.Lookup) outcome {
	out := outcome{columns: show.names, rows: len(ids), plan: fmt.Sprintf("rows: %d", len(ids))}
	if l != nil {
		out.columns = append(slices.Clip(show.names), l.Collection.Text)
	}
	var items []string
	for _, id := range ids {
		of := &scope{asked: q, t: t, id: id, d: t.docs[id]}
		row, err := show.row(of)
		if err != nil {
			return failed(err)
		}
		if l != nil {
			row.add(l.Collection.Text, q.children(l, of))
		}
		items = append(items, row.String())
	}
	out.json = listOf(items)
	return out
}

// explain answers the plan, of which the last row is known.
func (q *asked) explain(s *ql.Explain) outcome {
	out := q.get(s.Get)
	return outcome{err: out.err, vague: out.vague, plan: out.plan}
}

// runInners runs the gets within a filter, whatever rows there are.
func (q *asked) runInners(t *table, where ql.Expr) (out outcome) {
	if where == nil {
		return out
	}
	ql.Walk(where, func(e ql.Expr) bool {
		in, ok := e.(*ql.In)
		if !ok || in.Get == nil || out.err != nil {
			return out.err == nil
		}
		_, out = (&scope{asked: q, t: t}).inner(in.Get)
		return false
	})
	return out
}

// inner returns the values of a get within an expression, without nulls.
func (s *scope) inner(g *ql.Get) ([]any, outcome) {
	if values, ok := s.inners[g]; ok {
		return values, outcome{}
	}
	t, err := s.w.table(g.From.Text)
	if err != nil {
		return nil, failed(err)
	}
	var values []any
	if grouped(g) {
		x, out := s.groupRows(t, g)
		if out.err != nil {
			return nil, out
		}
		for _, r := range x {
			values = append(values, r[0])
		}
	} else {
		if err := t.hasAll(g.Columns[0].Expr); err != nil {
			return nil, failed(err)
		}
		ids, out := s.innerRows(t, g)
		if out.err != nil {
			return nil, out
		}
		for _, id := range ids {
			v, err := (&scope{asked: s.asked, t: t, id: id, d: t.docs[id]}).eval(g.Columns[0].Expr)
			if err != nil {
				return nil, failed(err)
			}
			values = append(values, v)
		}
	}
	values = slices.DeleteFunc(values, func(v any) bool { return v == nil })
	s.inners[g] = values
	return values, outcome{}
}

// innerRows returns the rows of a get within an expression.
func (q *asked) innerRows(t *table, g *ql.Get) (ids []int64, out outcome) {
	if !ranks(g) {
		return q.pick(t, picked{where: g.Where, order: g.Order, limit: g.Limit, offset: g.Offset})
	}
	hits, out := q.rank(t, g)
	for _, h := range hits {
		ids = append(ids, h.id)
	}
	return ids, out
}
