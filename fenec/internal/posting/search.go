package posting

import (
	"context"
	"slices"
)

// Top returns the best k documents that accept lets pass, by descending score and
// then by ascending id. accept is asked, by ascending id, for documents that come
// among the best k of those before them; nil lets all pass.
//
// The method is MaxScore (Turtle and Flood, 1995) within windows of ids in which
// the blocks of all lists, and so the limits of what they contribute, stay the
// same (block maxima: Ding and Suel, 2011). The answer is that of scoring every
// document, which is what is done if the query has many terms.
func (q *Query) Top(ctx context.Context, k int, accept func(id uint64) (bool, error)) ([]Hit, error) {
	if k <= 0 {
		return nil, ctx.Err()
	}
	if len(q.terms) >= manyTerms {
		return q.topSwept(ctx, k, accept)
	}
	s := newSearch(ctx, q, k, accept)
	if err := s.run(); err != nil {
		return nil, err
	}
	if err := q.err(); err != nil {
		return nil, err
	}
	return s.top.best(), nil
}

// search is a run of Top.
//
// A sum of limits may be less than a sum that it limits, by rounding: the order of
// addition differs. margin is more than that, and is added to limits before
// they are compared.
type search struct {
	ctx    context.Context
	accept func(id uint64) (bool, error)
	q      *Query
	top    *top
	margin float64
	steps  int

	// Lists by ascending most. Documents that only the first needless ones have
	// cannot come among the best.
	byMost   []*term
	needless int
	reach    float64 // the sum of most over the needless ones and the next

	// Lists by ascending limit in the window, and for each the sum of the limits
	// of those before it.
	order []*term
	rest  []float64
}

func newSearch(ctx context.Context, q *Query, k int, accept func(id uint64) (bool, error)) *search {
	s := &search{ctx: ctx, accept: accept, q: q, top: newTop(k, q.floor)}
	size := 0.0
	for i := range q.terms {
		t := &q.terms[i]
		b := t.list.bound()
		most, greatest := t.weigher.limit(&b)
		t.most, size = most, size+greatest
		s.byMost = append(s.byMost, t)
	}
	if n := len(q.terms); n > 1 {
		s.margin = size * float64(n) * 0x1p-50
	}
	slices.SortStableFunc(s.byMost, func(a, b *term) int { return compareFloats(a.most, b.most) })
	s.order = slices.Clone(s.byMost)
	s.rest = make([]float64, len(s.order)+1)
	return s
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// hopeless reports whether a document cannot come among the best if its score is
// at most sum.
func (s *search) hopeless(sum float64) bool { return sum+s.margin <= s.top.limit }

func (s *search) run() error {
	for id := s.jump(0); id != End; id = s.jump(id) {
		if err := s.tick(); err != nil {
			return err
		}
		last := s.window(id)
		if last == End {
			return nil // the lists left have been cut short
		}
		if s.hopeless(s.rest[len(s.order)]) {
			id = last + 1
			continue
		}
		var err error
		if id, err = s.score(id, last); err != nil {
			return err
		}
	}
	return nil
}

// tick looks at the context now and then.
func (s *search) tick() error {
	if s.steps++; s.steps%checkEvery == 0 {
		return s.ctx.Err()
	}
	return nil
}

// jump returns the first id from id on at which a document may come among the
// best, as far as can be told without the limits of blocks.
func (s *search) jump(id uint64) uint64 {
	for s.needless < len(s.byMost) && s.hopeless(s.reach+s.byMost[s.needless].most) {
		s.reach += s.byMost[s.needless].most
		s.needless++
	}
	next := uint64(End)
	for _, t := range s.byMost[s.needless:] {
		next = min(next, t.list.id)
	}
	return max(id, next)
}

// window finds the limits of the blocks that id falls into, and returns up to
// where they all hold.
func (s *search) window(id uint64) (last uint64) {
	last = End
	for i, t := range s.order {
		if id > t.last || id == 0 { // at 0 no block has been looked at
			t.list.shallow(id)
			t.limit, t.last = t.list.limit(&t.weigher)
		}
		last = min(last, t.last)
		for ; i > 0 && s.order[i-1].limit > t.limit; i-- {
			s.order[i] = s.order[i-1]
		}
		s.order[i] = t
	}
	sum := 0.0
	for i, t := range s.order {
		s.rest[i] = sum
		sum += t.limit
	}
	s.rest[len(s.order)] = sum
	return last
}

// score offers the documents of the window [id, last] until the floor rises or
// the window ends, and returns the id from which on to continue.
func (s *search) score(id, last uint64) (uint64, error) {
	lazy := 0 // lists that are only looked at for documents that others have
	for s.hopeless(s.rest[lazy+1]) {
		lazy++
	}
	eager := s.order[lazy:]
	for _, t := range eager {
		t.list.SeekGE(id)
	}
	if len(eager) == 1 {
		return s.scoreOne(eager[0], lazy, last)
	}
	return s.scoreAll(eager, lazy, last)
}

// scoreOne is score with one eager list.
func (s *search) scoreOne(t *term, lazy int, last uint64) (uint64, error) {
	need := s.top.limit - s.rest[lazy] - s.margin
	for t.list.above(&t.weigher, need, last) {
		id := t.list.id
		t.share = t.list.weigh(&t.weigher)
		t.list.Next()
		if rose, err := s.offer(id, t.share, lazy); rose || err != nil {
			return id + 1, err
		}
	}
	return last + 1, nil
}

// scoreAll is score with several eager lists.
func (s *search) scoreAll(eager []*term, lazy int, last uint64) (uint64, error) {
	id := uint64(End)
	for _, t := range eager {
		id = min(id, t.list.id)
	}
	for id <= last {
		sum, next := 0.0, uint64(End)
		for _, t := range eager {
			t.share = 0
			if t.list.id == id {
				t.share = t.list.weigh(&t.weigher)
				sum += t.share
				t.list.Next()
			}
			next = min(next, t.list.id)
		}
		if !s.hopeless(sum + s.rest[lazy]) {
			if rose, err := s.offer(id, sum, lazy); rose || err != nil {
				return id + 1, err
			}
		}
		id = next
	}
	return last + 1, nil
}

// offer completes the score of a document from the lazy lists, as long as it may
// come among the best. sum is what the others contribute to it. It reports
// whether the floor has risen.
func (s *search) offer(id uint64, sum float64, lazy int) (bool, error) {
	if err := s.tick(); err != nil {
		return false, err
	}
	for i := lazy - 1; i >= 0; i-- {
		if s.hopeless(sum + s.rest[i+1]) {
			return false, nil
		}
		t := s.order[i]
		t.share = 0
		if t.list.SeekGE(id); t.list.id == id {
			t.share = t.list.weigh(&t.weigher)
			sum += t.share
		}
	}
	h := Hit{id, s.total()}
	if !(h.Score > s.top.floor) {
		return false, nil
	}
	if s.accept != nil {
		if ok, err := s.accept(id); !ok || err != nil {
			return false, err
		}
	}
	return s.top.add(h), nil
}

// total returns the score of the document at hand.
func (s *search) total() float32 {
	sum := 0.0
	for i := range s.q.terms {
		sum += s.q.terms[i].share
	}
	return Score(sum)
}
