package exec

import (
	"context"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// get is a compiled get.
type get struct {
	c       *expr.Compiler
	plan    *plan.Plan
	columns *selection
	count   bool
	frames  sync.Pool // of *expr.Frame
}

func compileGet(col *catalog.Collection, s *ql.Get) (*get, error) {
	g := &get{c: expr.NewCompiler(col), count: s.Count}
	var err error
	if g.columns, err = compileSelection(g.c, s); err != nil {
		return nil, err
	}
	g.plan, err = plan.Compile(g.c, plan.Clauses{
		Where: s.Where, Order: s.Order, Offset: s.Offset, Limit: s.Limit,
	})
	if err != nil {
		return nil, err
	}
	if g.count && (s.Star || len(s.Columns) > 0 || len(s.Order) > 0 || s.Limit != nil || s.Offset != nil) {
		return nil, fault.New(fault.Query, "count stands without select, order, limit and offset")
	}
	return g, nil
}

// Collection returns the definition the statement was compiled for.
func (g *get) Collection() *catalog.Collection { return g.c.Collection() }

// Run carries the statement out.
func (g *get) Run(ctx context.Context, env Env, t plan.Table) (*Result, error) {
	return g.run(ctx, env, t, nil)
}

func (g *get) run(ctx context.Context, env Env, t plan.Table, tr *plan.Trace) (*Result, error) {
	f := frame(&g.frames, g.c, env)
	defer release(&g.frames, f)
	if g.count {
		n, err := g.plan.Count(ctx, f, t, tr)
		if err != nil {
			return nil, err
		}
		return countResult(n), nil
	}
	res := &Result{columns: g.columns.columns, names: g.columns.names}
	return res, g.rows(ctx, f, t, tr, res)
}

// rows finds the rows of a result.
func (g *get) rows(ctx context.Context, f *expr.Frame, t plan.Table, tr *plan.Trace, res *Result) error {
	switch {
	case g.columns.items == nil:
		return g.plan.Run(ctx, f, t, tr, res.addWhole)
	case len(g.columns.items) == 0:
		ids, err := g.plan.IDs(ctx, f, t, tr)
		res.addIDs(ids)
		return err
	}
	p := projector{selection: g.columns, f: f, res: res}
	return g.plan.Run(ctx, f, t, tr, p.add)
}

// frame returns a frame for one run, from those of earlier ones if there is
// any.
func frame(pool *sync.Pool, c *expr.Compiler, env Env) *expr.Frame {
	f, ok := pool.Get().(*expr.Frame)
	if !ok {
		f = new(expr.Frame)
	}
	f.Reset(c, env.Params, env.Now)
	return f
}

func release(pool *sync.Pool, f *expr.Frame) {
	f.Release()
	pool.Put(f)
}

// explain is a compiled explain.
type explain struct{ *get }

func compileExplain(col *catalog.Collection, s *ql.Explain) (*explain, error) {
	g, err := compileGet(col, s.Get)
	if err != nil {
		return nil, err
	}
	return &explain{g}, nil
}

// Run carries out the get and tells how.
func (x *explain) Run(ctx context.Context, env Env, t plan.Table) (*Result, error) {
	tr := plan.NewTrace()
	res, err := x.get.run(ctx, env, t, tr)
	if err != nil {
		return nil, err
	}
	lines := []string{"filter: " + tr.Filter()}
	if x.count {
		n, err := res.Value(0, 0)
		if err != nil {
			return nil, err
		}
		lines = append(lines, "count: "+n.String())
	} else {
		lines = append(lines, "order: "+tr.Order(), "rows: "+value.Int(int64(res.Len())).String())
	}
	return textResult("plan", lines), nil
}
