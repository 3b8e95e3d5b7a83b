package geo

import (
	"math"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// Box is the part of the globe from West eastward to East and from South to
// North, in degrees, edges included. Where West > East it crosses the
// antimeridian. The meridians 180 and -180 are one line, but a point is in a box
// by the longitude it is written with.
type Box struct{ West, South, East, North float64 }

// BoxOf returns the box that v is: a list or a vector of four numbers, west,
// south, east and north, that Check accepts. Anything else, null too, is a
// fault.Type.
func BoxOf(v value.Value) (Box, error) {
	c, n := numbers(v)
	if n != 4 {
		return Box{}, fault.New(fault.Type, "want a box of [west, south, east, north], got %s", short(v))
	}
	b := Box{c[0], c[1], c[2], c[3]}
	return b, b.Check()
}

// Check returns why b is no box: a longitude or a latitude out of range, or a
// south that is north of its north.
func (b Box) Check() error {
	switch {
	case !within(b.West, value.MaxLongitude) || !within(b.East, value.MaxLongitude):
		return fault.New(fault.Type, "a box from longitude %g to %g, want them from -180 to 180", b.West, b.East)
	case !within(b.South, value.MaxLatitude) || !within(b.North, value.MaxLatitude):
		return fault.New(fault.Type, "a box from latitude %g to %g, want them from -90 to 90", b.South, b.North)
	case b.South > b.North:
		return fault.New(fault.Type, "a box from latitude %g to %g, want the south before the north", b.South, b.North)
	}
	return nil
}

// Contains reports whether p is in b or on its edge.
func (b Box) Contains(p Point) bool {
	if p.Lat < b.South || p.Lat > b.North {
		return false
	}
	if b.West > b.East {
		return p.Lon >= b.West || p.Lon <= b.East
	}
	return p.Lon >= b.West && p.Lon <= b.East
}

// everywhere is the box of all points.
var everywhere = Box{-180, -90, 180, 90}

// around returns a box that contains all points up to metres from center, and
// somewhat more: the errors of Distance are within it.
func around(center Point, metres float64) Box {
	const slack = 1e-9 // radians, some millimetres
	angle := metres/Radius + slack
	if !(angle < 3) {
		return everywhere // Distance grows inexact
	}
	lat := center.Lat * radians
	b := Box{-180, (lat - angle) / radians, 180, (lat + angle) / radians}
	if b.South <= -90 || b.North >= 90 {
		// A pole is within, and with it every meridian.
		b.South, b.North = max(b.South, -90), min(b.North, 90)
		return b
	}
	// The meridians that touch the circle, which is less than a quarter of the
	// globe. The arc sine is inexact near 1.
	lon := math.Asin(min(math.Sin(angle)/math.Cos(lat), 1))
	lon = (lon*(1+1e-6) + slack) / radians
	b.West, b.East = center.Lon-lon, center.Lon+lon
	if b.West < -180 {
		b.West += 360
	}
	if b.East > 180 {
		b.East -= 360
	}
	return b
}
