package posting

import (
	"math"
	"slices"
)

// top keeps the best k of the documents offered to it, which come by ascending
// id: of equal scores the first one stays.
type top struct {
	k    int
	hits []Hit // a heap with the worst on top, once there are k

	floor float32 // scores up to this one do not count
	limit float64 // sums up to this one are rounded to scores up to floor
}

func newTop(k int, floor float32) *top {
	t := &top{k: k}
	t.raise(floor)
	return t
}

// raise sets the floor. Every sum up to a little under halfway to the next
// float32 is rounded to floor.
func (t *top) raise(floor float32) {
	t.floor = floor
	next := float64(math.Nextafter32(floor, float32(math.Inf(1))))
	t.limit = float64(floor) + 0.499*(next-float64(floor))
	if math.IsInf(float64(floor), 0) {
		t.limit = float64(floor)
	}
}

// add takes h in, whose score is above the floor, and reports whether the floor
// has risen.
func (t *top) add(h Hit) bool {
	if len(t.hits) < t.k {
		if t.hits = append(t.hits, h); len(t.hits) < t.k {
			return false
		}
		for i := t.k/2 - 1; i >= 0; i-- {
			t.sink(i)
		}
	} else {
		t.hits[0] = h
		t.sink(0)
	}
	if t.hits[0].Score <= t.floor {
		return false
	}
	t.raise(t.hits[0].Score)
	return true
}

// sink moves the hit at i down to where those below it are better.
func (t *top) sink(i int) {
	hits, h := t.hits, t.hits[i]
	for {
		child := 2*i + 1
		if child >= len(hits) {
			break
		}
		if child+1 < len(hits) && worse(hits[child+1], hits[child]) {
			child++
		}
		if !worse(hits[child], h) {
			break
		}
		hits[i] = hits[child]
		i = child
	}
	hits[i] = h
}

// best returns the documents kept, best first.
func (t *top) best() []Hit {
	slices.SortFunc(t.hits, compareHits)
	return t.hits
}

// compareHits is negative if a is before b: by descending score, then by
// ascending id.
func compareHits(a, b Hit) int {
	switch {
	case worse(b, a):
		return -1
	case a == b:
		return 0
	}
	return 1
}

// worse reports whether a comes after b.
func worse(a, b Hit) bool {
	return a.Score < b.Score || a.Score == b.Score && a.ID > b.ID
}
