package plan

import (
	"context"
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/geo"
)

// Probe tests rows against the filter of a plan one by one, in any order, for who
// finds them by another way than the filter's. It is for one goroutine.
type Probe struct{ r *run }

// Probe returns a probe, which is to be ended. Until then the job's frame is its.
func (p *Plan) Probe(ctx context.Context, j Job) Probe {
	r := p.begin(ctx, j, page{0, math.MaxInt64})
	r.trace.begin()
	return Probe{r}
}

// End ends the probe.
func (p Probe) End() {
	p.r.trace.end()
	p.r.end()
}

// Settled returns what the filter fails with whatever the row.
func (p Probe) Settled() error { return p.r.settled(p.r.f) }

// Test returns the row with that id, if there is one and it passes the filter;
// else nil. The frame stands at it.
func (p Probe) Test(id uint64) ([]byte, error) {
	r := p.r
	if err := r.step(); err != nil {
		return nil, err
	}
	b, err := r.t.Get(id)
	if b == nil || err != nil {
		return nil, err
	}
	return r.passing(id, b)
}

// TestNamed is Test of a row that an index names. If it is not there, that is damage.
func (p Probe) TestNamed(id uint64) ([]byte, error) {
	r := p.r
	if err := r.step(); err != nil {
		return nil, err
	}
	b, err := r.t.Named(id)
	if b == nil || err != nil {
		return nil, err
	}
	return r.passing(id, b)
}

// passing returns a row if it passes the filter; else nil. The frame stands at it.
func (r *run) passing(id uint64, b []byte) ([]byte, error) {
	b = r.still(b)
	if ok, err := r.test(id, b); !ok || err != nil {
		return nil, err
	}
	return b, nil
}

// Few returns the ids, ascending, of rows among which are all that pass the
// filter, if indexes lead to no more than most of them; ok says so. The slice is
// good until the probe ends.
func (p Probe) Few(most int) (list []uint64, ok bool, err error) {
	r := p.r
	if len(r.cond.terms) == 0 {
		return nil, false, nil
	}
	found := resolved{ids: allIDs, options: r.options}
	res := resolver{run: r, f: r.f}
	res.resolve(&r.cond, &found)
	r.options = found.options
	switch {
	case found.none():
		r.trace.nothing("no row can pass")
		return nil, true, nil
	case found.point():
		r.trace.point(found.ids.first)
		return []uint64{found.ids.first}, true, nil
	case len(found.options) == 0:
		return nil, false, nil
	}
	list, winner, err := r.race(&found, most)
	if winner == nil || err != nil {
		return nil, false, err
	}
	r.trace.option(r, winner, len(list))
	return list, true, nil
}

// Around returns the ids, ascending, of rows among which are all with a point up to
// metres from center, by the index x of points; ok is false if they are more than
// most. The slice is good until the next call.
func (p Probe) Around(x *catalog.Index, center geo.Point, metres float64, most int) (list []uint64, ok bool, err error) {
	o := option{index: x, spans: cellSpans(x, geo.CoverCircle(center, metres, maxCover))}
	c := racer{run: p.r, o: &o, list: p.r.list[:0]}
	defer c.close()
	ok, err = c.within(most)
	p.r.list = c.list
	if !ok || err != nil {
		return nil, false, err
	}
	return c.ids(allIDs), true, nil
}

// All reports whether every row passes the filter: there is none.
func (p *Plan) All() bool { return p.all && p.where == nil }

// Ascending reports whether the filter must meet all rows, by ascending id: under
// an imposed condition an error would else tell which ones it met.
func (p *Plan) Ascending() bool { return p.on && p.unsure }

// Imposed reports whether a condition is imposed on the rows.
func (p *Plan) Imposed() bool { return p.on }
