package hnsw

import (
	"context"
	"math"
	"sync/atomic"
)

// Exhaust measures every vector, so that nothing near is missed. It returns the
// best q.K that are accepted and all others that may be as near, in no order, in
// hits, whose contents are overwritten. EF and Visits are not looked at. Errors
// are those of Search.
func (g *Graph) Exhaust(ctx context.Context, q Query, hits []Hit) ([]Hit, error) {
	return g.sift(ctx, q, hits, func(s *scratch, sift func() error) error {
		for n := range uint32(s.view.size()) {
			if !s.measurable(n) {
				continue
			}
			if s.nodes = append(s.nodes, n); len(s.nodes) == batch {
				if err := sift(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Among is Exhaust of those ids that the graph has.
func (g *Graph) Among(ctx context.Context, q Query, ids []uint64, hits []Hit) ([]Hit, error) {
	return g.sift(ctx, q, hits, func(s *scratch, sift func() error) error {
		for _, id := range ids {
			n := g.lookup(id)
			if int64(n) >= int64(s.view.size()) || !s.measurable(n) {
				continue
			}
			if s.nodes = append(s.nodes, n); len(s.nodes) == batch {
				if err := sift(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// measurable reports whether n is alive and its vector is there.
func (s *scratch) measurable(n uint32) bool {
	state := atomic.LoadUint32(s.view.state(n))
	return state&(linked|twin) != 0 && state&dead == 0
}

// sift returns the best of the nodes that each gathers in s.nodes, a batch at a
// time.
func (g *Graph) sift(ctx context.Context, q Query, hits []Hit, each func(s *scratch, sift func() error) error) ([]Hit, error) {
	if len(q.Vector) != g.params.Dim {
		return hits[:0], ErrDimension
	}
	if q.K <= 0 {
		return hits[:0], nil
	}
	s := g.enter()
	defer g.leave(s)
	p := s.ask(q.Vector)
	s.results, s.list, s.nodes = s.results[:0], s.list[:0], s.nodes[:0]
	s.limit = math.MaxUint32
	batches := 0
	sift := func() error {
		if batches++; batches%ctxSteps == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		err := s.siftBatch(&p, &q)
		s.nodes = s.nodes[:0]
		return err
	}
	if err := each(s, sift); err != nil {
		return hits[:0], err
	}
	if err := sift(); err != nil {
		return hits[:0], err
	}
	hits = hits[:0]
	for _, x := range s.list {
		if x.rank() <= s.limit {
			hits = append(hits, s.hit(x))
		}
	}
	return hits, nil
}

// siftBatch adds to s.list those of s.nodes that may be among the best, and keeps
// the best in s.results.
func (s *scratch) siftBatch(p *probe, q *Query) error {
	for i, rank := range s.ranksOf(p, s.nodes) {
		n := s.nodes[i]
		if s.rows.codes != nil && s.isZero(n) {
			rank = s.zeroRank()
		}
		if rank > s.limit {
			continue
		}
		if q.Accept != nil {
			ok, err := q.Accept(s.view.id(n))
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
		}
		x := nearAt(rank, n)
		s.list = append(s.list, x)
		s.keep(x, q.K)
	}
	return nil
}

// keep puts a node among the best k if it is one of these, and lowers the limit to
// what may be as near as the last of them.
func (s *scratch) keep(x near, k int) {
	switch {
	case len(s.results) < k:
		s.results.push(^x)
	case s.wants(x.rank(), k):
		s.results.replace(^x)
	default:
		return
	}
	if len(s.results) == k {
		s.limit = s.slack.reach((^s.results[0]).rank())
	}
}

// isZero reports whether n is in the chain of zero vectors under Cosine, whose
// codes say nothing.
func (s *scratch) isZero(n uint32) bool {
	return atomic.LoadUint32(s.view.state(n))&twin != 0 && atomic.LoadUint32(&s.view.neighbours(n, 0)[0]) == none
}
