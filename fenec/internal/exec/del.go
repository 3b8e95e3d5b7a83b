package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// del is a compiled del.
type del struct {
	compiled
	*level
	returning *returning
	require   *int64
}

func (k *compiler) del(s *ql.Del) (*del, error) {
	l, err := k.level(s.From.Text, toDelete)
	if err != nil {
		return nil, err
	}
	d := &del{level: l, require: s.Require}
	if d.returning, err = k.returning(l, s.Returning); err != nil {
		return nil, err
	}
	var admitted ql.Expr
	if k.opts.Guard != nil {
		if admitted, err = k.opts.Guard.Delete(l.col); err != nil {
			return nil, err
		}
		k.impose(admitted)
	}
	return d, k.pick(l, plan.Clauses{Imposed: admitted, Where: s.Where, Order: s.Order, Limit: s.Limit})
}

// Run carries the statement out.
func (d *del) Run(ctx context.Context, env Env, tx *table.Tx) (Outcome, error) {
	f, err := d.begin(ctx, &env)
	if err != nil {
		return Outcome{}, err
	}
	defer d.end(f)
	ids, err := d.plan.IDs(ctx, d.job(&env, f, nil))
	if err != nil {
		return Outcome{}, err
	}
	w := tx.Writer(d.col)
	out := d.returning.begin(f)
	for i, id := range ids {
		if err := check(ctx, i); err != nil {
			return Outcome{}, err
		}
		if err := d.row(w, id, out); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{Affected: len(ids), Rows: out.rows()}, met(d.require, len(ids), "deleted")
}

// row deletes one row.
func (d *del) row(w *table.Writer, id uint64, out answer) error {
	if d.returning != nil {
		old, err := w.TxReader.Get(id)
		if err != nil {
			return err
		}
		if old != nil { // else Delete says what that means
			if err := out.show(id, old); err != nil {
				return err
			}
		}
	}
	return w.Delete(id)
}
