package exec

import (
	"context"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// del is a compiled del.
type del struct {
	c      *expr.Compiler
	plan   *plan.Plan
	frames sync.Pool // of *expr.Frame
}

func compileDel(col *catalog.Collection, s *ql.Del) (*del, error) {
	c := expr.NewCompiler(col)
	p, err := plan.Compile(c, plan.Clauses{Where: s.Where, Order: s.Order, Limit: s.Limit})
	if err != nil {
		return nil, err
	}
	return &del{c: c, plan: p}, nil
}

// Collection returns the definition the statement was compiled for.
func (d *del) Collection() *catalog.Collection { return d.c.Collection() }

// Run carries the statement out.
func (d *del) Run(ctx context.Context, env Env, w *table.Writer) (int, error) {
	f := frame(&d.frames, d.c, env)
	defer release(&d.frames, f)
	ids, err := d.plan.IDs(ctx, f, w, nil)
	if err != nil {
		return 0, err
	}
	for i, id := range ids {
		if err := check(ctx, i); err != nil {
			return 0, err
		}
		if err := w.Delete(id); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}
