package posting

import (
	"context"
	"slices"
)

// Among calls fn for those of the documents, given by ascending id, that Each
// would call it for, until it fails. It is the faster way where they are few. One
// list after the other is looked into, so that its time is about that of finding
// the documents in each.
func (q *Query) Among(ctx context.Context, ids []uint64, fn func(h Hit) error) error {
	sums, found := make([]float64, len(ids)), make([]bool, len(ids))
	steps := 0
	for i := range q.terms {
		t := &q.terms[i]
		for at := 0; at < len(ids); {
			if steps++; steps%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			t.list.SeekGE(ids[at])
			if t.list.id == ids[at] {
				sums[at] += t.list.weigh(&t.weigher)
				found[at] = true
				at++
			} else {
				at = seekID(ids, at+1, t.list.id)
			}
		}
	}
	if err := q.err(); err != nil {
		return err
	}
	for at, id := range ids {
		score := Score(sums[at])
		if !found[at] || !(score > q.floor) {
			continue
		}
		if err := fn(Hit{id, score}); err != nil {
			return err
		}
	}
	return nil
}

// seekID returns the place of the first of the ids from at on that is at or after
// id. Near ones are found soonest.
func seekID(ids []uint64, at int, id uint64) int {
	step := 1
	for at+step < len(ids) && ids[at+step-1] < id {
		at += step
		step *= 2
	}
	n, _ := slices.BinarySearch(ids[at:min(at+step, len(ids))], id)
	return at + n
}
