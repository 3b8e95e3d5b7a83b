package geo_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/geo"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// randomPoint returns a point anywhere, or at and near the poles and the
// antimeridian.
func randomPoint(r *rand.Rand) geo.Point {
	p := geo.Point{Lon: r.Float64()*360 - 180, Lat: r.Float64()*180 - 90}
	switch r.IntN(6) {
	case 0:
		p.Lon = []float64{-180, 180, 0, 90, -90}[r.IntN(5)]
	case 1:
		p.Lon = math.Copysign(180-r.ExpFloat64()*0.01, p.Lon)
	}
	switch r.IntN(6) {
	case 0:
		p.Lat = []float64{-90, 90, 0}[r.IntN(3)]
	case 1:
		p.Lat = math.Copysign(90-r.ExpFloat64()*0.01, p.Lat)
	}
	return geo.Point{Lon: max(-180, min(p.Lon, 180)), Lat: max(-90, min(p.Lat, 90))}
}

func TestDistance(t *testing.T) {
	quarter := geo.Radius * math.Pi / 2
	tests := []struct {
		a, b geo.Point
		want float64
	}{
		{geo.Point{28.9784, 41.0082}, geo.Point{29, 41}, 2029.547},
		{geo.Point{32.8597, 39.9334}, geo.Point{29, 41}, 347444.443},
		{geo.Point{28.9784, 41.0082}, geo.Point{32.8597, 39.9334}, 349454.309},
		{geo.Point{13.361389, 38.115556}, geo.Point{15.087269, 37.502669}, 166274.2577914073},
		{geo.Point{0, 0}, geo.Point{0, 1}, 111226.30},
		{geo.Point{179.5, 0}, geo.Point{180, 0}, 55613.15},
		{geo.Point{-179.5, 0}, geo.Point{180, 0}, 55613.15},
		{geo.Point{-179.5, 0}, geo.Point{179.5, 0}, 111226.30},
		{geo.Point{180, 12}, geo.Point{-180, 12}, 0},
		{geo.Point{10, 90}, geo.Point{-70, 90}, 0},
		{geo.Point{0, 90}, geo.Point{33, 0}, quarter},
		{geo.Point{0, 0}, geo.Point{180, 0}, 2 * quarter},
		{geo.Point{20, -90}, geo.Point{30, 90}, 2 * quarter},
	}
	for _, test := range tests {
		require.InDelta(t, test.want, geo.Distance(test.a, test.b), 1e-2, test)
		require.InDelta(t, test.want, geo.Distance(test.b, test.a), 1e-2, test)
	}
	require.InDelta(t, 166274.2577914073, geo.Distance(geo.Point{13.361389, 38.115556}, geo.Point{15.087269, 37.502669}), 1e-9)
	p := geo.Point{28.9784, 41.0082}
	require.Zero(t, geo.Distance(p, p))
}

// chord is another way to a distance: the angle between two vectors.
func chord(a, b geo.Point) float64 {
	at := func(p geo.Point) (x, y, z float64) {
		lon, lat := p.Lon*math.Pi/180, p.Lat*math.Pi/180
		return math.Cos(lat) * math.Cos(lon), math.Cos(lat) * math.Sin(lon), math.Sin(lat)
	}
	ax, ay, az := at(a)
	bx, by, bz := at(b)
	cx, cy, cz := ay*bz-az*by, az*bx-ax*bz, ax*by-ay*bx
	return geo.Radius * math.Atan2(math.Sqrt(cx*cx+cy*cy+cz*cz), ax*bx+ay*by+az*bz)
}

func TestDistanceAgainstVectors(t *testing.T) {
	r := newRand(1)
	for range 5000 {
		a, b := randomPoint(r), randomPoint(r)
		d := geo.Distance(a, b)
		delta := 1e-3
		if d > 3*geo.Radius {
			delta = 0.3
		}
		require.InDelta(t, chord(a, b), d, delta, "%v %v", a, b)
		require.Equal(t, d, geo.Distance(b, a))
	}
}

func TestPointOf(t *testing.T) {
	for _, v := range []value.Value{
		value.Point(28.5, 41), value.List([]value.Value{value.Float(28.5), value.Int(41)}), value.Vector([]float32{28.5, 41}),
	} {
		p, err := geo.PointOf(v)
		require.NoError(t, err)
		require.Equal(t, geo.Point{28.5, 41}, p)
	}
	p, err := geo.PointOf(value.Vector([]float32{28.9784, 41.0082}))
	require.NoError(t, err)
	require.Equal(t, geo.Point{28.9784, 41.0082}, p)
	for _, v := range []value.Value{value.Vector([]float32{1, float32(math.NaN())}), value.Vector(make([]float32, 9)), value.Null, value.Point(181, 0), value.Point(0, 91), value.Text("[1,2]"), value.List(nil), box(0, 0, 1, 1)} {
		_, err := geo.PointOf(v)
		require.Equal(t, fault.Type, fault.KindOf(err), v)
	}
}

func box(c ...float64) value.Value {
	list := make([]value.Value, len(c))
	for i, f := range c {
		list[i] = value.Float(f)
	}
	return value.List(list)
}

func TestBoxOf(t *testing.T) {
	ints := value.List([]value.Value{value.Int(170), value.Int(-1), value.Int(-170), value.Int(1)})
	for _, v := range []value.Value{box(170, -1, -170, 1), ints, value.Vector([]float32{170, -1, -170, 1})} {
		b, err := geo.BoxOf(v)
		require.NoError(t, err)
		require.Equal(t, geo.Box{170, -1, -170, 1}, b)
	}
	for _, v := range []value.Value{
		box(0, 10, 1, 5), box(-181, 0, 1, 1), box(0, 0, 180.5, 1), box(0, -91, 1, 1), box(0, 0, 1, 91), box(math.NaN(), 0, 1, 1),
		box(0, 0, 1), box(0, 0, 1, 1, 1), value.Null, value.Text("[0,0,1,1]"),
		value.List([]value.Value{value.Int(0), value.Int(0), value.Int(1), value.Null}),
		value.List([]value.Value{value.Int(0), value.Int(0), value.Int(1), value.Text("1")}),
	} {
		_, err := geo.BoxOf(v)
		require.Equal(t, fault.Type, fault.KindOf(err), v)
	}
}

func TestContains(t *testing.T) {
	plain, crossing := geo.Box{25, 35, 45, 42}, geo.Box{170, -1, -170, 1}
	tests := []struct {
		b    geo.Box
		p    geo.Point
		want bool
	}{
		{plain, geo.Point{28.9784, 41.0082}, true},
		{plain, geo.Point{25, 35}, true},
		{plain, geo.Point{45, 42}, true},
		{plain, geo.Point{24.9, 40}, false},
		{plain, geo.Point{45.1, 40}, false},
		{plain, geo.Point{30, 34.9}, false},
		{plain, geo.Point{30, 42.1}, false},
		{crossing, geo.Point{179.5, 0}, true},
		{crossing, geo.Point{-179.5, 0}, true},
		{crossing, geo.Point{180, 1}, true},
		{crossing, geo.Point{-170, -1}, true},
		{crossing, geo.Point{169, 0}, false},
		{crossing, geo.Point{0, 0}, false},
		{crossing, geo.Point{180, 1.1}, false},
		{geo.Box{7, 8, 7, 8}, geo.Point{7, 8}, true},
	}
	for _, test := range tests {
		require.Equal(t, test.want, test.b.Contains(test.p), test)
	}
}
