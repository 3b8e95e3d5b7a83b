package hnsw

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
)

// widestBeam is how many results a search keeps in a beam. Beyond, inserting
// into a sorted array costs more than into heaps.
const widestBeam = 512

// Query says what is searched for.
type Query struct {
	Vector []float32 // of Params.Dim finite components
	K      int       // how many results are wanted, for which there may be more hits

	// EF is how many candidates the search keeps. The more, the likelier it
	// finds the nearest. It is raised to K.
	EF int

	// Accept, if not nil, says whether an id may be among the results. It is
	// called once for each id that would be, and must not change the graph. An
	// error ends the search.
	Accept func(id uint64) (bool, error)

	// Visits bounds how many nodes a search with Accept measures. 0 is no bound.
	Visits int
}

// Hit is a result. Its score is a cosine or dot product, of which the higher is
// nearer, or a Euclidean distance.
type Hit struct {
	ID    uint64
	Score float32

	// Exact means that the score is that of vector.Score for the vector inserted, as
	// Params.Storage rounds it. Others are approximate, as kernels and codes are.
	Exact bool
}

// End says why a search ended.
type End uint8

const (
	// Complete means that no nearer candidates than those kept were in sight.
	Complete End = iota

	// Exhausted means that everything reachable was visited before EF candidates
	// were found. That is all the graph has, unless it holds nodes that deletes have
	// cut off and Repair has not yet joined again.
	Exhausted

	// Stopped means that the bound on visits was reached. Nearer results, and
	// more of them, may have been missed.
	Stopped
)

// Search returns the q.K ids nearest to q of those it keeps, and all others of these
// that may be as near, in hits, whose contents are overwritten. The best come first, as
// kernels and codes tell. With codes these are all that it keeps. The error is
// ErrDimension, the context's or that of q.Accept.
func (g *Graph) Search(ctx context.Context, q Query, hits []Hit) ([]Hit, End, error) {
	if len(q.Vector) != g.params.Dim {
		return hits[:0], Complete, ErrDimension
	}
	s := g.enter()
	defer g.leave(s)
	e := s.start()
	p := s.ask(q.Vector)
	ef := max(q.EF, q.K, 1)
	if q.Accept == nil && ef <= widestBeam {
		return s.plain(ctx, &p, e, ef, q.K, hits[:0])
	}
	return s.filtered(ctx, &p, e, ef, &q, hits[:0])
}

// plain searches with a beam.
func (s *scratch) plain(ctx context.Context, p *probe, e entry, ef, k int, hits []Hit) ([]Hit, End, error) {
	s.beam.reset(ef)
	if e != noEntry {
		if err := s.walk(ctx, p, s.descend(p, e, 0), 0, true); err != nil {
			return hits, Complete, err
		}
	}
	s.meetChain(atomic.LoadUint32(&s.graph.zeros), s.zeroRank())
	hits = s.deliver(s.beam.items, k, hits)
	if s.beam.live < ef {
		return hits, Exhausted, nil
	}
	return hits, Complete, nil
}

// filtered searches with heaps, as the paper has it, so that any number of nodes
// may be walked through between results.
func (s *scratch) filtered(ctx context.Context, p *probe, e entry, ef int, q *Query, hits []Hit) ([]Hit, End, error) {
	s.front, s.results = s.front[:0], s.results[:0]
	end := Exhausted
	if e != noEntry {
		from := s.descend(p, e, 0)
		s.forget()
		s.visit(from.node())
		s.front.push(from)
		err := s.offer(from, ef, q.Accept)
		if err == nil {
			end, err = s.spread(ctx, p, ef, q)
		}
		if err != nil {
			return hits, end, err
		}
	}
	if err := s.offerChain(atomic.LoadUint32(&s.graph.zeros), s.zeroRank(), ef, q.Accept); err != nil {
		return hits, end, err
	}
	if len(s.results) == ef && end == Exhausted {
		end = Complete
	}
	return s.deliver(s.sorted(), q.K, hits), end, nil
}

// spread expands the front until nothing in it can lead to better results.
func (s *scratch) spread(ctx context.Context, p *probe, ef int, q *Query) (End, error) {
	visits := 0
	for steps := 1; len(s.front) > 0; steps++ {
		if steps%ctxSteps == 0 && ctx.Err() != nil {
			return Stopped, ctx.Err()
		}
		from := s.front.pop()
		if !s.wants(from.rank(), ef) {
			return Complete, nil
		}
		if q.Visits > 0 && visits >= q.Visits {
			return Stopped, nil
		}
		nodes := s.unvisited(from.node(), 0)
		visits += len(nodes)
		for i, rank := range s.ranksOf(p, nodes) {
			if !s.wants(rank, ef) {
				continue
			}
			x := nearAt(rank, nodes[i])
			s.front.push(x)
			if err := s.offer(x, ef, q.Accept); err != nil {
				return Stopped, err
			}
		}
	}
	return Exhausted, nil
}

// wants reports whether a node of this rank would be among the ef results.
func (s *scratch) wants(rank uint32, ef int) bool {
	return len(s.results) < ef || rank < (^s.results[0]).rank()
}

// offer puts a node and its twins among the results, if they are accepted.
func (s *scratch) offer(x near, ef int, accept func(uint64) (bool, error)) error {
	if err := s.offerOne(x, ef, accept); err != nil {
		return err
	}
	return s.offerChain(atomic.LoadUint32(s.view.next(x.node())), x.rank(), ef, accept)
}

func (s *scratch) offerChain(first, rank uint32, ef int, accept func(uint64) (bool, error)) error {
	for n := range s.chain(first) {
		if !s.wants(rank, ef) {
			return nil
		}
		if err := s.offerOne(nearAt(rank, n), ef, accept); err != nil {
			return err
		}
	}
	return nil
}

func (s *scratch) offerOne(x near, ef int, accept func(uint64) (bool, error)) error {
	if atomic.LoadUint32(s.view.state(x.node()))&dead != 0 {
		return nil
	}
	if accept != nil {
		if ok, err := accept(s.view.id(x.node())); !ok || err != nil {
			return err
		}
	}
	if len(s.results) < ef {
		s.results.push(^x)
	} else {
		s.results.replace(^x)
	}
	return nil
}

// sorted takes the results out of their heap, nearest first.
func (s *scratch) sorted() []near {
	s.list = s.list[:0]
	for len(s.results) > 0 {
		s.list = append(s.list, ^s.results.pop())
	}
	slices.Reverse(s.list)
	return s.list
}

// deliver returns the k best of items, which are sorted, and those that may be as
// near as the last of these.
func (s *scratch) deliver(items []near, k int, hits []Hit) []Hit {
	if k <= 0 {
		return hits
	}
	limit := uint32(math.MaxUint32)
	for _, x := range items {
		if x&passing != 0 {
			continue
		}
		if x.rank() > limit {
			break
		}
		if hits = append(hits, s.hit(x)); len(hits) == k {
			limit = s.slack.reach(x.rank())
		}
	}
	return hits
}

// hit returns a result. Its score is exact if its vector is there as it was given.
func (s *scratch) hit(x near) Hit {
	n := x.node()
	if s.rows.codes == nil && atomic.LoadUint32(s.view.state(n))&whole != 0 {
		return Hit{ID: s.view.id(n), Score: s.scorer.Score(s.vectorOf(n, aside)), Exact: true}
	}
	return Hit{ID: s.view.id(n), Score: s.score(x.rank())}
}
