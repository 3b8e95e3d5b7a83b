package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// grouping is how a get with aggregates makes its answer of the rows it picks:
// it puts them in groups, of which each gives a row.
//
// Expressions over groups are evaluated with a frame whose Slots hold what the
// group is: first its keys, then its columns, then its aggregates. Only those
// that an expression reads are filled in for it.
type grouping struct {
	names      []string // of the columns
	plan       *plan.Plan
	keys       []*source
	aggregates []aggregate
	columns    []groupExpr
	having     *groupExpr // or nil
	order      []groupOrder
	offset     int64
	limit      int64 // or noLimit
	count      bool  // only how many groups there are is asked for
}

const noLimit = -1

// groupExpr is an expression over a group.
type groupExpr struct {
	x     *expr.Expr
	slots []int // that x reads
}

// grouped reports whether a get answers groups.
func grouped(s *ql.Get) bool {
	return len(s.Group) > 0 || s.Having != nil || anyAggregate(s.Columns)
}

func anyAggregate(columns []ql.Column) bool {
	for i := range columns {
		if columns[i].Expr != nil && ql.HasAggregate(columns[i].Expr) {
			return true
		}
	}
	return false
}

// checkGrouped returns why clauses cannot stand beside groups, as far as that
// is not seen by the grammar.
func checkGrouped(s *ql.Get) error {
	switch {
	case len(s.Group) == 0 && s.Having != nil:
		return fault.New(fault.Query, "having stands beside group only")
	case !anyAggregate(s.Columns):
		return fault.New(fault.Query, "a get with group selects an aggregate, such as count(*)")
	case s.Lookup != nil, s.Facets != nil, s.Near != nil, s.Match != nil:
		return fault.New(fault.Query, "aggregates stand without near, match, lookup and facet")
	}
	paged := s.Order != nil || s.Limit != nil || s.Offset != nil || s.Require != nil
	switch {
	case len(s.Group) == 0 && (s.Count || paged):
		return fault.New(fault.Query, "aggregates without group stand without count, order, limit, offset and require")
	case s.Count && paged:
		return fault.New(fault.Query, "count stands without order, limit, offset and require")
	}
	return nil
}

// group compiles a get with aggregates into g.
func (k *compiler) group(g *get, s *ql.Get) error {
	if err := checkGrouped(s); err != nil {
		return err
	}
	gc := &groupCompiler{c: g.c, outer: g.c.Slots, grouping: &grouping{count: s.Count, limit: noLimit}}
	if err := gc.compile(s); err != nil {
		return err
	}
	if s.Offset != nil {
		gc.offset = *s.Offset
	}
	if s.Limit != nil {
		gc.limit = *s.Limit
	}
	g.groups = gc.grouping
	if err := k.pick(g.level, plan.Clauses{Where: s.Where}); err != nil {
		return err
	}
	gc.plan = g.plan
	return nil
}

// run answers the groups of the rows that job leads to.
func (g *grouping) run(ctx context.Context, job plan.Job) (*Result, error) {
	t, err := g.counted(ctx, job)
	if t == nil && err == nil {
		t = newGroupTable(g, job.Frame)
		err = g.plan.Run(ctx, job, t)
	}
	if err != nil {
		return nil, err
	}
	return t.answer(ctx)
}

// counted finds the groups of a get that does nothing but count rows without
// looking at each of them. It returns nil where that cannot be done.
func (g *grouping) counted(ctx context.Context, job plan.Job) (*groupTable, error) {
	if !g.onlyCounts() {
		return nil, nil
	}
	t := newGroupTable(g, job.Frame)
	if len(g.keys) == 0 {
		n, err := g.plan.Count(ctx, job)
		t.count(0, n)
		return t, err
	}
	if len(g.keys) > 1 || g.keys[0].x != nil {
		return nil, nil
	}
	ok, err := g.plan.CountValues(ctx, job, g.keys[0].field, func(n int64) error {
		at, err := t.group()
		if err == nil {
			t.count(at, n)
		}
		return err
	})
	if !ok {
		t = nil
	}
	return t, err
}

// onlyCounts reports whether all aggregates are count(*).
func (g *grouping) onlyCounts() bool {
	for i := range g.aggregates {
		if !g.aggregates[i].countsRows() {
			return false
		}
	}
	return true
}
