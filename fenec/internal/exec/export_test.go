package exec

import (
	"context"
	"slices"
)

// PickedIDs returns what finds the ids of the rows that a del takes out, in
// order.
func PickedIDs(s Statement) func(ctx context.Context, env Env) ([]uint64, error) {
	d := s.(*del)
	return func(ctx context.Context, env Env) ([]uint64, error) {
		f, err := d.begin(ctx, &env)
		if err != nil {
			return nil, err
		}
		defer d.end(f)
		ids, err := d.plan.IDs(ctx, d.job(&env, f, nil))
		return slices.Clone(ids), err
	}
}

// Data returns the encoded row i.
func (r *Result) Data(i int) []byte { return r.rows[i].data }

// ID returns the id of the document that row i is of.
func (r *Result) ID(i int) uint64 { return r.rows[i].id }
