package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/text"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// maxRanked is the most rows that a get with near or match finds, offset and
// limit together.
const maxRanked = 10_000

// ranking is how a get scores its rows and puts them in order.
type ranking struct {
	match      *match
	near       ranker  // of a vector, sparse vector or point; or nil
	rerank     *rerank // or nil
	fuse       *fuse   // or nil
	skip, most int     // the page
}

// ranker scores the rows that pass the filter of a get.
type ranker interface {
	// rank returns the best k of them, best first, ties by ascending id. The
	// slice is good until the search's next ranking.
	rank(ctx context.Context, s *search, k int) ([]vector.Hit, error)

	// check returns the error that rank gives for what the row's field is ranked by.
	check(f *expr.Frame) error
}

// search is one run of a ranking.
type search struct {
	*get
	env *Env
	job plan.Job
	top vector.Top
	buf []float32 // a vector being measured
}

// ranking compiles the clauses of s that score rows, nil if there are none.
func (k *compiler) ranking(l *level, s *ql.Get) (*ranking, error) {
	if s.Match == nil && s.Near == nil {
		return nil, nil
	}
	r := new(ranking)
	r.setPage(s)
	var err error
	if s.Match != nil {
		if r.match, err = k.match(l, s.Match); err != nil {
			return nil, err
		}
	}
	if s.Near != nil {
		if r.near, err = k.near(l, s.Near); err != nil {
			return nil, err
		}
	}
	if s.Rerank != nil {
		if r.rerank, err = k.rerank(l, s.Rerank); err != nil {
			return nil, err
		}
	}
	if s.Fuse != nil {
		r.fuse = newFuse(s.Fuse)
	}
	return r, checkCandidates(s)
}

func checkCandidates(s *ql.Get) error {
	for _, n := range []*int64{candidatesOf(s.Rerank), fuseCandidates(s.Fuse)} {
		if n != nil && *n > maxRanked {
			return fault.New(fault.Query, "candidates %d: at most %d", *n, maxRanked)
		}
	}
	return nil
}

func candidatesOf(s *ql.Rerank) *int64 {
	if s == nil {
		return nil
	}
	return s.Candidates
}

func fuseCandidates(s *ql.Fuse) *int64 {
	if s == nil {
		return nil
	}
	return s.Candidates
}

// setPage reads offset and limit, which the grammar bounds.
func (r *ranking) setPage(s *ql.Get) {
	if s.Offset != nil {
		r.skip = int(*s.Offset)
	}
	r.most = maxRanked - r.skip
	if s.Limit != nil {
		r.most = int(*s.Limit)
	}
}

// end is how many rows there are up to the end of the page.
func (r *ranking) end() int { return r.skip + r.most }

// hits returns the rows of the page.
func (r *ranking) hits(ctx context.Context, s *search) ([]vector.Hit, error) {
	if r.most == 0 {
		return nil, r.check(s.job.Frame)
	}
	hits, err := r.best(ctx, s)
	return hits[min(r.skip, len(hits)):min(r.end(), len(hits))], err
}

// check returns the error that ranking rows would give, as to what they are ranked
// by.
func (r *ranking) check(f *expr.Frame) error {
	if r.rerank != nil {
		if err := r.rerank.check(f); err != nil {
			return err
		}
	}
	if r.match != nil {
		if err := r.match.check(f); err != nil {
			return err
		}
	}
	if r.near != nil {
		return r.near.check(f)
	}
	return nil
}

// best returns the rows up to the end of the page, and maybe more.
func (r *ranking) best(ctx context.Context, s *search) ([]vector.Hit, error) {
	switch {
	case r.fuse != nil:
		return r.fuse.rank(ctx, s, r)
	case r.rerank != nil:
		return r.rerank.rank(ctx, s, r)
	case r.match != nil:
		return r.match.rank(ctx, s, r.end())
	}
	return r.near.rank(ctx, s, r.end())
}

// ranked finds the rows of a get that scores them.
func (g *get) ranked(ctx context.Context, env *Env, job plan.Job) (*Result, error) {
	c := newCollector(g.scored, job.Frame, nil, env.Into)
	err := g.rank(ctx, env, job, c, func() error { return nil })
	return c.res, err
}

// rank gives c the rows of a get that scores them, and calls added after each.
func (g *get) rank(ctx context.Context, env *Env, job plan.Job, c *collector, added func() error) error {
	s := &search{get: g, env: env, job: job}
	hits, err := g.ranking.hits(ctx, s)
	if err != nil {
		return err
	}
	if m := g.ranking.match; m != nil && g.columns.marked {
		terms, err := m.terms(ctx, job.Frame)
		if err != nil {
			return err
		}
		c.marker = text.NewMarker(m.analyzer, terms)
	}
	for _, h := range hits {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := job.Table.Get(h.ID)
		if err != nil {
			return err
		}
		if err := job.Frame.Stand(h.ID, b); err != nil {
			return err
		}
		if err := c.Visit(plan.Row{ID: h.ID, Data: b}); err != nil {
			return err
		}
		x := c.res.besides()
		x.scores = append(x.scores, h.Score)
		if err := added(); err != nil {
			return err
		}
	}
	return nil
}

// scan gives visit every row that passes the filter, by ascending id.
func (s *search) scan(ctx context.Context, visit plan.VisitFunc) error {
	return s.plan.Run(ctx, s.job, visit)
}

// field returns the place of the field that a clause names.
func fieldAt(c *catalog.Collection, name string) (int, error) {
	at, ok := c.Position(name)
	if !ok {
		return 0, c.NoField(name)
	}
	return at, nil
}

// given compiles an expression that reads no row.
func given(l *level, e ql.Expr) (*expr.Expr, error) { return l.c.Compile(e, expr.None) }
