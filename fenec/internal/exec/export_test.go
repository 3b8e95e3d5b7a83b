package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
)

// PickedIDs returns what finds the ids of the rows that a del takes out, in
// order.
func PickedIDs(s Statement) func(ctx context.Context, env Env, t plan.Table) ([]uint64, error) {
	d := s.(*del)
	return func(ctx context.Context, env Env, t plan.Table) ([]uint64, error) {
		var f expr.Frame
		f.Reset(d.c, env.Params, env.Now)
		return d.plan.IDs(ctx, &f, t, nil)
	}
}

// Data returns the encoded row i.
func (r *Result) Data(i int) []byte { return r.rows[i].data }

// ID returns the id of the document that row i is of.
func (r *Result) ID(i int) uint64 { return r.rows[i].id }
