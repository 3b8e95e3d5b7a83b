package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// nearSparse ranks rows by the dot product of sparse vectors. Only rows that share
// an index with the query are found.
type nearSparse struct {
	field int
	typ   value.Type
	query *expr.Expr
	index *catalog.Index // or nil
	exact bool
}

func (n *nearSparse) rank(ctx context.Context, s *search, k int) ([]vector.Hit, error) {
	q, err := n.given(s.job.Frame)
	if err != nil {
		return nil, err
	}
	name := s.col.Fields[n.field].Name
	if n.index == nil || n.exact {
		s.env.trace.Step(plan.StepNear, name).Note("every sparse vector that passes the filter is measured")
		return n.scanned(ctx, s, q, k)
	}
	s.env.trace.Step(plan.StepNear, name).Note("%d components, by index %s", len(q), name)
	return s.posted(ctx, k, func() (*posting.Query, error) { return n.posted(ctx, s, q) })
}

func (n *nearSparse) check(f *expr.Frame) error {
	_, err := n.given(f)
	return err
}

// given returns the components of the query, by ascending index.
func (n *nearSparse) given(f *expr.Frame) ([]value.Entry, error) {
	v, err := n.query.Eval(f)
	if err != nil {
		return nil, err
	}
	if v.IsNull() {
		return nil, fault.New(fault.Type, "want a sparse vector of dimension %d, got null", n.typ.Dim())
	}
	if v, err = value.Coerce(v, n.typ); err != nil {
		return nil, err
	}
	_, entries := v.AsSparse()
	return entries, nil
}

// posted returns the query over the postings of the index.
func (n *nearSparse) posted(ctx context.Context, s *search, q []value.Entry) (*posting.Query, error) {
	var entries []posting.Entry
	for i, e := range q {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		list, err := s.job.Table.Postings(n.index, posting.IndexPrefix(nil, e.Index))
		if err != nil {
			return nil, err
		}
		if list.DF() > 0 {
			entries = append(entries, posting.Entry{List: list, Weight: e.Weight})
		}
		if err := checkLists(len(entries)); err != nil {
			return nil, err
		}
	}
	return posting.Dot(entries), nil
}

// scanned measures every row that passes the filter.
func (n *nearSparse) scanned(ctx context.Context, s *search, q []value.Entry, k int) ([]vector.Hit, error) {
	s.top.Reset(vector.Dot, k)
	err := s.scan(ctx, func(r plan.Row) error {
		v, err := s.job.Frame.Row().View(n.field, n.typ)
		if v.IsNull() || err != nil {
			return err
		}
		_, entries := v.AsSparse()
		if score, shared := sparseDot(q, entries); shared {
			s.top.Add(r.ID, score)
		}
		return nil
	})
	return s.top.Hits(), err
}

// sparseDot returns the dot product of two lists of components, each by ascending
// index, summed in that order, and whether they share an index. It is rounded as
// package posting rounds it.
func sparseDot(a, b []value.Entry) (score float32, shared bool) {
	var sum float64
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].Index < b[j].Index:
			i++
		case a[i].Index > b[j].Index:
			j++
		default:
			sum += float64(a[i].Weight) * float64(b[j].Weight)
			shared = true
			i, j = i+1, j+1
		}
	}
	return posting.Score(sum), shared
}
