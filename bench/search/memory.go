package main

import (
	"context"
	"fmt"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
)

// measureMemory reports what a database takes up for each vector once it has been
// searched, against the vectors and links alone.
func measureMemory(ctx context.Context, e *env) error {
	s := e.clustered()
	got := figures{"vectors and links": float64(vectorBytes(s.dim))}
	if !e.peersOnly {
		took, err := e.fenecMemory(ctx, s)
		if err != nil {
			return err
		}
		got[fenecName] = took
	}
	e.line(fmt.Sprintf("a vector of %d components", s.dim), bytesUnit, got, "vectors and links", oursOverPeer, report.AtMost(1.3))
	g, err := e.buildInNode(ctx, hnswlibName, s)
	if err != nil || g == nil {
		return err
	}
	got[hnswlibName] = g.memory / float64(s.len())
	e.line("  what the process of hnswlib grew by", bytesUnit, got, hnswlibName, oursOverPeer, report.Goal{})
	return nil
}

// vectorBytes returns the bytes of a vector's components and, on average, of its
// links: twice m on the lowest level and m on each higher one, each of four bytes.
func vectorBytes(dim int) int {
	const link = 4
	upper := float64(graphM) / float64(graphM-1)
	return 4*dim + link*2*graphM + int(link*upper)
}

func bytesUnit(v float64) string { return fmt.Sprintf("%.0f B", v) }

// fenecMemory returns what the process grows by for each vector from before the
// database is opened to after it has been searched: live objects and stacks, or
// all memory of its own where that is known and has grown by more, as memory may
// not be the collector's.
func (e *env) fenecMemory(ctx context.Context, s *vectorSet) (float64, error) {
	f, err := e.base(ctx, s)
	if err != nil {
		return 0, err
	}
	if err := f.close(); err != nil {
		return 0, err
	}
	heap, own := measure.HeldMemory(), ownMemory()
	if err := f.reopen(); err != nil {
		return 0, err
	}
	if _, err := f.graph(s, nearText).answers(ctx, filterEF); err != nil {
		return 0, err
	}
	heap, own = measure.HeldMemory()-heap, ownMemory()-own
	st, err := f.db.Stats()
	if err != nil {
		return 0, err
	}
	n := float64(s.len())
	e.note("live objects %s, the process's own memory %s, Stats().MemoryBytes %s a vector",
		bytesUnit(float64(heap)/n), bytesUnit(float64(own)/n), bytesUnit(float64(st.MemoryBytes)/n))
	return float64(max(heap, own)) / n, nil
}
