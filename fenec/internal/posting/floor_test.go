package posting

import (
	"cmp"
	"slices"
)

// flat is an inverted index of the barest kind: arrays in memory, ids that are
// indexes, nothing that changes. Its MaxScore is the floor that Query.Top is
// measured against.
type flat struct {
	lists []flatList
	norms []float32 // by document
}

type flatList struct {
	ids []uint32
	tf  []float32
}

// flatCursor is a list of a query.
type flatCursor struct {
	flatList
	at   int
	gain float32
	most float32
	rest float32 // the sum of most over the lists before it
}

func (c *flatCursor) id() uint32 {
	if c.at < len(c.ids) {
		return c.ids[c.at]
	}
	return 1<<32 - 1
}

// seek gallops to the first id at or after id.
func (c *flatCursor) seek(id uint32) {
	step := 1
	for c.at+step < len(c.ids) && c.ids[c.at+step-1] < id {
		c.at += step
		step *= 2
	}
	high := min(c.at+step, len(c.ids))
	n, _ := slices.BinarySearch(c.ids[c.at:high], id)
	c.at += n
}

func (f *flat) cursors(terms []int, gains []float32) []*flatCursor {
	var cursors []*flatCursor
	for i, term := range terms {
		c := &flatCursor{flatList: f.lists[term], gain: gains[i]}
		c.most = f.lists[term].limit(f.norms) * c.gain
		cursors = append(cursors, c)
	}
	slices.SortFunc(cursors, func(a, b *flatCursor) int { return cmp.Compare(a.most, b.most) })
	sum := float32(0)
	for _, c := range cursors {
		c.rest = sum
		sum += c.most
	}
	return cursors
}

// limits are kept, as a file would keep them.
var limits = map[*uint32]float32{}

func (l *flatList) limit(norms []float32) float32 {
	if len(l.ids) == 0 {
		return 0
	}
	most, ok := limits[&l.ids[0]]
	if !ok {
		for i, id := range l.ids {
			most = max(most, 1/(1+norms[id]/l.tf[i]))
		}
		limits[&l.ids[0]] = most
	}
	return most
}

// top returns the best k documents by MaxScore, or by scoring all if prune is
// false.
func (f *flat) top(terms []int, gains []float32, k int, prune bool) []Hit {
	cursors := f.cursors(terms, gains)
	best := newTop(k, 0)
	lazy := 0
	for {
		id := uint32(1<<32 - 1)
		for _, c := range cursors[lazy:] {
			id = min(id, c.id())
		}
		if id == 1<<32-1 {
			return best.best()
		}
		score := float32(0)
		for _, c := range cursors[lazy:] {
			if c.id() == id {
				score += c.gain / (1 + f.norms[id]/c.tf[c.at])
				c.at++
			}
		}
		for i := lazy - 1; i >= 0 && score+cursors[i].rest+cursors[i].most > best.floor; i-- {
			c := cursors[i]
			if c.seek(id); c.id() == id {
				score += c.gain / (1 + f.norms[id]/c.tf[c.at])
			}
		}
		if score > best.floor && best.add(Hit{uint64(id), score}) && prune {
			for lazy < len(cursors) && cursors[lazy].rest+cursors[lazy].most <= best.floor {
				lazy++
			}
		}
	}
}
