package main

import (
	"context"
	"fmt"

	"github.com/fenec-go/fenecdb/bench/internal/measure"
	"github.com/fenec-go/fenecdb/bench/internal/report"
	"github.com/fenec-go/fenecdb/fenec"
)

// filterEF is the number of candidates of part c.
const filterEF = 50

// measureFilter asks for the nearest of the rows with one of a hundred tags. All
// answers must be exact, as so few rows can be measured.
func measureFilter(ctx context.Context, e *env) error {
	if e.peersOnly {
		e.note("fenec alone is measured here")
		return nil
	}
	s := e.clustered()
	f, err := e.base(ctx, s)
	if err != nil {
		return err
	}
	st, err := f.db.Prepare(fmt.Sprintf(nearTagText, filterEF))
	if err != nil {
		return err
	}
	share, err := exactShare(ctx, s, st)
	if err != nil {
		return err
	}
	e.out.Line("answers that are exact", report.Percent, share, 1, share, report.AtLeast(1))
	all := newMeasured(f.graph(s, nearText), s)
	i := 0
	filtered := func() (float64, error) {
		return measure.PerOp(e.Slice, func() error {
			i = (i + 1) % len(s.asked)
			_, err := askIDs(ctx, st, s.asked[i], tagAsked(i))
			return err
		})
	}
	got, err := measure.Interleave(ctx, e.Rounds, []measure.Contender{
		{Name: "filtered", Slice: filtered},
		{Name: "unfiltered", Slice: func() (float64, error) { return all.pace(ctx, filterEF, e.Slice) }},
	})
	if err != nil {
		return err
	}
	e.out.Line("where tag = …, against no filter", report.Duration, got[0], got[1], got[0]/got[1], report.AtMost(3))
	return nil
}

// tagAsked is the tag that question i wants.
func tagAsked(i int) int64 { return int64(i*37+7) % tags }

// exactShare returns which share of the questions is answered with all the
// nearest rows of its tag and no others.
func exactShare(ctx context.Context, s *vectorSet, st *fenec.Stmt) (float64, error) {
	reach := s.reaches(s.asked, func(i int, id int32) bool { return tagOf(id) == tagAsked(i) })
	exact := 0
	for i, q := range s.asked {
		ids, err := askIDs(ctx, st, q, tagAsked(i))
		if err != nil {
			return 0, err
		}
		for _, id := range ids {
			if tagOf(id) != tagAsked(i) {
				return 0, fmt.Errorf("question %d: row %d has the tag %d, want %d", i, id+1, tagOf(id), tagAsked(i))
			}
		}
		n, err := s.hits(q, reach[i], ids)
		if err != nil {
			return 0, err
		}
		if n == len(ids) && n == min(page, countTagged(s.len(), tagAsked(i))) {
			exact++
		}
	}
	return float64(exact) / float64(len(s.asked)), nil
}

// countTagged returns how many of n rows have a tag.
func countTagged(n int, tag int64) int { return (n - int(tag) + tags - 1) / tags }
