package fenec_test

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// grouped reports whether a get has aggregates.
func grouped(s *ql.Get) bool {
	return len(s.Group) > 0 || s.Having != nil || slices.ContainsFunc(s.Columns, func(c ql.Column) bool { return ql.HasAggregate(c.Expr) })
}

// modelGroup is one group: its keys and its rows in the order of their ids.
type modelGroup struct {
	*asked
	t      *table
	s      *ql.Get
	exprs  []ql.Expr // the keys
	keys   []any
	ids    []int64
	inside bool // having, where columns stand for what they hold
}

func (q *asked) group(t *table, s *ql.Get) outcome {
	rows, out := q.groupRows(t, s)
	if out.err != nil {
		return out
	}
	if s.Count {
		return countOutcome(len(rows))
	}
	for _, c := range s.Columns {
		out.columns = append(out.columns, groupColumn(&c))
	}
	var items []string
	for _, r := range rows {
		var row jsonRow
		for i, v := range r {
			row.add(out.columns[i], jsonOf(v))
		}
		items = append(items, row.String())
	}
	out.rows, out.json = len(rows), listOf(items)
	out.plan = "rows: " + jsonOf(int64(len(rows)))
	return out.require(s.Require, len(rows))
}

// groupRows returns the values of the columns of each group, in order.
func (q *asked) groupRows(t *table, s *ql.Get) ([][]any, outcome) {
	exprs, err := checkGroup(t, s)
	if err != nil {
		return nil, failed(err)
	}
	ids, out := q.pick(t, picked{where: s.Where})
	if out.err != nil {
		return nil, out
	}
	groups, err := q.partition(t, s, exprs, ids)
	if err != nil {
		return nil, outcome{err: err, vague: true}
	}
	type sortable struct {
		g   *modelGroup
		row []any
	}
	var list []sortable
	for _, g := range groups {
		err := g.aggregates()
		if err != nil {
			return nil, outcome{err: err, vague: true}
		}
		ok, row, err := g.columns()
		if err != nil {
			return nil, outcome{err: err, vague: true}
		}
		if ok {
			list = append(list, sortable{g, row})
		}
	}
	slices.SortFunc(list, func(a, b sortable) int {
		for i := range s.Order {
			if sign := a.g.compare(&s.Order[i], a.row, b.row); sign != 0 {
				return sign
			}
		}
		return compareGroupKeys(a.g.keys, b.g.keys)
	})
	var rows [][]any
	for _, x := range page(list, s.Limit, s.Offset) {
		rows = append(rows, x.row)
	}
	return rows, outcome{}
}

func compareGroupKeys(a, b []any) int {
	sign := 0
	for i := range a {
		sign = cmp.Or(sign, compare(a[i], b[i]))
	}
	for i := range a {
		sign = cmp.Or(sign, compareForms(a[i], b[i]))
	}
	return sign
}

// partition makes the groups of rows. Without keys there is one, whatever rows
// there are.
func (q *asked) partition(t *table, s *ql.Get, exprs []ql.Expr, ids []int64) ([]*modelGroup, error) {
	at := map[string]*modelGroup{}
	var groups []*modelGroup
	begin := func(keys []any) *modelGroup {
		g := &modelGroup{asked: q, t: t, s: s, exprs: exprs, keys: keys}
		groups = append(groups, g)
		return g
	}
	if len(exprs) == 0 {
		begin(nil).ids = ids
		return groups, nil
	}
	for _, id := range ids {
		var keys []any
		for _, e := range exprs {
			v, err := (&scope{asked: q, t: t, id: id, d: t.docs[id]}).eval(e)
			if err != nil {
				return nil, err
			}
			keys = append(keys, v)
		}
		form := formOf(keys)
		if at[form] == nil {
			at[form] = begin(keys)
		}
		at[form].ids = append(at[form].ids, id)
	}
	return groups, nil
}

// aggregates computes all aggregates, needed or not: each sees every row.
func (g *modelGroup) aggregates() (err error) {
	exprs := []ql.Expr{}
	for _, c := range g.s.Columns {
		exprs = append(exprs, c.Expr)
	}
	if g.s.Having != nil {
		exprs = append(exprs, g.s.Having)
	}
	for _, e := range exprs {
		ql.Walk(e, func(e ql.Expr) bool {
			if c, ok := e.(*ql.Call); ok && ql.IsAggregate(c.Name) && err == nil {
				_, err = g.aggregate(c)
			}
			return true
		})
	}
	return err
}

// columns returns whether a group passes having, and its columns.
func (g *modelGroup) columns() (ok bool, row []any, err error) {
	s := &scope{asked: g.asked, t: g.t, stands: g.stands}
	if g.s.Having != nil {
		g.inside = true
		v, err := s.eval(g.s.Having)
		if err != nil || !truthy(v) {
			return false, nil, err
		}
		g.inside = false
	}
	for _, c := range g.s.Columns {
		v, err := s.eval(c.Expr)
		if err != nil {
			return false, nil, err
		}
		row = append(row, v)
	}
	return true, row, nil
}

