package posting

import (
	"context"
	"math/bits"
	"slices"
)

const (
	// manyTerms is from how many terms on documents are scored by sweeps. A long
	// query passes over few blocks, and looks at every list to find that out.
	manyTerms = 48

	// window is how many ids a sweep scores at a time: their sums fit the nearest
	// cache.
	window = 2048
)

// sweep scores every document, whose ids it takes a window at a time: one list
// after the other adds what it contributes there. Of the lists it touches those that
// have a posting in the window, so that its time is about that of reading all
// postings, however many lists they are in.
type sweep struct {
	ctx   context.Context
	q     *Query
	steps int

	queue []turn  // a heap with the nearest on top: lists that are not at End
	due   []int32 // the terms of the window, ascending

	// Of the window.
	start uint64
	sums  [window]float64     // 0 where nothing was found
	found [window / 64]uint64 // a bit for each id

	ids    [maxBlock]uint64 // a part of a block
	shares [maxBlock]float64
}

// turn says at which id a term's list stands.
type turn struct {
	id   uint64
	term int32
}

// sweep calls fn for every document that has one of the query's terms and a score
// that counts, by ascending id, until it fails.
func (q *Query) sweep(ctx context.Context, fn func(h Hit) error) error {
	s := &sweep{ctx: ctx, q: q}
	for i := range q.terms {
		if id := q.terms[i].list.id; id != End {
			s.push(turn{id, int32(i)})
		}
	}
	for len(s.queue) > 0 {
		s.start = s.queue[0].id
		s.take()
		for _, term := range s.due {
			if err := s.add(&q.terms[term]); err != nil {
				return err
			}
			if id := q.terms[term].list.id; id != End {
				s.push(turn{id, term})
			}
		}
		if err := s.hand(fn); err != nil {
			return err
		}
	}
	return q.err()
}

// take moves the terms that have a posting in the window from the queue to due, in
// the order that contributions are added.
func (s *sweep) take() {
	s.due = s.due[:0]
	for len(s.queue) > 0 && s.queue[0].id-s.start < window {
		s.due = append(s.due, s.pop())
	}
	slices.Sort(s.due)
}

// add adds what a list contributes in the window, and moves it past that.
func (s *sweep) add(t *term) error {
	for l := t.list; l.id-s.start < window; {
		if err := s.tick(); err != nil {
			return err
		}
		if l.hasFront {
			s.put(l.id, l.weigh(&t.weigher))
			l.Next()
			continue
		}
		b, from := &l.base.block, l.base.i
		end := b.seek(from+1, s.start+window)
		ids, shares := s.ids[:end-from], s.shares[:end-from]
		b.read(ids, from)
		t.weigher.all(b, shares, from)
		for i, id := range ids {
			s.put(id, shares[i])
		}
		l.base.stand(end)
		l.id = l.base.id
	}
	return nil
}

// put adds to the sum of a document. Ids outside the window come from damage only,
// which what follows in the list may tell of.
func (s *sweep) put(id uint64, share float64) {
	if at := id - s.start; at < window {
		s.sums[at] += share
		s.found[at/64] |= 1 << (at % 64)
	}
}

// hand calls fn for the documents of the window, and empties it.
func (s *sweep) hand(fn func(h Hit) error) error {
	for i, set := range s.found {
		s.found[i] = 0
		for ; set != 0; set &= set - 1 {
			at := 64*i + bits.TrailingZeros64(set)
			score := Score(s.sums[at])
			s.sums[at] = 0
			if !(score > s.q.floor) {
				continue
			}
			if err := s.tick(); err != nil {
				return err
			}
			if err := fn(Hit{s.start + uint64(at), score}); err != nil {
				return err
			}
		}
	}
	return nil
}

// tick looks at the context now and then.
func (s *sweep) tick() error {
	if s.steps++; s.steps%checkEvery == 0 {
		return s.ctx.Err()
	}
	return nil
}

func (s *sweep) push(t turn) {
	s.queue = append(s.queue, t)
	i := len(s.queue) - 1
	for ; i > 0 && t.id < s.queue[(i-1)/2].id; i = (i - 1) / 2 {
		s.queue[i] = s.queue[(i-1)/2]
	}
	s.queue[i] = t
}

// pop takes the term on top out of the queue.
func (s *sweep) pop() int32 {
	term, last := s.queue[0].term, len(s.queue)-1
	t := s.queue[last]
	s.queue = s.queue[:last]
	for i := 0; last > 0; {
		child := 2*i + 1
		if child+1 < last && s.queue[child+1].id < s.queue[child].id {
			child++
		}
		if child >= last || s.queue[child].id >= t.id {
			s.queue[i] = t
			break
		}
		s.queue[i] = s.queue[child]
		i = child
	}
	return term
}

// topSwept is Top by a sweep.
func (q *Query) topSwept(ctx context.Context, k int, accept func(id uint64) (bool, error)) ([]Hit, error) {
	best := newTop(k, q.floor)
	err := q.sweep(ctx, func(h Hit) error {
		if !(h.Score > best.floor) {
			return nil
		}
		if accept != nil {
			if ok, err := accept(h.ID); !ok || err != nil {
				return err
			}
		}
		best.add(h)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return best.best(), nil
}
