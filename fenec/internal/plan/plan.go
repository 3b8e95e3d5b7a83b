package plan

import (
	"context"
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Table is a collection as a run reads it: a *table.Reader or a *table.Writer.
type Table interface {
	Get(id uint64) ([]byte, error)
	Named(id uint64) ([]byte, error)
	Scan(first, last uint64, reverse bool) *table.Scan
	Index(ix *catalog.Index, lower, upper []byte, reverse bool) *table.IndexScan
	CountIndex(ix *catalog.Index, lower, upper []byte) (int64, error)
	Rows() (int64, error)
	ExpiredRows(now int64) (int64, error)

	// Of search indexes.
	Postings(x *catalog.Index, prefix []byte) (*posting.List, error)
	TextFigures(x *catalog.Index) (table.TextFigures, error)
	Fresh(x *catalog.Index) ([]uint64, error)
	PendingAfter(x *catalog.Index, p table.Pending) ([]table.Pending, error)
}

// Plan is how the rows of one statement are found. Runs share it.
type Plan struct {
	col   *catalog.Collection
	all   bool       // there is no filter
	live  bool       // rows that are expired are passed over
	where *expr.Expr // what rows must meet, not to be expired among it; nil for all rows
	cond  condition
	order order
	page  page
	imposed
}

// page is which of the rows in order are picked: none of the first skip, and
// none past the first end.
type page struct{ skip, end int64 }

func (p page) limited() bool { return p.end != math.MaxInt64 }

// Clauses are the clauses of a statement that pick rows. The zero Clauses pick
// all rows, by ascending id. Rows that are expired are picked only where the
// filter names expired().
type Clauses struct {
	Imposed ql.Expr // which hides the rows that do not meet it, before Where is asked
	Where   ql.Expr
	Order   []ql.Key
	Offset  *int64
	Limit   *int64
}

// Compile returns the plan of a statement on c's collection. An unknown field
// in the order is a fault.NotFound.
func Compile(c *expr.Compiler, q Clauses) (*Plan, error) {
	p := &Plan{col: c.Collection(), page: newPage(q.Offset, q.Limit)}
	filter, paths, err := p.filter(c, q)
	if err != nil {
		return nil, err
	}
	p.all = filter == nil
	if p.all || !expr.NamesExpired(filter) {
		p.where = c.Live()
		p.live = p.where != nil
	}
	if p.order, err = compileOrder(c, q.Order); err != nil || p.all {
		return p, err
	}
	where, err := c.Compile(filter, expr.Filter)
	if err != nil {
		return nil, err
	}
	p.where = p.where.And(where)
	a := analyzer{c}
	p.cond, err = a.condition(paths)
	p.cond.whole = p.cond.whole && !p.unsure
	return p, err
}

func newPage(offset, limit *int64) page {
	p := page{0, math.MaxInt64}
	if offset != nil {
		p.skip = *offset
	}
	if limit != nil {
		p.end = p.skip + *limit
		if p.end < 0 {
			p.end = math.MaxInt64 // beyond any number of rows
		}
	}
	return p
}

// Row is a picked row.
type Row struct {
	ID   uint64
	Data []byte
	Kept bool // Data stays as it is after visit returns
}

// Job is what a run works with.
type Job struct {
	Frame *expr.Frame // reset for the run
	Table Table
	Trace *Trace // or nil

	// Also, if set, is asked about each row that passes the filter, and the frame
	// stands at, whether it is to count.
	Also func(id uint64) (bool, error)
}

// Visitor is given the rows that a run picks.
type Visitor interface {
	// Visit is called for each row, in order, with the frame standing at it. Its
	// error ends the run.
	Visit(Row) error
}

// VisitFunc is a function as a Visitor.
type VisitFunc func(Row) error

// Visit calls f.
func (f VisitFunc) Visit(row Row) error { return f(row) }

// Run gives the picked rows to v.
func (p *Plan) Run(ctx context.Context, j Job, v Visitor) error {
	r := p.begin(ctx, j, p.page)
	defer r.end()
	r.visitor = v
	return r.start()
}

// IDs returns the ids of the picked rows, in order. The slice is good until the
// frame's next run.
func (p *Plan) IDs(ctx context.Context, j Job) ([]uint64, error) {
	r := p.begin(ctx, j, p.page)
	defer r.end()
	r.onlyIDs = true
	err := r.start()
	return r.ids, err
}

// RunIDs gives v the ids of the picked rows, in order, without their data; the
// frame does not stand at them.
func (p *Plan) RunIDs(ctx context.Context, j Job, v Visitor) error {
	r := p.begin(ctx, j, p.page)
	defer r.end()
	r.onlyIDs, r.visitor = true, v
	return r.start()
}

// Count returns the number of rows that pass the filter, whatever the page.
// Without a filter, and with one that the entries of an index decide, it reads
// none of them.
func (p *Plan) Count(ctx context.Context, j Job) (int64, error) {
	if p.all && j.Also == nil {
		return p.countAll(j)
	}
	r := p.begin(ctx, j, page{0, math.MaxInt64})
	defer r.end()
	if n, ok, err := r.countEntries(); ok || err != nil {
		return n, err
	}
	err := r.start()
	return r.picked, err
}

// countAll returns the number of rows that are not expired.
func (p *Plan) countAll(j Job) (int64, error) {
	j.Trace.begin()
	defer j.Trace.end()
	j.Trace.count()
	n, err := j.Table.Rows()
	if !p.live || err != nil {
		return n, err
	}
	expired, err := j.Table.ExpiredRows(j.Frame.Now)
	return n - expired, err
}

// Any reports whether a row passes the filter, whatever the page.
func (p *Plan) Any(ctx context.Context, j Job) (bool, error) {
	r := p.begin(ctx, j, page{0, 1})
	defer r.end()
	r.anyOrder = true
	err := r.start()
	return r.picked > 0, err
}
