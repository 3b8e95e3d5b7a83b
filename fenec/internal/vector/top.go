package vector

import "slices"

// Hit is a row with its score.
type Hit struct {
	ID    uint64
	Score float32
}

// Top collects the best k of the hits it is shown, equal scores by ascending id.
// Which they are does not depend on the order they come in. It is for one
// goroutine at a time.
type Top struct {
	metric Metric
	k      int
	// heap is a binary heap with the worst hit at its root: no hit is better
	// than its children.
	heap []Hit
}

// Reset empties t, which then collects k hits scored by m. Memory is used again.
func (t *Top) Reset(m Metric, k int) {
	t.metric, t.k, t.heap = m, k, t.heap[:0]
}

// Add shows t a hit. Its score must not be NaN.
func (t *Top) Add(id uint64, score float32) {
	h := Hit{id, score}
	switch {
	case len(t.heap) < t.k:
		t.heap = append(t.heap, h)
		t.up(len(t.heap) - 1)
	case t.k > 0 && t.better(h, t.heap[0]):
		t.heap[0] = h
		t.down(0)
	}
}

// Bound returns the score of the worst hit kept once there are k: one with a
// worse score need not be shown.
func (t *Top) Bound() (score float32, full bool) {
	if len(t.heap) < t.k || t.k == 0 {
		return 0, false
	}
	return t.heap[0].Score, true
}

// Hits returns the hits kept, best first. They lie in the memory of t, which
// must be Reset before it is used again.
func (t *Top) Hits() []Hit {
	slices.SortFunc(t.heap, func(a, b Hit) int {
		switch {
		case t.better(a, b):
			return -1
		case t.better(b, a):
			return 1
		}
		return 0
	})
	return t.heap
}

func (t *Top) better(a, b Hit) bool {
	if a.Score == b.Score {
		return a.ID < b.ID
	}
	return t.metric.Better(a.Score, b.Score)
}

func (t *Top) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.better(t.heap[i], t.heap[parent]) {
			return
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

func (t *Top) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			return
		}
		if right := child + 1; right < len(t.heap) && t.better(t.heap[child], t.heap[right]) {
			child = right
		}
		if t.better(t.heap[child], t.heap[i]) {
			return
		}
		t.heap[i], t.heap[child] = t.heap[child], t.heap[i]
		i = child
	}
}
