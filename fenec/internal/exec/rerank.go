package exec

import (
	"context"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// defaultRerank is how many rows of a match a rerank looks at that names no
// number.
const defaultRerank = 200

// rerank puts the best rows of a match in the order of a vector field.
type rerank struct {
	vectors
	candidates int
}

// vectors is a vector field that is measured against a given vector.
type vectors struct {
	field  int
	typ    value.Type
	metric vector.Metric
	query  *expr.Expr
}

func (k *compiler) rerank(l *level, s *ql.Rerank) (*rerank, error) {
	at, err := fieldAt(l.col, s.Field.Text)
	if err != nil {
		return nil, err
	}
	f := &l.col.Fields[at]
	if !f.Type.Is(value.BaseVector) {
		return nil, fault.New(fault.Type, "rerank %s: the field is %s, not a vector", f.Name, f.Type)
	}
	out := &rerank{vectors: vectors{field: at, typ: f.Type}, candidates: defaultRerank}
	if f.Index != nil && f.Index.Kind == catalog.HNSW {
		out.metric = f.Index.HNSW.Metric
	}
	if s.Candidates != nil {
		out.candidates = int(min(*s.Candidates, maxRanked))
	}
	out.query, err = given(l, s.Vector)
	return out, err
}

func (x *rerank) rank(ctx context.Context, s *search, r *ranking) ([]vector.Hit, error) {
	scorer, err := x.scorer(s.job.Frame)
	if err != nil {
		return nil, err
	}
	found, err := r.match.rank(ctx, s, max(x.candidates, r.end()))
	if err != nil {
		return nil, err
	}
	found = slices.Clone(found) // it may lie in the search's best
	s.top.Reset(x.metric, r.end())
	for _, h := range found {
		b, err := s.job.Table.Get(h.ID)
		if err != nil {
			return nil, err
		}
		if err := s.job.Frame.Stand(h.ID, b); err != nil {
			return nil, err
		}
		if err := x.measure(s, &scorer); err != nil {
			return nil, err
		}
	}
	s.env.trace.Step(plan.StepRerank, s.col.Fields[x.field].Name).Note("by %s, %d candidates", x.metric, len(found))
	return s.top.Hits(), nil
}

// scorer returns what measures vectors against the one that is given.
func (x *vectors) scorer(f *expr.Frame) (vector.Scorer, error) {
	q, err := x.given(f)
	if err != nil {
		return vector.Scorer{}, err
	}
	return vector.NewScorer(x.metric, q), nil
}

func (x *vectors) check(f *expr.Frame) error {
	_, err := x.given(f)
	return err
}

// given returns the vector that the field is measured against.
func (x *vectors) given(f *expr.Frame) ([]float32, error) {
	v, err := x.query.Eval(f)
	if err != nil {
		return nil, err
	}
	if v.Kind() == value.KindText {
		if v, err = value.ParseJSON([]byte(v.AsText())); err != nil {
			return nil, fault.New(fault.Type, "want a vector, got a text that is none")
		}
	}
	if v.IsNull() {
		return nil, fault.New(fault.Type, "want a vector of %d components, got null", x.typ.Dim())
	}
	if v, err = value.Coerce(v, value.VectorType(x.typ.Dim(), false)); err != nil {
		return nil, err
	}
	return v.AsVector(), nil
}

// measure shows the search's best the row that its frame stands at, unless its
// vector is null.
func (x *vectors) measure(s *search, scorer *vector.Scorer) error {
	f := s.job.Frame
	v, ok, err := f.Row().AppendVector(s.buf[:0], x.field, x.typ)
	s.buf = v
	if ok && err == nil {
		s.top.Add(f.ID(), scorer.Score(v))
	}
	return err
}
