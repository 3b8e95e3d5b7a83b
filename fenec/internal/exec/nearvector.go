package exec

import (
	"context"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/internal/graphs"
	"github.com/fenec-go/fenecdb/fenec/internal/hnsw"
	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
)

// nearVector ranks rows by how near a vector is to a given one.
type nearVector struct {
	vectors
	index *catalog.Index
	ef    int
	exact bool
}

const (
	// visitShare is the part of a graph that a search may measure along its links
	// before all of it is measured, and filteredShare that of one with a filter
	// before the rows are scanned: to test a row that a link leads to costs what twenty
	// do that are passed in their order.
	visitShare, filteredShare = 4, 20

	// graphShare is the part of a collection from which on a page is not looked
	// for along the links of a graph.
	graphShare = 8

	// fewVectors is how many rows are measured without a graph.
	fewVectors = 64
)

func (n *nearVector) rank(ctx context.Context, s *search, k int) ([]vector.Hit, error) {
	scorer, err := n.scorer(s.job.Frame)
	if err != nil {
		return nil, err
	}
	x := vectorSearch{nearVector: n, search: s, scorer: &scorer, k: k, ef: max(n.ef, k)}
	x.note = s.env.trace.Step(plan.StepNear, s.col.Fields[n.field].Name)
	s.top.Reset(n.metric, k)
	if !n.exact && !s.plan.Ascending() {
		done, err := x.run(ctx)
		if done || err != nil {
			return s.top.Hits(), err
		}
	}
	x.note.Note("every vector that passes the filter is measured, by %s", n.metric)
	s.top.Reset(n.metric, k)
	err = s.scan(ctx, func(plan.Row) error { return n.measure(s, &scorer) })
	return s.top.Hits(), err
}

// vectorSearch is one search for the best k.
type vectorSearch struct {
	*nearVector
	*search
	scorer *vector.Scorer
	k, ef  int
	note   *plan.Trace

	probe   plan.Probe
	graph   *graphs.Graph
	query   hnsw.Query
	changed []uint64 // rows that the graph does not have as they are seen, ascending
}

// run finds the best rows by what the filter's indexes lead to, by the links of the
// graph, or by all of its vectors. It is not done where all rows are better
// measured.
func (x *vectorSearch) run(ctx context.Context) (done bool, err error) {
	rows, err := x.job.Table.Rows()
	if err != nil || rows <= fewVectors {
		return false, err
	}
	q, err := x.given(x.job.Frame)
	if err != nil || x.metric == vector.Cosine && vector.Norm(q) == 0 {
		return false, err // all are as near to a zero vector
	}
	x.query = hnsw.Query{Vector: q, K: x.k, EF: x.ef}
	x.probe = x.plan.Probe(ctx, x.job)
	defer x.probe.End()
	if err := x.probe.Settled(); err != nil {
		return false, err
	}
	budget := x.ef * 2 * x.index.HNSW.M
	list, few, err := x.probe.Few(budget)
	if err != nil {
		return false, err
	}
	coded := x.index.HNSW.Quant != catalog.NoQuant
	switch {
	case few && (coded || len(list) <= fewVectors):
		x.note.Note("%d rows by the filter are measured, by %s", len(list), x.metric)
		return true, x.measureAll(list)
	case coded && !few && rows <= int64(budget):
		return false, nil
	}
	if err := x.open(ctx); err != nil {
		return false, err
	}
	switch {
	case few:
		return true, x.among(ctx, list)
	case coded && int64(x.k) > rows/graphShare:
		return false, nil
	case rows <= int64(budget), int64(x.k) > rows/graphShare:
		return true, x.exhaust(ctx)
	}
	full, err := x.walk(ctx)
	if full || coded || !x.plan.All() || err != nil {
		return full, err
	}
	// Better all vectors than a page that is short.
	x.top.Reset(x.metric, x.k)
	return true, x.exhaust(ctx)
}

// open makes the graph and the query ready.
func (x *vectorSearch) open(ctx context.Context) (err error) {
	if x.graph, err = x.env.Source.Graph(ctx, x.col, x.index); err != nil {
		return err
	}
	if x.changed, err = x.changes(); err != nil {
		return err
	}
	if !x.plan.All() || len(x.changed) > 0 {
		x.query.Accept = x.accept
	}
	return nil
}

// among measures those of the given rows that pass the filter.
func (x *vectorSearch) among(ctx context.Context, list []uint64) error {
	x.note.Note("%d rows by the filter, as the graph has them, by %s", len(list), x.metric)
	hits, err := x.graph.Among(ctx, x.query, list, nil)
	if err != nil {
		return err
	}
	return x.score(hits)
}

// exhaust measures all vectors that the graph has.
func (x *vectorSearch) exhaust(ctx context.Context) error {
	x.note.Note("all %d vectors of the graph and %d rows that changed, by %s", x.graph.Len(), len(x.changed), x.metric)
	hits, err := x.graph.Exhaust(ctx, x.query, nil)
	if err != nil {
		return err
	}
	return x.score(hits)
}

// walk searches along the graph's links, and reports whether it has found k rows
// before it was stopped.
func (x *vectorSearch) walk(ctx context.Context) (full bool, err error) {
	q := x.query
	q.Visits = x.graph.Len() / visitShare
	if !x.plan.All() {
		q.Visits = x.graph.Len() / filteredShare
	}
	hits, end, err := x.graph.Search(ctx, q, nil)
	if err != nil || end == hnsw.Stopped {
		return false, err
	}
	x.note.Note("graph of %d vectors, by %s, ef %d, %d candidates and %d rows that changed",
		x.graph.Len(), x.metric, x.ef, len(hits), len(x.changed))
	if err := x.score(hits); err != nil {
		return false, err
	}
	_, full = x.top.Bound()
	return full, nil
}

// score shows the search's best what the graph has found, by their stored vectors
// unless it knows better, and the rows that changed.
func (x *vectorSearch) score(hits []hnsw.Hit) error {
	for _, h := range hits {
		if h.Exact {
			x.top.Add(h.ID, h.Score)
		} else if err := x.measureID(h.ID); err != nil {
			return err
		}
	}
	return x.measureAll(x.changed)
}

// measureAll shows the search's best those of the rows that pass the filter.
func (x *vectorSearch) measureAll(list []uint64) error {
	for _, id := range list {
		b, err := x.probe.Test(id)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		if err := x.measure(x.search, x.scorer); err != nil {
			return err
		}
	}
	return nil
}

// measureID shows the search's best a row that passes the filter.
func (x *vectorSearch) measureID(id uint64) error {
	b, err := x.job.Table.Named(id)
	if b == nil || err != nil {
		return err
	}
	if err := x.job.Frame.Stand(id, b); err != nil {
		return err
	}
	return x.measure(x.search, x.scorer)
}

// changes returns the rows whose vectors have changed since the graph took up what
// had. It is asked for before the graph is searched.
func (x *vectorSearch) changes() ([]uint64, error) {
	pending, err := x.job.Table.PendingAfter(x.index, x.graph.Linked())
	if err != nil {
		return nil, err
	}
	list, err := x.job.Table.Fresh(x.index)
	if err != nil {
		return nil, err
	}
	x.graph.Missed(len(list))
	for _, p := range pending {
		list = append(list, p.ID)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// accept reports whether the graph shows a row as it is and the row passes the
// filter.
func (x *vectorSearch) accept(id uint64) (bool, error) {
	if _, changed := slices.BinarySearch(x.changed, id); changed {
		return false, nil
	}
	if x.plan.All() {
		return true, nil
	}
	b, err := x.probe.TestNamed(id)
	return b != nil, err
}
