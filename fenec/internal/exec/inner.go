package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// maxInner is the most distinct values that a get within an expression may
// give.
const maxInner = 100_000

// inner compiles a get within an expression.
func (k *compiler) inner(s *ql.Get) (*get, error) {
	if s.Count || s.Lookup != nil || s.Require != nil || len(s.Facets) > 0 {
		return nil, fault.New(fault.Query, "a get after in stands without count, lookup, require and facet")
	}
	g, err := k.get(s)
	if err != nil {
		return nil, err
	}
	if n := len(g.names()); n != 1 {
		return nil, fault.New(fault.Query, "a get after in gives one column, not %d", n)
	}
	return g, nil
}

// values runs a get of one column and returns what it holds, nulls aside.
func (g *get) values(ctx context.Context, env *Env) (*expr.Values, error) {
	own := *env
	own.Into = nil // which is for the get around it
	own.trace = env.trace.Step(plan.StepSubquery, g.names()[0]+" from "+g.col.Name)
	res, err := g.run(ctx, &own)
	if err != nil {
		return nil, err
	}
	out := new(expr.Values)
	for i := range res.Len() {
		v, err := res.Value(i, 0)
		if err != nil {
			return nil, err
		}
		if !v.IsNull() {
			out.Add(v)
		}
		if out.Len() > maxInner {
			return nil, fault.New(fault.Query, "a get after in gives more than %d values", maxInner)
		}
	}
	return out, nil
}
