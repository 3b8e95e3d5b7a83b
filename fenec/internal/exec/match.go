package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/internal/text"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// match ranks rows by the words of a text field (BM25).
type match struct {
	field    int
	index    *catalog.Index
	analyzer text.Analyzer
	query    *expr.Expr
	visible  *plan.Plan // of the rows that a guard lets be read, whose statistics count; nil for all
}

func (k *compiler) match(l *level, s *ql.Match) (*match, error) {
	at, err := fieldAt(l.col, s.Field.Text)
	if err != nil {
		return nil, err
	}
	f := &l.col.Fields[at]
	m := &match{field: at, index: indexOf(l.col, f, catalog.Text)}
	if m.index == nil {
		return nil, fault.New(fault.Query, "match %s: the field needs an index @text", f.Name)
	}
	m.analyzer = table.AnalyzerOf(m.index)
	if m.query, err = given(l, s.Query); err != nil {
		return nil, err
	}
	visible, err := k.plan(l, plan.Clauses{})
	if err == nil && visible.Imposed() {
		m.visible = visible
	}
	return m, err
}

// given returns the text of the query.
func (m *match) given(f *expr.Frame) (string, error) {
	v, err := m.query.Eval(f)
	if err != nil {
		return "", err
	}
	if v.Kind() != value.KindText {
		return "", fault.New(fault.Type, "match: the query is text, not %s", v.Kind())
	}
	return v.AsText(), nil
}

// terms returns the terms of the query.
func (m *match) terms(ctx context.Context, f *expr.Frame) ([]text.Term, error) {
	s, err := m.given(f)
	if err != nil {
		return nil, err
	}
	return m.analyzer.TermsBefore(ctx, s)
}

func (m *match) check(f *expr.Frame) error {
	_, err := m.given(f)
	return err
}

func (m *match) rank(ctx context.Context, s *search, k int) ([]vector.Hit, error) {
	terms, err := m.terms(ctx, s.job.Frame)
	if err != nil {
		return nil, err
	}
	name := s.col.Fields[m.field].Name
	s.env.trace.Step(plan.StepMatch, name).Note("%d terms, by index %s", len(terms), name)
	return s.posted(ctx, k, func() (*posting.Query, error) { return m.posted(ctx, s, terms) })
}

// each gives visit every row that matches and passes the filter of p, by ascending
// id.
func (m *match) each(ctx context.Context, s *search, p *plan.Plan, visit plan.VisitFunc) error {
	terms, err := m.terms(ctx, s.job.Frame)
	if err != nil {
		return err
	}
	matches := map[uint64]bool{}
	q, err := m.posted(ctx, s, terms)
	if err != nil {
		return err
	}
	err = q.Each(ctx, func(h posting.Hit) error {
		matches[h.ID] = true
		return nil
	})
	if err != nil {
		return err
	}
	return p.Run(ctx, s.job, plan.VisitFunc(func(r plan.Row) error {
		if !matches[r.ID] {
			return nil
		}
		return visit(r)
	}))
}

// posted returns the query over the index's postings.
func (m *match) posted(ctx context.Context, s *search, terms []text.Term) (*posting.Query, error) {
	stats, err := m.statistics(ctx, s)
	if err != nil {
		return nil, err
	}
	var out []posting.Term
	for i, t := range terms {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		prefix := posting.TermPrefix(nil, t.Text)
		list, err := s.job.Table.Postings(m.index, prefix)
		if err != nil {
			return nil, err
		}
		df := list.DF()
		if stats.visible != nil {
			if df, err = m.count(ctx, s, prefix, stats.visible, nil); err != nil {
				return nil, err
			}
		}
		if df > 0 {
			out = append(out, posting.Term{List: list, Count: int(t.Count), IDF: stats.scorer.IDF(df)})
		}
		if err := checkLists(len(out)); err != nil {
			return nil, err
		}
	}
	return posting.Match(stats.scorer, out), nil
}

// statistics are what scores depend on beside the documents found.
type statistics struct {
	scorer  posting.Scorer
	visible map[uint64]bool // the rows that count; nil for all
}

func (m *match) statistics(ctx context.Context, s *search) (statistics, error) {
	out := statistics{scorer: posting.Scorer{K1: float32(m.index.Text.K1), B: float32(m.index.Text.B)}}
	figures, err := s.job.Table.TextFigures(m.index)
	if m.visible != nil && err == nil {
		figures, out.visible, err = m.visibleFigures(ctx, s)
	}
	if err != nil {
		return out, err
	}
	out.scorer.Documents = uint64(figures.Documents)
	out.scorer.AverageLength = 1
	if figures.Documents > 0 {
		out.scorer.AverageLength = max(1, float64(figures.Length)/float64(figures.Documents))
	}
	return out, nil
}

// visibleFigures counts the figures of the rows that a guard lets be read.
func (m *match) visibleFigures(ctx context.Context, s *search) (figures table.TextFigures, visible map[uint64]bool, err error) {
	visible = map[uint64]bool{}
	err = m.visible.Run(ctx, plan.Job{Frame: s.job.Frame, Table: s.job.Table}, plan.VisitFunc(func(r plan.Row) error {
		visible[r.ID] = true
		return nil
	}))
	if err != nil {
		return figures, nil, err
	}
	n, err := m.count(ctx, s, posting.TermPrefix(nil, ""), visible, func(p posting.Posting) { figures.Length += int64(p.Length) })
	figures.Documents = int64(n)
	return figures, visible, err
}

// count counts the visible postings of a list, each of which it shows to see, if
// that is not nil.
func (m *match) count(ctx context.Context, s *search, prefix []byte, visible map[uint64]bool, see func(posting.Posting)) (n uint64, err error) {
	list, err := s.job.Table.Postings(m.index, prefix)
	if err != nil {
		return 0, err
	}
	for i := 0; list.ID() != posting.End; list.Next() {
		if i++; i%checkEvery == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if !visible[list.ID()] {
			continue
		}
		n++
		if see != nil {
			see(list.Posting())
		}
	}
	return n, list.Err()
}
