package exec

import (
	"context"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// get is a compiled get.
type get struct {
	compiled
	*level
	columns *selection
	scored  *selection // the columns with that of the scores, if there is a ranking
	groups  *grouping  // of a get with aggregates, or nil
	ranking *ranking   // or nil
	facets  *facets    // or nil
	lookup  *lookup    // or nil
	count   bool
	short   bool // it answers no more rows than a first batch has
	require *int64
}

func (k *compiler) get(s *ql.Get) (*get, error) {
	l, err := k.level(s.From.Text, toRead)
	if err != nil {
		return nil, err
	}
	g := &get{level: l, count: s.Count, short: s.Limit != nil && *s.Limit <= firstBatch, require: s.Require}
	if grouped(s) {
		return g, k.group(g, s)
	}
	if g.columns, err = compileSelection(l.c, s.Columns); err != nil {
		return nil, err
	}
	if g.columns.marked && s.Match == nil {
		return nil, fault.New(fault.Query, "highlight and snippet stand beside match only")
	}
	if g.ranking, err = k.ranking(l, s); err != nil {
		return nil, err
	}
	clauses := plan.Clauses{Where: s.Where, Order: s.Order, Offset: s.Offset, Limit: s.Limit}
	if g.ranking != nil {
		clauses = plan.Clauses{Where: s.Where} // the page is one of the rows in their rank
	}
	if err := k.pick(l, clauses); err != nil {
		return nil, err
	}
	if err := checkCount(s); err != nil {
		return nil, err
	}
	if g.facets, err = k.facets(l, s); err != nil {
		return nil, err
	}
	if s.Lookup != nil {
		if g.lookup, err = k.lookup(l.col, s.Lookup); err != nil {
			return nil, err
		}
		g.columns = g.columns.without(g.lookup.name)
	}
	if g.ranking != nil {
		g.scored, err = g.columns.withScore()
	}
	return g, err
}

// shown returns the columns that rows are answered with.
func (g *get) shown() *selection {
	if g.scored != nil {
		return g.scored
	}
	return g.columns
}

// checkCount returns why a count cannot stand beside the other clauses.
func checkCount(s *ql.Get) error {
	if !s.Count {
		return nil
	}
	switch {
	case s.Star, len(s.Columns) > 0, len(s.Order) > 0, s.Limit != nil, s.Offset != nil, s.Require != nil:
		return fault.New(fault.Query, "count stands without select, order, limit, offset and require")
	case s.Lookup != nil && !s.Lookup.Required:
		return fault.New(fault.Query, "count stands beside a lookup that is required only")
	}
	return nil
}

// names returns the names of the columns.
func (g *get) names() []string {
	if g.groups != nil {
		return g.groups.names
	}
	return g.columns.names
}

// Run carries the statement out.
func (g *get) Run(ctx context.Context, env Env) (*Result, error) {
	e := envs.Get().(*Env)
	*e = env
	defer e.release()
	return g.run(ctx, e)
}

func (g *get) run(ctx context.Context, env *Env) (*Result, error) {
	f, err := g.begin(ctx, env)
	if err != nil {
		return nil, err
	}
	defer g.end(f)
	res, err := g.answer(ctx, env, f)
	if err != nil {
		return nil, err
	}
	return res, g.checkRequired(res)
}

// answer finds all of the result.
func (g *get) answer(ctx context.Context, env *Env, f *expr.Frame) (*Result, error) {
	job := g.job(env, f, env.trace)
	also, done, err := g.lookup.tester(ctx, env, f)
	if err != nil {
		return nil, err
	}
	defer done()
	job.Also = also
	if g.groups != nil {
		return g.grouped(ctx, job)
	}
	res, err := g.rows(ctx, env, job)
	if err != nil || g.facets == nil {
		return res, err
	}
	job.Trace = env.trace.Step(plan.StepAggregate, "facets")
	res.besides().facets, err = g.facets.run(job, func(p *plan.Plan, visit plan.VisitFunc) error {
		if g.ranking != nil {
			return g.ranking.match.each(ctx, &search{get: g, env: env, job: job}, p, visit)
		}
		return p.Run(ctx, job, visit)
	})
	return res, err
}

// grouped finds the groups of the result, or their number.
func (g *get) grouped(ctx context.Context, job plan.Job) (*Result, error) {
	res, err := g.groups.run(ctx, job)
	if err == nil {
		job.Trace.Grouped(res.Len())
	}
	return res, err
}

// rows finds the rows of the result, or their number.
func (g *get) rows(ctx context.Context, env *Env, job plan.Job) (*Result, error) {
	if g.ranking != nil {
		return g.ranked(ctx, env, job)
	}
	if g.count {
		n, err := g.plan.Count(ctx, job)
		if err != nil {
			return nil, err
		}
		return countResult(n), nil
	}
	if g.lookup == nil && g.columns.items == nil {
		res := g.columns.result(env.Into)
		return res, g.plan.Run(ctx, job, (*wholeRowsOf)(res))
	}
	c := newCollector(g.columns, job.Frame, g.lookup, env.Into)
	if g.lookup == nil && c.items != nil && len(c.items) == 0 {
		ids, err := g.plan.IDs(ctx, job)
		c.res.addIDs(ids)
		return c.res, err
	}
	if err := g.plan.Run(ctx, job, c); err != nil {
		return nil, err
	}
	if g.lookup == nil {
		return c.res, nil
	}
	return c.res, g.lookup.attach(ctx, env, c.res, c.parents)
}

// checkRequired returns why the number of rows is not the one required.
func (g *get) checkRequired(res *Result) error {
	if g.require == nil || int64(res.Len()) == *g.require {
		return nil
	}
	return unmet(*g.require, res.Len(), "found")
}

func unmet(want int64, got int, what string) error {
	return fault.New(fault.Unmet, "requires %d, %d %s", want, got, what)
}

// explain is a compiled explain.
type explain struct {
	*get
	discreet bool // it may not tell how many rows there are that a guard hides
}

func (k *compiler) explain(s *ql.Explain) (*explain, error) {
	g, err := k.get(s.Get)
	if err != nil {
		return nil, err
	}
	return &explain{g, k.opts.Guard != nil}, nil
}

// Run carries out the get and tells how.
func (x *explain) Run(ctx context.Context, env Env) (*Result, error) {
	env.trace = new(plan.Trace)
	res, err := x.run(ctx, &env)
	if err != nil {
		return nil, err
	}
	lines := env.trace.Lines(!x.count && x.groups == nil && x.ranking == nil)
	if x.discreet {
		lines = untold(lines)
	}
	if !x.count {
		return textResult("plan", append(lines, "rows: "+value.Int(int64(res.Len())).String())), nil
	}
	n, err := res.Value(0, 0)
	if err != nil {
		return nil, err
	}
	return textResult("plan", append(lines, "count: "+n.String())), nil
}

// untold returns what lines of an explain are about and nothing else.
func untold(lines []string) []string {
	for i, line := range lines {
		about, _, _ := strings.Cut(line, ":")
		lines[i] = about + ": not told, as rows may be hidden"
	}
	return lines
}
