package main

import (
	"cmp"
	"slices"
)

// cursor walks along the texts of a term.
type cursor struct {
	queryTerm
	at    int
	bound float64 // the most that the term adds to a score
}

// end is past every id.
const end = int32(1<<31 - 1)

func (c *cursor) id() int32 {
	if c.at >= len(c.list.ids) {
		return end
	}
	return c.list.ids[c.at]
}

// seek moves to the first text from id on, by steps that double and then halve.
func (c *cursor) seek(id int32) {
	step := 1
	low := c.at
	for c.at < len(c.list.ids) && c.list.ids[c.at] < id {
		low = c.at + 1
		c.at += step
		step *= 2
	}
	rest := c.list.ids[low:min(c.at, len(c.list.ids))]
	n, _ := slices.BinarySearch(rest, id)
	c.at = low + n
}

// top returns the k best texts for a question, of those with equal scores the
// first. It is what a disk, a log, rows and a query language are measured against:
// MaxScore (Turtle and Flood 1995) over arrays in memory, and nothing else.
func (x *textIndex) top(question string, k int) []hit {
	cursors := x.cursors(question)
	// reach[i] is the most that a text gets from the cursors before i alone.
	reach := make([]float64, len(cursors)+1)
	for i := range cursors {
		reach[i+1] = reach[i] + cursors[i].bound
	}
	best := make([]hit, 0, k+1)
	need := 0.0 // what a score must pass
	for first := 0; ; {
		id := end
		for i := first; i < len(cursors); i++ {
			id = min(id, cursors[i].id())
		}
		if id == end {
			return best
		}
		score := x.score(cursors, first, reach, id, need)
		if score <= need {
			continue
		}
		if best = insertHit(best, hit{id, score}, k); len(best) == k {
			need = best[k-1].score
		}
		for first < len(cursors) && reach[first+1] <= need {
			first++
		}
	}
}

// cursors returns those of the question, the ones that matter least first.
func (x *textIndex) cursors(question string) []cursor {
	found := x.queryTerms(question)
	out := make([]cursor, len(found))
	for i, q := range found {
		out[i] = cursor{queryTerm: q, bound: q.qtf * float64(q.list.bound)}
	}
	slices.SortFunc(out, func(a, b cursor) int { return cmp.Compare(a.bound, b.bound) })
	return out
}

// score moves the cursors from first on past id and returns its score, or 0 as
// soon as it cannot pass need.
func (x *textIndex) score(cursors []cursor, first int, reach []float64, id int32, need float64) float64 {
	score := 0.0
	for i := first; i < len(cursors); i++ {
		if c := &cursors[i]; c.id() == id {
			score += float64(x.weigh(c.list, c.qtf, id, c.list.tfs[c.at]))
			c.at++
		}
	}
	for i := first - 1; i >= 0; i-- {
		if score+reach[i+1] <= need {
			return 0
		}
		c := &cursors[i]
		c.seek(id)
		if c.id() == id {
			score += float64(x.weigh(c.list, c.qtf, id, c.list.tfs[c.at]))
		}
	}
	return score
}

// insertHit inserts h behind those that are as good, and keeps k.
func insertHit(best []hit, h hit, k int) []hit {
	at := len(best)
	for at > 0 && best[at-1].score < h.score {
		at--
	}
	best = slices.Insert(best, at, h)
	return best[:min(len(best), k)]
}
