package value

import "github.com/fenec-go/fenecdb/fenec/internal/fault"

// Bounds of a point's coordinates, in degrees.
const (
	MaxLongitude = 180
	MaxLatitude  = 90
)

// toPoint returns a point as a geo field stores it: a list of two floats, its
// longitude and its latitude.
func toPoint(v Value) (Value, error) {
	if v.kind == KindVector {
		v = vectorList(v.AsVector())
	}
	if v.kind != KindList || v.Len() != 2 {
		return Null, mismatch(v, TypeGeo)
	}
	elems := v.AsList()
	lon, okLon := coordinate(elems[0], MaxLongitude)
	lat, okLat := coordinate(elems[1], MaxLatitude)
	if !okLon || !okLat {
		return Null, fault.New(fault.Type, "want %s, a longitude within %d and a latitude within %d degrees, got [%s,%s]",
			TypeGeo, MaxLongitude, MaxLatitude, describe(elems[0]), describe(elems[1]))
	}
	return Point(lon, lat), nil
}

// Point returns the list of two floats that a point is.
func Point(lon, lat float64) Value { return List([]Value{Float(lon), Float(lat)}) }

// coordinate returns a plain number that is at most limit from 0, and 0 for -0.
func coordinate(v Value, limit float64) (float64, bool) {
	if !isPlainNumber(v) {
		return 0, false
	}
	f, _ := v.Number()
	if f == 0 {
		return 0, true
	}
	return f, f >= -limit && f <= limit
}
