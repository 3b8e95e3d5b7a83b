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
	compiled
	*level
	types     []value.Type
	pairs     []change
	updates   *updates // of a guard, else nil
	returning *returning
	require   *int64
	runs      sync.Pool // of *setRun
}

// change is a pair of a set. One whose place is not there has an error, which
// the first row that is to be changed raises.
type change struct {
	pair
	err error
}

func (k *compiler) set(s *ql.Set) (*set, error) {
	l, err := k.level(s.Name.Text, toUpdate)
	if err != nil {
		return nil, err
	}
	out := &set{level: l, types: fieldTypes(l.col), require: s.Require}
	if out.returning, err = k.returning(l, s.Returning); err != nil {
		return nil, err
	}
	if out.pairs, err = compileChanges(l.c, s.Pairs); err != nil {
		return nil, err
	}
	var admitted ql.Expr
	if out.updates, admitted, err = k.updates(l); err != nil {
		return nil, err
	}
	return out, k.pick(l, plan.Clauses{Imposed: admitted, Where: s.Where, Order: s.Order, Limit: s.Limit})
}

// compileChanges compiles the pairs of a set.
func compileChanges(c *expr.Compiler, d ql.Document) ([]change, error) {
	pairs := make([]change, len(d))
	for i := range d {
		x, err := c.Compile(d[i].Value, expr.Late)
		if err != nil {
			return nil, err
		}
		col := c.Collection()
		at, missing := findPlace(col, &d[i].Path)
		if missing == nil && at.at == idColumn {
			missing = fault.New(fault.NotFound, "field \"id\" of collection %q cannot be set", col.Name)
		}
		pairs[i] = change{pair{at, x}, missing}
	}
	return pairs, nil
}

// setRun is one run of a set.
type setRun struct {
	*set
	f   expr.Frame
	doc document
}

// Run carries the statement out.
func (s *set) Run(ctx context.Context, env Env, tx *table.Tx) (Outcome, error) {
	r, ok := s.runs.Get().(*setRun)
	if !ok {
		r = &setRun{set: s}
	}
	defer r.release()
	r.f.Reset(s.c, env.Params, env.Now)
	if err := s.prepare(ctx, &env, &r.f); err != nil {
		return Outcome{}, err
	}
	ids, err := s.plan.IDs(ctx, s.job(&env, &r.f, nil))
	if err != nil {
		return Outcome{}, err
	}
	w := tx.Writer(s.col)
	w.Now = env.Now
	out, written := s.returning.begin(&r.f), 0
	for i, id := range ids {
		if err := check(ctx, i); err != nil {
			return Outcome{}, err
		}
		n, err := r.row(w, id, out)
		if err != nil {
			return Outcome{}, err
		}
		written += n
	}
	return Outcome{Affected: written, Rows: out.rows()}, met(s.require, written, "written")
}

func (r *setRun) release() {
	r.f.Release()
	r.doc.release()
	r.runs.Put(r)
}

// row changes one row and returns how many that are: 1, or 0 for one that was
// expired and has made way for another that took its unique value.
func (r *setRun) row(w *table.Writer, id uint64, out answer) (int, error) {
	old, err := w.TxReader.Get(id) // it may be expired, when that is what was asked for
	if err != nil {
		return 0, err
	}
	if old == nil {
		return 0, missing(r.col, id)
	}
	after, err := r.doc.changed(r.col, r.types, &r.f, id, old, r.pairs)
	if err != nil {
		return 0, err
	}
	if err := r.updates.check(&r.f, w, id, old, after); err != nil {
		return 0, err
	}
	if err := w.Replace(id, after); err != nil {
		return 0, err
	}
	return 1, out.show(id, after)
}

// missing returns why a picked row may not be missing, if it may not.
func missing(c *catalog.Collection, id uint64) error {
	if c.TTL() != nil {
		return nil
	}
	return fmt.Errorf("%w: collection %q has no id %d, where an index leads", table.ErrCorrupt, c.Name, id)
}

// changed returns the row old, which has that id, changed by pairs. It makes f
// stand at old. The result is good until the next call.
func (d *document) changed(c *catalog.Collection, types []value.Type, f *expr.Frame, id uint64, old []byte, pairs []change) ([]byte, error) {
	if err := f.Stand(id, old); err != nil {
		return nil, err
	}
	d.begin(c, types)
	for i, t := range types {
		if c.Fields[i].Dropped() {
			continue
		}
		var err error
		if d.vals[i], err = f.Row().View(i, t); err != nil {
			return nil, err
		}
	}
	for i := range pairs {
		p := &pairs[i]
		if p.err != nil {
			return nil, p.err
		}
		v, err := p.x.Eval(f)
		if err != nil {
			return nil, err
		}
		if err := d.put(p.place, v); err != nil {
			return nil, err
		}
	}
	if err := d.fit(); err != nil {
		return nil, err
	}
	return d.encode(), nil
}
