package plan

import (
	"context"
	"errors"
	"fmt"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/row"
	"github.com/fenec-go/fenecdb/fenec/internal/table"
)

// run is one run of a plan, in the memory of those before it.
type run struct {
	task
	memory
}

// task is what a run is about and how far it has come.
type task struct {
	*Plan
	ctx      context.Context
	f        *expr.Frame
	t        Table
	trace    *Trace                        // or nil
	also     func(id uint64) (bool, error) // or nil, see Job
	visitor  Visitor                       // nil when rows are only counted or their ids wanted
	onlyIDs  bool                          // rows need not be kept
	anyOrder bool                          // rows may come in any order

	left   page  // what is left of the page: rows to pass over, and rows until its end
	picked int64 // rows
	total  int64
	known  bool // total is the number of rows
	steps  int  // until the context is looked at again
}

// memory is what a frame's runs hand on, one to the next.
type memory struct {
	keys    keyRoom
	spans   []span
	options []option
	racer   racer
	list    []uint64 // that it has gathered
	ids     []uint64 // of picked rows
	keyed   *keyedRun
	scans   []*table.IndexScan // of the values being merged; at most maxStreams
	copy    []byte             // of the row that also is asked about
}

// The most that is handed on of each.
const (
	keptKeys  = 16 << 10
	keptSpans = 128
	keptIDs   = 4096
)

// begin returns a run, which is to be ended.
func (p *Plan) begin(ctx context.Context, j Job, of page) *run {
	r, ok := j.Frame.Run.(*run)
	if ok {
		j.Frame.Run = nil // a run may begin while this one is on
	} else {
		r = new(run)
	}
	r.task = task{Plan: p, ctx: ctx, f: j.Frame, t: j.Table, trace: j.Trace, also: j.Also, left: of}
	r.ids = r.ids[:0]
	return r
}

// end gives the frame back what the next run can use. What was returned of it
// stays as it is until then.
func (r *run) end() {
	r.racer.close()
	r.memory.forget()
	f := r.f
	r.task = task{}
	f.Run = r
}

// forget lets go of what a run had, and of memory that is too much to be kept.
func (m *memory) forget() {
	m.keys.clear()
	m.racer = racer{}
	clear(m.spans)
	clear(m.options)
	m.spans, m.options = m.spans[:0], m.options[:0]
	if cap(m.spans) > keptSpans {
		m.spans = nil
	}
	if cap(m.list) > keptIDs {
		m.list = nil
	}
	if cap(m.ids) > keptIDs {
		m.ids = nil
	}
	if cap(m.copy) > keptKeys {
		m.copy = nil
	}
}

// errDone ends the production of rows: no more are wanted.
var errDone = errors.New("plan: done")

// sink takes rows that a path has led to.
type sink interface {
	// take takes a row. It returns errDone when it wants no more of them.
	take(id uint64, b []byte) error
}

// sinkFunc is a function as a sink.
type sinkFunc func(id uint64, b []byte) error

func (f sinkFunc) take(id uint64, b []byte) error { return f(id, b) }

// start finds all rows of the page.
func (r *run) start() error {
	r.trace.begin()
	defer r.trace.end()
	if err := r.settled(r.f); err != nil {
		return err
	}
	err := r.find()
	if err == errDone {
		return nil
	}
	return err
}

func (r *run) find() error {
	if r.left.end <= r.left.skip {
		r.trace.nothing("the limit is 0")
		return nil
	}
	found := resolved{ids: allIDs, options: r.options}
	if len(r.cond.terms) > 0 {
		res := resolver{run: r, f: r.f}
		res.resolve(&r.cond, &found)
		r.options = found.options
	}
	if found.none() {
		r.trace.nothing("no row can pass")
		return nil
	}
	switch {
	case found.point():
		r.trace.point(found.ids.first)
		return r.point(found.ids.first, r)
	case r.order.byID(), r.anyOrder:
		return r.byID(&found)
	}
	return r.sorted(&found)
}

// checkEvery is after how many rows or entries the context is looked at.
const checkEvery = 1024

func (r *run) step() error {
	if r.steps++; r.steps < checkEvery {
		return nil
	}
	r.steps = 0
	return r.ctx.Err()
}

// rows returns the number of rows of the collection.
func (r *run) rows() (int64, error) {
	if r.known {
		return r.total, nil
	}
	var err error
	r.total, err = r.t.Rows()
	r.known = true
	return r.total, err
}

// still returns the row in b, or a copy of it where also may read other rows,
// which may move b.
func (r *run) still(b []byte) []byte {
	if r.also == nil {
		return b
	}
	r.copy = append(r.copy[:0], b...)
	return r.copy
}

// test makes the frame stand at a row and reports whether it passes the filter.
func (r *run) test(id uint64, b []byte) (bool, error) {
	if err := r.f.Stand(id, b); err != nil {
		return false, r.located(id, err)
	}
	ok := true
	if r.where != nil {
		var err error
		if ok, err = r.where.Test(r.f); err != nil {
			return false, r.located(id, err)
		}
	}
	if ok && r.also != nil {
		var err error
		if ok, err = r.also(id); err != nil {
			return false, r.located(id, err)
		}
	}
	r.trace.tested(ok)
	return ok, nil
}

// located adds to an error of damage where it was met.
func (r *run) located(id uint64, err error) error {
	if errors.Is(err, row.ErrCorrupt) {
		return fmt.Errorf("collection %q, id %d: %w", r.col.Name, id, err)
	}
	return err
}

// take makes r the sink of rows that come in order.
func (r *run) take(id uint64, b []byte) error {
	b = r.still(b)
	if ok, err := r.test(id, b); !ok || err != nil {
		return err
	}
	return r.pick(Row{ID: id, Data: b})
}

// pick gives a row that passes the filter, if it is in the page. The frame
// stands at it.
func (r *run) pick(row Row) error {
	r.left.end--
	if r.left.skip > 0 {
		r.left.skip--
	} else if err := r.give(row); err != nil {
		return err
	}
	if r.left.end == 0 {
		return errDone
	}
	return nil
}

// give gives a picked row to whom it is for.
func (r *run) give(row Row) error {
	r.picked++
	switch {
	case r.visitor != nil:
		if r.onlyIDs {
			row.Data = nil
		}
		return r.visitor.Visit(row)
	case r.onlyIDs:
		r.ids = append(r.ids, row.ID)
	}
	return nil
}

// scan produces the rows with ids in a range.
func (r *run) scan(in ids, reverse bool, to sink) error {
	s := r.t.Scan(in.first, in.last, reverse)
	defer s.Close()
	for s.Next() {
		if err := r.step(); err != nil {
			return err
		}
		if err := to.take(s.ID(), s.Row()); err != nil {
			return err
		}
	}
	return s.Err()
}

// index returns a scan of a span's entries.
func (r *run) index(s *span, reverse bool) *table.IndexScan {
	return r.t.Index(s.index, s.lower, s.upper, reverse)
}
