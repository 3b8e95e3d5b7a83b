package geo

import (
	"cmp"
	"slices"
)

// Cell returns the number of the cell that p lies in. The globe is parted into
// 2^32 by 2^32 cells, about a centimetre wide, and these are numbered in Z-order
// (Morton 1966): the bits of the column and the row alternate, the column's
// first, and the first of all is inverted, so that the order of the numbers is
// that of int64s. Cells are part of stored files.
func Cell(p Point) int64 {
	return signed(interleave(column(p.Lon))<<1 | interleave(line(p.Lat)))
}

// column and line return where cells are from the west and from the south. They
// never decrease as their argument increases, which Cover relies on.
func column(lon float64) uint32 { return part((lon + 180) / 360) }

func line(lat float64) uint32 { return part((lat + 90) / 180) }

func part(fraction float64) uint32 {
	const cells = 1 << 32
	return uint32(min(max(fraction*cells, 0), cells-1))
}

// interleave puts a zero before each bit of x.
func interleave(x uint32) uint64 {
	z := uint64(x)
	z = (z | z<<16) & 0x0000ffff0000ffff
	z = (z | z<<8) & 0x00ff00ff00ff00ff
	z = (z | z<<4) & 0x0f0f0f0f0f0f0f0f
	z = (z | z<<2) & 0x3333333333333333
	return (z | z<<1) & 0x5555555555555555
}

// signed maps unsigned numbers to signed ones in the same order.
func signed(z uint64) int64 { return int64(z ^ 1<<63) }

// Range is a range of cells, both ends included.
type Range struct{ First, Last int64 }

// Cover returns at most limit ranges, one at least, that hold the cells of all
// points in b. They are ascending and do not touch. More ranges hold fewer cells
// of other points. b is one that Check accepts.
func Cover(b Box, limit int) []Range {
	if b.West > b.East {
		return cover([]rect{
			rectOf(Box{b.West, b.South, 180, b.North}),
			rectOf(Box{-180, b.South, b.East, b.North}),
		}, limit)
	}
	return cover([]rect{rectOf(b)}, limit)
}

// CoverCircle returns at most limit ranges that hold the cells of all points up
// to metres from center, as Distance measures. There are none when metres is
// negative or NaN.
func CoverCircle(center Point, metres float64, limit int) []Range {
	if !(metres >= 0) {
		return nil
	}
	return Cover(around(center, metres), limit)
}

// rect is a rectangle of cells, edges included.
type rect struct{ west, south, east, north uint32 }

func rectOf(b Box) rect {
	return rect{column(b.West), line(b.South), column(b.East), line(b.North)}
}

// square is a part of the globe whose cells have numbers that follow each other.
type square struct {
	rect
	first uint64 // number of its first cell
	level uint   // its sides are 2^(32-level) cells long
	whole bool   // all its cells are wanted
}

func (s *square) last() uint64 { return s.first | (1<<(64-2*s.level) - 1) }

// quarters appends those of the four squares within s that have cells in one of
// rects, by ascending number.
func (s *square) quarters(dst []square, rects []rect) []square {
	level := s.level + 1
	side := uint32(1) << (32 - level)
	for i := range uint64(4) {
		q := square{first: s.first | i<<(64-2*level), level: level}
		q.west, q.south = s.west+uint32(i>>1)*side, s.south+uint32(i&1)*side
		q.east, q.north = q.west+(side-1), q.south+(side-1)
		touched := false
		for _, r := range rects {
			touched = touched || r.touches(q.rect)
			q.whole = q.whole || r.holds(q.rect)
		}
		if touched {
			dst = append(dst, q)
		}
	}
	return dst
}

func (r rect) touches(o rect) bool {
	return r.west <= o.east && o.west <= r.east && r.south <= o.north && o.south <= r.north
}

func (r rect) holds(o rect) bool {
	return r.west <= o.west && o.east <= r.east && r.south <= o.south && o.north <= r.north
}

// cover parts the globe into ever smaller squares, leaving out those that touch
// no rect, until there are more than a few times the ranges that it may return,
// and joins those with the smallest gaps.
func cover(rects []rect, limit int) []Range {
	limit = max(limit, 1)
	const maxLevel, finer = 32, 4
	globe := rectOf(everywhere)
	squares := []square{{rect: globe, whole: slices.Contains(rects, globe)}}
	for level := 0; level < maxLevel && len(squares) <= finer*limit; level++ {
		var next []square
		for i := range squares {
			if squares[i].whole {
				next = append(next, squares[i])
			} else {
				next = squares[i].quarters(next, rects)
			}
		}
		squares = next
	}
	return join(squares, limit)
}

// join returns at most limit ranges that hold squares, which are ascending.
func join(squares []square, limit int) []Range {
	var ranges []Range
	for i := range squares {
		first, last := signed(squares[i].first), signed(squares[i].last())
		if n := len(ranges); n > 0 && ranges[n-1].Last+1 == first {
			ranges[n-1].Last = last
		} else {
			ranges = append(ranges, Range{first, last})
		}
	}
	if len(ranges) <= limit {
		return ranges
	}
	return closeGaps(ranges, limit)
}

// closeGaps joins ranges over the smallest gaps until limit are left.
func closeGaps(ranges []Range, limit int) []Range {
	gap := func(i int) uint64 { return uint64(ranges[i+1].First) - uint64(ranges[i].Last) }
	gaps := make([]int, len(ranges)-1) // by the range before them
	for i := range gaps {
		gaps[i] = i
	}
	slices.SortFunc(gaps, func(a, b int) int { return cmp.Or(cmp.Compare(gap(a), gap(b)), a-b) })
	closed := make([]bool, len(ranges))
	for _, i := range gaps[:len(ranges)-limit] {
		closed[i] = true
	}
	out := ranges[:1]
	for i, r := range ranges[1:] {
		if closed[i] {
			out[len(out)-1].Last = r.Last
		} else {
			out = append(out, r)
		}
	}
	return out
}
