package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
)

// The rows of a batch. The first ones are small, so that they come soon.
const (
	firstBatch = 16
	lastBatch  = 512
	batchBytes = 256 << 10 // of rows and children, about, that end a batch
)

// rowBytes is about what a row of a result takes up beside its data.
const rowBytes = 48

// batches gathers the rows that a run picks and gives them away batch by batch.
type batches struct {
	collector
	get   *get
	ctx   context.Context
	env   Env
	emit  func(*Result) error
	most  int // rows of this batch
	bytes int // that its rows take up
}

// Each implements Batches.
func (g *get) Each(ctx context.Context, env Env, emit func(*Result) error) (*Result, error) {
	switch {
	case g.facets != nil:
		return nil, fault.New(fault.Query, "rows that come one by one have no facets beside them: use Query")
	case g.groups != nil, g.count, g.require != nil, g.short:
		return g.Run(ctx, env) // which knows the first row when it knows all, or soon
	}
	b := batches{get: g, ctx: ctx, env: env, emit: emit, most: firstBatch}
	if err := b.all(); err != nil {
		return nil, err
	}
	return b.res, b.complete()
}

// all finds all rows and leaves the last batch.
func (b *batches) all() error {
	g := b.get
	f, err := g.begin(b.ctx, &b.env)
	if err != nil {
		return err
	}
	defer g.end(f)
	job := g.job(&b.env, f, nil)
	also, done, err := g.lookup.tester(b.ctx, &b.env, f)
	if err != nil {
		return err
	}
	defer done()
	job.Also = also
	b.collector = *newCollector(g.shown(), f, g.lookup, nil)
	return b.run(job)
}

// run gives b the rows that job leads to.
func (b *batches) run(job plan.Job) error {
	switch g := b.get; {
	case g.ranking != nil:
		return g.rank(b.ctx, &b.env, job, &b.collector, b.added)
	case g.lookup == nil && b.items != nil && len(b.items) == 0:
		return g.plan.RunIDs(b.ctx, job, plan.VisitFunc(b.addID))
	default:
		return g.plan.Run(b.ctx, job, b)
	}
}

// begin begins another batch.
func (b *batches) begin() {
	memory := b.res.memory // what is left of it
	b.res = b.selection.result(nil)
	b.res.memory, b.res.rows = memory, make([]resultRow, 0, b.most)
	b.bytes, b.parents = 0, b.parents[:0]
}

// Visit adds a row that the frame stands at.
func (b *batches) Visit(r plan.Row) error {
	if err := b.collector.Visit(r); err != nil {
		return err
	}
	return b.added()
}

// addID adds a row that is its id and nothing else.
func (b *batches) addID(r plan.Row) error {
	b.res.rows = added(b.res.rows, resultRow{id: r.ID})
	return b.added()
}

// added gives the batch away if it is full.
func (b *batches) added() error {
	n := len(b.res.rows)
	b.bytes += rowBytes + len(b.res.rows[n-1].data)
	if n < b.most && b.bytes < batchBytes {
		return nil
	}
	if err := b.complete(); err != nil {
		return err
	}
	if err := b.emit(b.res); err != nil {
		return err
	}
	b.grow()
	b.begin()
	return b.ctx.Err()
}

// complete gives the batch's rows their children.
func (b *batches) complete() error {
	if b.next == nil {
		return nil
	}
	return b.next.attach(b.ctx, &b.env, b.res, b.parents)
}

// grow sets how many rows the next batch has: twice as many, or half as many when
// the children of these were too much.
func (b *batches) grow() {
	if b.res.childBytes() > batchBytes {
		b.most = max(b.most/2, 1)
		return
	}
	b.most = min(2*b.most, lastBatch)
}

// childBytes returns about how many bytes the children of all rows take up.
func (r *Result) childBytes() (n int) {
	x := r.nested()
	if x == nil {
		return 0
	}
	of := x.of
	for i := range of.rows {
		n += rowBytes + len(of.rows[i].data)
	}
	return n + of.childBytes()
}
