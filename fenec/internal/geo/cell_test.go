package geo_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/geo"
)

// TestCells pins the numbers that files hold.
func TestCells(t *testing.T) {
	for p, want := range map[geo.Point]int64{
		{-180, -90}:        math.MinInt64,
		{180, 90}:          math.MaxInt64,
		{-180, 90}:         math.MinInt64 + 0x5555555555555555,
		{0, 0}:             0x4000000000000000,
		{0, -90}:           0,
		{28.9784, 41.0082}: 0x4764938e668b3219,
	} {
		require.Equal(t, want, geo.Cell(p), "%v", p)
	}
}

// TestCellsAreOrdered checks that a point further east and further north never
// has a lower number.
func TestCellsAreOrdered(t *testing.T) {
	r := newRand(2)
	for range 10000 {
		a, b := randomPoint(r), randomPoint(r)
		low := geo.Point{Lon: min(a.Lon, b.Lon), Lat: min(a.Lat, b.Lat)}
		high := geo.Point{Lon: max(a.Lon, b.Lon), Lat: max(a.Lat, b.Lat)}
		require.LessOrEqual(t, geo.Cell(low), geo.Cell(high))
	}
}

func holds(ranges []geo.Range, p geo.Point) bool {
	cell := geo.Cell(p)
	return slices.ContainsFunc(ranges, func(r geo.Range) bool { return r.First <= cell && cell <= r.Last })
}

func requireRanges(t *testing.T, ranges []geo.Range, limit int) {
	t.Helper()
	require.NotEmpty(t, ranges)
	require.LessOrEqual(t, len(ranges), max(limit, 1))
	for i, r := range ranges {
		require.LessOrEqual(t, r.First, r.Last)
		if i > 0 {
			require.Less(t, ranges[i-1].Last, r.First-1)
		}
	}
}

func randomLimit(r *rand.Rand) int { return []int{0, 1, 2, 5, 8, 20, 64}[r.IntN(7)] }

// size returns a size from a billionth of most to most.
func size(r *rand.Rand, most float64) float64 { return most * math.Pow(10, -9*r.Float64()) }

func TestCover(t *testing.T) {
	r := newRand(3)
	for range 2000 {
		corner, limit := randomPoint(r), randomLimit(r)
		b := geo.Box{corner.Lon, corner.Lat, corner.Lon + size(r, 360), min(corner.Lat+size(r, 180), 90)}
		if b.East > 180 {
			b.East -= 360
		}
		require.NoError(t, b.Check())
		ranges := geo.Cover(b, limit)
		requireRanges(t, ranges, limit)
		for range 40 {
			p := inBox(r, b)
			require.True(t, b.Contains(p))
			require.True(t, holds(ranges, p), "%v %v", b, p)
			if p := randomPoint(r); b.Contains(p) {
				require.True(t, holds(ranges, p), "%v %v", b, p)
			}
		}
	}
}

// inBox returns a point of b, often one on its edge.
func inBox(r *rand.Rand, b geo.Box) geo.Point {
	part := func() float64 { return max(0, min(r.Float64()*1.5-0.25, 1)) }
	p := geo.Point{Lat: max(b.South, min(b.South+part()*(b.North-b.South), b.North))}
	width := b.East - b.West
	if width < 0 {
		width += 360
	}
	p.Lon = b.West + part()*width
	switch {
	case b.West > b.East && p.Lon > 180:
		p.Lon = max(-180, min(p.Lon-360, b.East))
	case b.West <= b.East:
		p.Lon = max(b.West, min(p.Lon, b.East))
	}
	return p
}

func TestCoverCircle(t *testing.T) {
	r := newRand(4)
	within := 0
	for range 2000 {
		center, limit := randomPoint(r), randomLimit(r)
		metres := size(r, math.Pi*geo.Radius*1.1)
		ranges := geo.CoverCircle(center, metres, limit)
		requireRanges(t, ranges, limit)
		require.True(t, holds(ranges, center))
		for range 60 {
			p := near(r, center, metres)
			if geo.Distance(center, p) <= metres {
				within++
				require.True(t, holds(ranges, p), "%v %v %v", center, metres, p)
			}
		}
	}
	require.Greater(t, within, 20000)
}

