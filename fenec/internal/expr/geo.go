package expr

import (
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/geo"
	"github.com/fenec-go/fenecdb/fenec/internal/hll"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// point returns the point that n gives. ok is false when that is null.
func point(f *Frame, n node) (p geo.Point, ok bool, err error) {
	if x, isField := n.(*field); isField && x.typ.Is(value.BaseGeo) {
		p.Lon, p.Lat, ok, err = f.row.Point(x.at)
		return p, ok, err
	}
	v, err := n.eval(f)
	if err != nil || v.IsNull() {
		return p, false, err
	}
	p, err = geo.PointOf(v)
	return p, true, err
}

// distance is the metres between two points.
type distance struct{ left, right node }

func (x *distance) eval(f *Frame) (value.Value, error) {
	a, okA, err := point(f, x.left)
	if err != nil {
		return value.Null, err
	}
	b, okB, err := point(f, x.right)
	if err != nil || !okA || !okB {
		return value.Null, err
	}
	return value.Float(geo.Distance(a, b)), nil
}

// inBox tells whether a point is in a box.
type inBox struct{ point, box node }

func (x *inBox) eval(f *Frame) (value.Value, error) {
	p, ok, err := point(f, x.point)
	if err != nil {
		return value.Null, err
	}
	v, err := x.box.eval(f)
	if err != nil || v.IsNull() {
		return value.Null, err
	}
	box, err := geo.BoxOf(v)
	if err != nil || !ok {
		return value.Null, err
	}
	return value.Bool(box.Contains(p)), nil
}

// hllEstimate returns how many values a sketch has counted.
func hllEstimate(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.KindNull:
		return v, nil
	case value.KindBytes:
		s, err := hll.Decode(v.AsBytes())
		if err != nil {
			return value.Null, err
		}
		return value.Int(s.Estimate()), nil
	}
	return value.Null, fault.New(fault.Type, "want a sketch as bytes, got %s", v.Kind())
}
