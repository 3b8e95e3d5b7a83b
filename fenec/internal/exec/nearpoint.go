package exec

import (
	"context"
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/geo"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// nearPoint ranks rows by the metres from a point.
type nearPoint struct {
	field int
	query *expr.Expr
	index *catalog.Index // or nil
}

const (
	firstCircle  = 500  // metres
	circleGrowth = 3    // from one circle to the next
	circleShare  = 16   // the part of a collection that is worth looking at in circles
	fewPoints    = 1024 // that are worth it at any rate
)

func (n *nearPoint) rank(ctx context.Context, s *search, k int) ([]vector.Hit, error) {
	center, err := n.given(s.job.Frame)
	if err != nil {
		return nil, err
	}
	name := s.col.Fields[n.field].Name
	if n.index != nil && !s.plan.Ascending() {
		done, err := n.circles(ctx, s, center, k)
		if done || err != nil {
			s.env.trace.Step(plan.StepNear, name).Note("circles around the point, by index %s", name)
			return s.top.Hits(), err
		}
	}
	s.top.Reset(vector.L2, k)
	err = s.scan(ctx, func(plan.Row) error { return n.measure(s, center, math.Inf(1)) })
	s.env.trace.Step(plan.StepNear, name).Note("every point that passes the filter is measured")
	return s.top.Hits(), err
}

func (n *nearPoint) check(f *expr.Frame) error {
	_, err := n.given(f)
	return err
}

// given returns the point that distances are from.
func (n *nearPoint) given(f *expr.Frame) (geo.Point, error) {
	v, err := n.query.Eval(f)
	if err != nil {
		return geo.Point{}, err
	}
	return geo.PointOf(v)
}

// circles looks in ever wider circles until one holds k rows. It gives up where
// that takes a good part of the collection.
func (n *nearPoint) circles(ctx context.Context, s *search, center geo.Point, k int) (done bool, err error) {
	rows, err := s.job.Table.Rows()
	if err != nil {
		return false, err
	}
	most := max(int(rows)/circleShare, fewPoints)
	probe := s.plan.Probe(ctx, s.job)
	defer probe.End()
	if err := probe.Settled(); err != nil {
		return false, err
	}
	for metres := float64(firstCircle); metres < math.Pi*geo.Radius; metres *= circleGrowth {
		list, ok, err := probe.Around(n.index, center, metres, most)
		if !ok || err != nil {
			return false, err
		}
		s.top.Reset(vector.L2, k)
		for _, id := range list {
			b, err := probe.Test(id)
			if err != nil {
				return false, err
			}
			if b == nil {
				continue
			}
			if err := n.measure(s, center, metres); err != nil {
				return false, err
			}
		}
		if _, full := s.top.Bound(); full {
			return true, nil
		}
	}
	return false, nil
}

// measure shows the search's best the row that its frame stands at, if its point
// scores less than metres. All that score the same are then within the circle or none
// is: a score is a float32, as are the radii of circles.
func (n *nearPoint) measure(s *search, center geo.Point, metres float64) error {
	f := s.job.Frame
	lon, lat, ok, err := f.Row().Point(n.field)
	if !ok || err != nil {
		return err
	}
	if d := float32(geo.Distance(center, geo.Point{Lon: lon, Lat: lat})); float64(d) < metres {
		s.top.Add(f.ID(), d)
	}
	return nil
}
