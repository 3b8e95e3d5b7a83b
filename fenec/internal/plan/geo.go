package plan

import (
	"strings"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/geo"
	"github.com/fenec-go/fenecdb/fenec/internal/key"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// maxCover is into how many ranges of cells an area is parted.
const maxCover = 16

// geoCall returns the target and the constant of a function of two points, or of
// a point and a box. Its arguments may be exchanged if either.
func (a *analyzer) geoCall(e ql.Expr, name string, either bool) (of target, other ql.Expr, ok bool) {
	call, ok := e.(*ql.Call)
	if !ok || len(call.Args) != 2 || !strings.EqualFold(call.Name, name) || a.c.Functions[name].Of != nil {
		return target{}, nil, false
	}
	if of, ok = a.place(call.Args[0]); ok {
		return of, call.Args[1], true
	}
	if !either {
		return target{}, nil, false
	}
	of, ok = a.place(call.Args[1])
	return of, call.Args[0], ok
}

// place returns the target that e names, if its index is one of points.
func (a *analyzer) place(e ql.Expr) (target, bool) {
	t, ok := targetOf(a.c.Collection(), e)
	return t, ok && !t.isID() && t.index.Kind == catalog.Geo
}

// near is "distance(field, point) < metres", or <=.
func (a *analyzer) near(e ql.Expr, op termOp, metres ql.Expr) (term, bool, error) {
	if op != opLess && op != opLessEqual {
		return term{}, false, nil
	}
	of, point, ok := a.geoCall(e, "distance", true)
	if !ok {
		return term{}, false, nil
	}
	return a.constants(term{target: of, op: opNear}, point, metres)
}

// within is "within(field, box)".
func (a *analyzer) within(e ql.Expr) (term, bool, error) {
	of, box, ok := a.geoCall(e, "within", false)
	if !ok {
		return term{}, false, nil
	}
	return a.constants(term{target: of, op: opWithin}, box)
}

// area adds the entries of cells that hold the points a term asks for. A
// constant that is no point or no box is left to the rows.
func (r *resolver) area(t *term, out *resolved) {
	cells, ok := cover(t, r.f)
	if !ok {
		return
	}
	out.add(option{index: t.index, spans: cellSpans(t.index, cells)})
}

// cellSpans returns the entries of an index of points in cells.
func cellSpans(x *catalog.Index, cells []geo.Range) []span {
	spans := make([]span, len(cells))
	for i, c := range cells {
		spans[i] = span{
			index: x,
			lower: key.Append(nil, value.Int(c.First)),
			upper: key.Next(key.Append(nil, value.Int(c.Last))),
		}
	}
	return spans
}

func cover(t *term, f *expr.Frame) (cells []geo.Range, ok bool) {
	v, err := t.constant(f, 0)
	if err != nil {
		return nil, false
	}
	if t.op == opWithin {
		box, err := geo.BoxOf(v)
		if err != nil {
			return nil, false
		}
		return geo.Cover(box, maxCover), true
	}
	center, err := geo.PointOf(v)
	if err != nil {
		return nil, false
	}
	metres, err := t.constant(f, 1)
	if err != nil || !metres.IsNumber() {
		return nil, false
	}
	m, _ := metres.Number()
	return geo.CoverCircle(center, m, maxCover), m == m // a NaN equals every number
}
