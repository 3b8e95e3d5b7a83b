package plan

import (
	"context"
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Table is a collection as a run reads it: a *table.Reader or a *table.Writer.
type Table interface {
	Get(id uint64) ([]byte, error)
	Scan(first, last uint64, reverse bool) *table.Scan
	Index(ix *catalog.Index, lower, upper []byte, reverse bool) *table.IndexScan
	Rows() (int64, error)
}

// Plan is how the rows of one statement are found. Runs share it.
type Plan struct {
	col   *catalog.Collection
	where *expr.Expr // nil without a filter
	cond  condition
	order order
	page  page
}

// page is which of the rows in order are picked: none of the first skip, and
// none past the first end.
type page struct{ skip, end int64 }

func (p page) limited() bool { return p.end != math.MaxInt64 }

// Clauses are the clauses of a statement that pick rows. The zero Clauses pick
// all rows, by ascending id.
type Clauses struct {
	Where  ql.Expr
	Order  []ql.Key
	Offset *int64
	Limit  *int64
}

// Compile returns the plan of a statement on c's collection. An unknown field
// in the order is a fault.NotFound.
func Compile(c *expr.Compiler, q Clauses) (*Plan, error) {
	p := &Plan{col: c.Collection(), page: newPage(q.Offset, q.Limit)}
	var err error
	if p.order, err = compileOrder(c, q.Order); err != nil {
		return nil, err
	}
	if q.Where == nil {
		return p, nil
	}
	if p.where, err = c.Compile(q.Where, expr.Late); err != nil {
		return nil, err
	}
	a := analyzer{c}
	p.cond, err = a.condition(q.Where)
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

// Run calls visit for each picked row, in order. f has been reset; it stands at
// the row while visit runs. An error of visit ends the run.
func (p *Plan) Run(ctx context.Context, f *expr.Frame, t Table, tr *Trace, visit func(Row) error) error {
	r := run{Plan: p, ctx: ctx, f: f, t: t, trace: tr, left: p.page, visit: visit}
	return r.all()
}

// IDs returns the ids of the picked rows, in order.
func (p *Plan) IDs(ctx context.Context, f *expr.Frame, t Table, tr *Trace) ([]uint64, error) {
	var ids []uint64
	r := run{Plan: p, ctx: ctx, f: f, t: t, trace: tr, left: p.page, onlyIDs: true}
	r.visit = func(row Row) error {
		ids = append(ids, row.ID)
		return nil
	}
	err := r.all()
	return ids, err
}

// Count returns the number of rows that pass the filter. Without a filter it
// reads none of them.
func (p *Plan) Count(ctx context.Context, f *expr.Frame, t Table, tr *Trace) (int64, error) {
	if p.where == nil {
		tr.count()
		return t.Rows()
	}
	var n int64
	r := run{Plan: p, ctx: ctx, f: f, t: t, trace: tr, left: page{0, math.MaxInt64}}
	r.visit = func(Row) error {
		n++
		return nil
	}
	err := r.all()
	return n, err
}
