package exec

import (
	"context"
	"fmt"
	"sync"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// set is a compiled set.
type set struct {
	c     *expr.Compiler
	types []value.Type
	plan  *plan.Plan
	pairs []change
	runs  sync.Pool // of *setRun
}

// change is a pair of a set. One whose place is not there has an error, which
// the first row that is to be changed raises.
type change struct {
	pair
	err error
}

func compileSet(col *catalog.Collection, s *ql.Set) (*set, error) {
	c := expr.NewCompiler(col)
	out := &set{c: c, types: fieldTypes(col)}
	for i := range s.Pairs {
		x, err := c.Compile(s.Pairs[i].Value, expr.Late)
		if err != nil {
			return nil, err
		}
		at, missing := findPlace(col, &s.Pairs[i].Path)
		if missing == nil && at.at == idColumn {
			missing = fault.New(fault.NotFound, "field \"id\" of collection %q cannot be set", col.Name)
		}
		out.pairs = append(out.pairs, change{pair{at, x}, missing})
	}
	var err error
	out.plan, err = plan.Compile(c, plan.Clauses{Where: s.Where, Order: s.Order, Limit: s.Limit})
	return out, err
}

// Collection returns the definition the statement was compiled for.
func (s *set) Collection() *catalog.Collection { return s.c.Collection() }

// setRun is one run of a set.
type setRun struct {
	*set
	f   expr.Frame
	doc document
}

// Run carries the statement out.
func (s *set) Run(ctx context.Context, env Env, w *table.Writer) (int, error) {
	r, ok := s.runs.Get().(*setRun)
	if !ok {
		r = &setRun{set: s}
	}
	defer r.release()
	r.f.Reset(s.c, env.Params, env.Now)
	ids, err := s.plan.IDs(ctx, &r.f, w, nil)
	if err != nil {
		return 0, err
	}
	for i, id := range ids {
		if err := check(ctx, i); err != nil {
			return 0, err
		}
		if err := r.row(w, id); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

func (r *setRun) release() {
	r.f.Release()
	r.doc.release()
	r.runs.Put(r)
}

// row changes one row.
func (r *setRun) row(w *table.Writer, id uint64) error {
	old, err := w.Get(id)
	if err != nil {
		return err
	}
	if old == nil {
		return fmt.Errorf("%w: collection %q has no id %d, where an index leads", table.ErrCorrupt, r.Collection().Name, id)
	}
	if err := r.f.Stand(id, old); err != nil {
		return err
	}
	r.doc.begin(r.Collection(), r.types)
	for i, t := range r.types {
		if r.doc.vals[i], err = r.f.Row().View(i, t); err != nil {
			return err
		}
	}
	for i := range r.pairs {
		p := &r.pairs[i]
		if p.err != nil {
			return p.err
		}
		v, err := p.x.Eval(&r.f)
		if err != nil {
			return err
		}
		if err := r.doc.put(p.place, v); err != nil {
			return err
		}
	}
	if err := r.doc.fit(); err != nil {
		return err
	}
	return w.Put(id, r.doc.encode())
}
