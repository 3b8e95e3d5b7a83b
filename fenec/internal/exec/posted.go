package exec

import (
	"context"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/posting"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

const (
	// fewPosted is how many rows a filter may lead to for these to be looked for in
	// posting lists, instead of the best postings in the filter; and fewShare the
	// part of a collection that they may be.
	fewPosted = 256
	fewShare  = 64

	// maxLists is the most posting lists that a search reads, each of which takes
	// about 1.5 KB of memory.
	maxLists = 100_000
)

// checkLists returns why a search cannot read so many posting lists.
func checkLists(n int) error {
	if n > maxLists {
		return fault.New(fault.Query, "a search for more than %d terms or components that the index has", maxLists)
	}
	return nil
}

// posted returns the best k rows of a query over posting lists that pass the
// filter. open opens the lists, after which no rows are scanned: a scan may
// exchange what they are read from.
func (s *search) posted(ctx context.Context, k int, open func() (*posting.Query, error)) ([]vector.Hit, error) {
	if s.plan.All() {
		q, err := open()
		if err != nil {
			return nil, err
		}
		return hitsOf(q.Top(ctx, k, nil))
	}
	ids, few, err := s.passing(ctx)
	if err != nil {
		return nil, err
	}
	q, err := open()
	if err != nil {
		return nil, err
	}
	if few {
		s.top.Reset(vector.Dot, k) // higher is better
		err := q.Among(ctx, ids, func(h posting.Hit) error {
			s.top.Add(h.ID, h.Score)
			return nil
		})
		return s.top.Hits(), err
	}
	probe := s.plan.Probe(ctx, s.job)
	defer probe.End()
	return hitsOf(q.Top(ctx, k, func(id uint64) (bool, error) {
		b, err := probe.Test(id)
		return b != nil, err
	}))
}

func hitsOf(found []posting.Hit, err error) ([]vector.Hit, error) {
	hits := make([]vector.Hit, len(found))
	for i, h := range found {
		hits[i] = vector.Hit(h)
	}
	return hits, err
}

// passing returns the rows that pass the filter, by ascending id, if an index leads
// to few or the filter must meet all rows by ascending id.
func (s *search) passing(ctx context.Context) (ids []uint64, ok bool, err error) {
	if s.plan.Ascending() {
		err := s.scan(ctx, func(r plan.Row) error {
			ids = append(ids, r.ID)
			return nil
		})
		return ids, true, err
	}
	rows, err := s.job.Table.Rows()
	if err != nil {
		return nil, false, err
	}
	probe := s.plan.Probe(ctx, s.job)
	defer probe.End()
	if err := probe.Settled(); err != nil {
		return nil, false, err
	}
	list, ok, err := probe.Few(max(fewPosted, int(rows/fewShare)))
	if !ok || err != nil {
		return nil, false, err
	}
	for _, id := range list {
		b, err := probe.Test(id)
		if err != nil {
			return nil, false, err
		}
		if b != nil {
			ids = append(ids, id)
		}
	}
	return ids, true, nil
}
