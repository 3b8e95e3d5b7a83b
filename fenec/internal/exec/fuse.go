package exec

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/fenec-go/fenecdb/fenec/internal/plan"
	"github.com/fenec-go/fenecdb/fenec/internal/vector"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// fuse joins the rankings of match and near by reciprocal ranks (Cormack, Clarke
// and Büttcher 2009): a row's score is the sum of 1/(k + rank) over the rankings
// that have it among their first rows, ranks counting from 1.
type fuse struct {
	k          int64
	candidates int
}

// The k and the candidates of a fuse that names none.
const (
	defaultFuseK          = 60
	defaultFuseCandidates = 20
)

func newFuse(s *ql.Fuse) *fuse {
	f := &fuse{k: defaultFuseK, candidates: defaultFuseCandidates}
	if s.K != nil {
		f.k = *s.K
	}
	if s.Candidates != nil {
		f.candidates = int(min(*s.Candidates, maxRanked))
	}
	return f
}

func (f *fuse) rank(ctx context.Context, s *search, r *ranking) ([]vector.Hit, error) {
	depth := max(f.candidates, r.end())
	sums := map[uint64]float64{}
	for _, side := range []ranker{r.match, r.near} {
		hits, err := side.rank(ctx, s, depth)
		if err != nil {
			return nil, err
		}
		for i, h := range hits {
			sums[h.ID] += 1 / (float64(f.k) + float64(i+1))
		}
	}
	hits := make([]vector.Hit, 0, len(sums))
	for id, sum := range sums {
		hits = append(hits, vector.Hit{ID: id, Score: float32(sum)})
	}
	slices.SortFunc(hits, func(a, b vector.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	s.env.trace.Step(plan.StepFuse, fmt.Sprintf("k %d", f.k)).Note("%d rows of the best %d of each side", len(hits), depth)
	return hits, nil
}
