// Package geo measures distances on the globe and finds which points lie in a
// box or a circle.
//
// A [Point] is a longitude and a latitude in degrees. [Distance] takes the globe
// for a sphere. [Box] is bounded by two meridians and two parallels and may cross
// the antimeridian, where longitudes go from 180 to -180.
//
// For an index, [Cell] maps a point to a number so that points near each other
// mostly have numbers near each other, and [Cover] and [CoverCircle] give the
// ranges of numbers among which all points of a box or a circle are, besides
// others that the caller tells apart.
//
// Errors are fault.Type. Nothing here has state: all functions are safe for
// concurrent use.
package geo

import (
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Radius is the radius of the globe in metres.
const Radius = 6372797.560856

const radians = math.Pi / 180 // of a degree

// Point is a place on the globe.
type Point struct {
	Lon float64 // degrees, from -180 to 180, east is positive
	Lat float64 // degrees, from -90 to 90, north is positive
}

// PointOf returns the point that v is: a list or a vector of two numbers in
// range. Anything else, null too, is a fault.Type.
func PointOf(v value.Value) (Point, error) {
	c, n := numbers(v)
	p := Point{c[0], c[1]}
	if n != 2 || !within(p.Lon, value.MaxLongitude) || !within(p.Lat, value.MaxLatitude) {
		return Point{}, fault.New(fault.Type, "want a point of a longitude within %d and a latitude within %d degrees, got %s",
			value.MaxLongitude, value.MaxLatitude, short(v))
	}
	return p, nil
}

// numbers returns the numbers of a list or a vector of at most four, and how many
// they are, which is 0 for anything else.
func numbers(v value.Value) (c [4]float64, n int) {
	if v.Kind() == value.KindVector {
		// 0.1 as a float32 is 0.1 here, as it is in a field.
		v, _ = value.Coerce(v, value.ListType(value.TypeFloat))
	}
	if v.Kind() != value.KindList || v.Len() > len(c) {
		return c, 0
	}
	for i, e := range v.AsList() {
		if e.Kind() != value.KindInt && e.Kind() != value.KindFloat {
			return c, 0
		}
		c[i], _ = e.Number()
	}
	return c, v.Len()
}

func within(x, limit float64) bool { return x >= -limit && x <= limit }

// short returns v for a message, or its kind if it is long.
func short(v value.Value) string {
	if v.Len() > 4 {
		return v.Kind().String()
	}
	return v.String()
}

// Distance returns the metres between two points along a great circle, by the
// haversine formula (Sinnott 1984). It is exact to about a millimetre, and to
// decimetres between points on opposite sides of the globe.
func Distance(a, b Point) float64 {
	lon := math.Abs(a.Lon - b.Lon)
	if lon > 180 {
		lon = 360 - lon
	}
	sinLon := math.Sin(lon * radians / 2)
	sinLat := math.Sin((a.Lat - b.Lat) * radians / 2)
	h := sinLat*sinLat + math.Cos(a.Lat*radians)*math.Cos(b.Lat*radians)*sinLon*sinLon
	return 2 * Radius * math.Asin(math.Sqrt(min(h, 1)))
}