// stands says what a part of an expression over the group stands for.
func (g *modelGroup) stands(e ql.Expr) (any, bool, error) {
	if c, ok := e.(*ql.Call); ok && ql.IsAggregate(c.Name) {
		v, err := g.aggregate(c)
		return v, true, err
	}
	for i, key := range g.exprs {
		if sameText(key, e) {
			return g.keys[i], true, nil
		}
	}
	if p, ok := e.(*ql.Path); ok && g.inside {
		for i := range g.s.Columns {
			if groupColumn(&g.s.Columns[i]) == p.String() {
				g.inside = false
				v, err := (&scope{asked: g.asked, t: g.t, stands: g.stands}).eval(g.s.Columns[i].Expr)
				g.inside = true
				return v, true, err
			}
		}
	}
	return nil, false, nil
}

func sameText(a, b ql.Expr) bool {
	return ql.PrintExpr(a) == ql.PrintExpr(b)
}

func groupColumn(c *ql.Column) string {
	if call, ok := c.Expr.(*ql.Call); ok && c.As.Text == "" {
		return ql.CallName(call)
	}
	if p, ok := c.Expr.(*ql.Path); ok && c.As.Text == "" {
		return p.String()
	}
	return c.As.Text
}

// compare compares two groups by a column.
func (g *modelGroup) compare(k *ql.Key, a, b []any) int {
	at := orderColumn(g.s, k)
	of := g.s.Columns[at].Expr
	if c, ok := of.(*ql.Call); ok && slices.Contains([]string{"min", "max", "first", "last"}, strings.ToLower(c.Name)) {
		of = c.Args[0]
	}
	sign := compareBy(a[at], b[at], cmp.Or(k.Collate, (&scope{t: g.t}).collation(of)))
	if k.Desc {
		return -sign
	}
	return sign
}

// orderColumn returns the column that groups are sorted by, or -1.
func orderColumn(s *ql.Get, k *ql.Key) int {
	var e ql.Expr = &k.Path
	name := k.Path.String()
	if k.Call != nil {
		e, name = k.Call, ql.CallName(k.Call)
	}
	at := slices.IndexFunc(s.Columns, func(c ql.Column) bool { return groupColumn(&c) == name })
	if at < 0 {
		at = slices.IndexFunc(s.Columns, func(c ql.Column) bool { return sameText(c.Expr, e) })
	}
	return at
}

// checkGroup returns the keys of a get with aggregates, or what is wrong with
// it whatever rows there are.
func checkGroup(t *table, s *ql.Get) (keys []ql.Expr, err error) {
	aggregates := slices.ContainsFunc(s.Columns, func(c ql.Column) bool { return ql.HasAggregate(c.Expr) })
	paged := s.Order != nil || s.Limit != nil || s.Offset != nil || s.Require != nil
	if !aggregates || s.Lookup != nil || s.Facets != nil || len(s.Group) == 0 && (s.Count || paged || s.Having != nil) {
		return nil, fenec.ErrQuery
	}
	for _, e := range s.Group {
		if p, ok := e.(*ql.Path); ok {
			for _, c := range s.Columns {
				if c.As.Text == p.String() {
					e = c.Expr
				}
			}
		}
		if ql.HasAggregate(e) {
			return nil, fenec.ErrQuery
		}
		if err := t.hasAll(e); err != nil {
			return nil, err
		}
		keys = append(keys, e)
	}
	names := map[string]bool{}
	for i := range s.Columns {
		name := groupColumn(&s.Columns[i])
		if name == "" || names[name] {
			return nil, fenec.ErrQuery
		}
		names[name] = true
		if err := checkGroupExpr(t, s.Columns[i].Expr, keys, nil); err != nil {
			return nil, err
		}
	}
	if s.Having != nil {
		if err := checkGroupExpr(t, s.Having, keys, names); err != nil {
			return nil, err
		}
	}
	for i := range s.Order {
		if orderColumn(s, &s.Order[i]) < 0 {
			if s.Order[i].Call == nil && t.has(&s.Order[i].Path) != nil {
				return nil, fenec.ErrNotFound
			}
			return nil, fenec.ErrQuery
		}
	}
	return keys, nil
}

// checkGroupExpr checks that an expression over groups reads keys, aggregates
// and the columns of those names.
func checkGroupExpr(t *table, e ql.Expr, keys []ql.Expr, names map[string]bool) (err error) {
	ql.Walk(e, func(e ql.Expr) bool {
		if err != nil || slices.ContainsFunc(keys, func(key ql.Expr) bool { return sameText(key, e) }) {
			return false
		}
		switch e := e.(type) {
		case *ql.Call:
			if ql.IsAggregate(e.Name) {
				err = checkAggregate(t, e)
				return false
			}
		case *ql.Path:
			if names[e.String()] {
				return false
			}
			if err = t.has(e); err == nil {
				err = fenec.ErrQuery
			}
		}
		return true
	})
	return err
}
