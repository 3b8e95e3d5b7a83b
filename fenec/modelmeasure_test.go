package fenec_test

import (
	"math"
	"strconv"

	"github.com/fenec-go/fenecdb/fenec"
)

// vectorCall calls one of the functions of vectors.
func vectorCall(name string, args []any) (any, error) {
	vs := make([]vector, 2)
	for i, a := range args {
		switch x := a.(type) {
		case vector:
			vs[i] = x
		case []any:
			if !numbersOnly(x) {
				return nil, fenec.ErrType
			}
			for _, e := range x {
				vs[i] = append(vs[i], float32(number(e)))
			}
		default:
			return nil, fenec.ErrType
		}
	}
	a, b := vs[0], vs[1]
	if len(args) == 2 && len(a) != len(b) {
		return nil, fenec.ErrType
	}
	switch name {
	case "dot":
		return dot(a, b), nil
	case "l2":
		sum := 0.0
		for i := range a {
			sum += (float64(a[i]) - float64(b[i])) * (float64(a[i]) - float64(b[i]))
		}
		return math.Sqrt(sum), nil
	case "cosine":
		lengths := math.Sqrt(dot(a, a) * dot(b, b))
		if lengths == 0 {
			return 0.0, nil
		}
		return min(max(dot(a, b)/lengths, -1), 1), nil
	case "norm":
		return math.Sqrt(dot(a, a)), nil
	case "normalize":
		out := make(vector, len(a))
		if norm := math.Sqrt(dot(a, a)); norm > 0 {
			for i := range a {
				out[i] = float32(float64(a[i]) / norm)
			}
		}
		return out, nil
	}
	panic("the model does not know " + name)
}

func dot(a, b vector) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// geoCall calls distance or within.
func geoCall(name string, args []any) (any, error) {
	sides := []int{2, 2}
	if name == "within" {
		sides[1] = 4
	}
	var parts [][]float64
	for i, a := range args {
		if a == nil {
			continue
		}
		c, err := corners(a, sides[i])
		if err != nil {
			return nil, err
		}
		if len(c) == 4 && c[1] > c[3] {
			return nil, fenec.ErrType
		}
		parts = append(parts, c)
	}
	switch {
	case len(parts) < 2:
		return nil, nil
	case name == "within":
		return inBox(parts[0], parts[1]), nil
	}
	return metres(parts[0], parts[1]), nil
}

func inBox(p, box []float64) bool {
	west, south, east, north := box[0], box[1], box[2], box[3]
	across := p[0] >= west && p[0] <= east
	if west > east {
		across = p[0] >= west || p[0] <= east
	}
	return across && p[1] >= south && p[1] <= north
}

// metres is the haversine formula.
func metres(a, b []float64) float64 {
	const degree = math.Pi / 180
	lon := math.Abs(a[0] - b[0])
	if lon > 180 {
		lon = 360 - lon
	}
	sinLon, sinLat := math.Sin(lon*degree/2), math.Sin((a[1]-b[1])*degree/2)
	h := sinLat*sinLat + math.Cos(a[1]*degree)*math.Cos(b[1]*degree)*sinLon*sinLon
	return 2 * 6372797.560856 * math.Asin(math.Sqrt(min(h, 1)))
}

func atoi(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