// near returns a point about metres or less from center, in any direction.
func near(r *rand.Rand, center geo.Point, metres float64) geo.Point {
	angle := min(metres/geo.Radius, math.Pi) * []float64{1, 1 - 1e-12, 0.999, math.Sqrt(r.Float64())}[r.IntN(4)]
	course := r.Float64() * 2 * math.Pi
	if r.IntN(3) == 0 {
		course = math.Round(course/(math.Pi/2)) * math.Pi / 2
	}
	lat := center.Lat * math.Pi / 180
	sin := math.Sin(lat)*math.Cos(angle) + math.Cos(lat)*math.Sin(angle)*math.Cos(course)
	lon := center.Lon*math.Pi/180 + math.Atan2(math.Sin(course)*math.Sin(angle)*math.Cos(lat), math.Cos(angle)-math.Sin(lat)*sin)
	p := geo.Point{Lon: lon * 180 / math.Pi, Lat: math.Asin(max(-1, min(sin, 1))) * 180 / math.Pi}
	switch {
	case p.Lon > 180:
		p.Lon -= 360
	case p.Lon < -180:
		p.Lon += 360
	}
	if math.Abs(p.Lon) == 180 && r.IntN(2) == 0 {
		p.Lon = -p.Lon
	}
	return p
}

// The two meridians that are one belong to the same circles.
func TestCoverCircleAtTheAntimeridian(t *testing.T) {
	for _, lon := range []float64{179, -179, 180, -180} {
		center := geo.Point{Lon: lon, Lat: 10}
		for _, other := range []float64{180, -180} {
			p := geo.Point{Lon: other, Lat: 10}
			require.True(t, holds(geo.CoverCircle(center, geo.Distance(center, p), 8), p), "%v %v", lon, other)
		}
	}
}

func TestCoverCircleOfNothing(t *testing.T) {
	require.Empty(t, geo.CoverCircle(geo.Point{}, -1, 8))
	require.Empty(t, geo.CoverCircle(geo.Point{}, math.NaN(), 8))
	all := []geo.Range{{math.MinInt64, math.MaxInt64}}
	require.Equal(t, all, geo.CoverCircle(geo.Point{}, math.Inf(1), 8))
	require.Equal(t, all, geo.Cover(geo.Box{-180, -90, 180, 90}, 8))
	require.Equal(t, all, geo.Cover(geo.Box{-180, -90, 180, 90}, 1))
}

// TestCoverIsTight bounds how many cells besides a circle's are covered: with
// some ranges to spend, not many times the circle's own.
func TestCoverIsTight(t *testing.T) {
	r := newRand(5)
	for _, bound := range []struct {
		limit  int
		factor float64
	}{{4, 3.5}, {16, 2}, {64, 1.5}} {
		var sum float64
		const circles = 300
		for range circles {
			center := geo.Point{Lon: r.Float64()*340 - 170, Lat: r.Float64()*140 - 70}
			metres := size(r, 500e3) + 1
			var cells float64
			for _, x := range geo.CoverCircle(center, metres, bound.limit) {
				cells += float64(x.Last) - float64(x.First)
			}
			// A cell's share of the globe's area, which is wider at the equator.
			height, width := 180/math.Pow(2, 32), 360/math.Pow(2, 32)*math.Cos(center.Lat*math.Pi/180)
			degree := geo.Radius * math.Pi / 180
			sum += cells * height * width * degree * degree / (math.Pi * metres * metres)
		}
		require.Less(t, sum/circles, bound.factor, bound.limit)
	}
}

func BenchmarkCoverCircle(b *testing.B) {
	for b.Loop() {
		geo.CoverCircle(geo.Point{28.9784, 41.0082}, 5000, 16)
	}
}

func BenchmarkDistance(b *testing.B) {
	p, q := geo.Point{28.9784, 41.0082}, geo.Point{32.8597, 39.9334}
	for b.Loop() {
		geo.Distance(p, q)
	}
}
