package fenec_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// lot is a collection of vectors that is large enough for its graphs to be
// searched, under every metric, with fields to filter by: two by chance and two
// that go with the first component, each once with an index and once without.
type lot struct {
	db      *fenec.DB
	vectors map[int64][]float32
	fields  map[string]map[int64]int // of rows, from 0 up to lotRows
}

const (
	lotRows = 5000
	lotDim  = 8
)

var lotMetrics = []string{"cosine", "l2", "dot"}

func newLot(t *testing.T) *lot {
	t.Helper()
	if testing.Short() {
		t.Skip("three graphs take minutes under the race detector, and nothing here runs at once")
	}
	r := rand.New(rand.NewPCG(7, 62))
	l := &lot{vectors: map[int64][]float32{}, fields: map[string]map[int64]int{}}
	chance, along := map[int64]int{}, map[int64]int{}
	order := r.Perm(lotRows)
	var ids []int64
	for id := int64(1); id <= lotRows; id++ {
		l.vectors[id] = point(r, lotDim, false)
		chance[id] = order[id-1]
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int64) int {
		return int(1e6 * (l.vectors[a][0] - l.vectors[b][0]))
	})
	for i, id := range ids {
		along[id] = i
	}
	for _, name := range []string{"chance", "chanced"} {
		l.fields[name] = chance
	}
	for _, name := range []string{"along", "alonged"} {
		l.fields[name] = along
	}
	var docs []any
	for id := int64(1); id <= lotRows; id++ {
		d := map[string]any{"id": id}
		for _, m := range lotMetrics {
			d[m] = l.vectors[id]
		}
		for name, of := range l.fields {
			d[name] = of[id]
		}
		docs = append(docs, d)
	}
	var fields []string
	for _, m := range lotMetrics {
		fields = append(fields, fmt.Sprintf("%s vector<%d> @hnsw(%s, m=8, ef_construction=64, ef_search=40)", m, lotDim, m))
	}
	l.db = memory(t, "create collection lot ("+strings.Join(fields, ", ")+", chance int @sorted, chanced int, along int @sorted, alonged int)")
	query(t, l.db, "put lot $1", docs)
	require.NoError(t, l.db.Checkpoint(ctx))
	return l
}

// Whatever part of the rows a filter lets pass, and wherever they are, the page
// of a search is full, and nearly all of it is right.
func TestNearFiltered(t *testing.T) {
	l := newLot(t)
	r := rand.New(rand.NewPCG(8, 62))
	for _, m := range lotMetrics {
		require.Contains(t, l.untilLinked(t, m), "graph of 5000 vectors")
	}
	for _, share := range []float64{0.0001, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9, 1} {
		for name, of := range l.fields {
			below := int(share * lotRows)
			for _, m := range lotMetrics {
				sum := 0.0
				const queries = 6
				for i := range queries {
					q := point(r, lotDim, false)
					if i%2 == 0 { // far from the rows that pass
						q[0] = 3
					}
					want := measure(m, l.vectors, q).only(func(id int64) bool { return of[id] < below })
					get := fmt.Sprintf("get id from lot near %s $1 where %s < $2", m, name)
					got := hitsOf(t, l.db, get+" limit 10", q, below)
					if len(want) == 0 {
						require.Empty(t, got)
						sum++
						continue
					}
					sum += want.recall(t, got, m == "l2", 10)
					if i == 0 {
						exact := fmt.Sprintf("get id from lot near %s $1 exact where %s < $2", m, name)
						want.require(t, hitsOf(t, l.db, exact+" limit 10 offset 3", q, below), m == "l2", 3, 10, get)
					}
				}
				if sum < 0.95*queries {
					t.Errorf("recall %.3f by %s with %v of the rows by %s", sum/queries, m, share, name)
				}
			}
		}
	}
}

// untilLinked waits until the graph of a field has taken up all that is folded, and
// returns how a search is answered then.
func (l *lot) untilLinked(t *testing.T, field string) string {
	q := make([]float32, lotDim)
	q[0] = 1
	return untilLinked(t, l.db, fmt.Sprintf("get id from lot near %s $1 limit 10", field), q)
}

func untilLinked(t testing.TB, q querier, get string, args ...any) string {
	for begun := time.Now(); ; {
		plan := planOf(t, q, get, args...)
		if strings.Contains(plan, "graph of ") && strings.Contains(plan, "candidates and 0 rows that changed") {
			return plan
		}
		require.Less(t, time.Since(begun), time.Minute, plan)
		runtime.Gosched()
	}
}

// Pages of any length are full. The more of the ef candidates a page takes, the
// fewer of them are right.
func TestNearLimits(t *testing.T) {
	l := newLot(t)
	r := rand.New(rand.NewPCG(9, 62))
	for _, m := range lotMetrics {
		l.untilLinked(t, m)
		for _, limit := range []int{1, 2, 39, 40, 41, 100, 300, 624, 625, 626, 1000, 4999, 5000, 5001, 10_000} {
			q := point(r, lotDim, false)
			got := hitsOf(t, l.db, fmt.Sprintf("get id from lot near %s $1 limit %d", m, limit), q)
			recall := measure(m, l.vectors, q).recall(t, got, m == "l2", limit)
			require.GreaterOrEqual(t, recall, 0.8, "%s, limit %d", m, limit)
		}
		q := point(r, lotDim, false)
		for _, ef := range []int{1, 5, 40, 500, 100_000} {
			got := hitsOf(t, l.db, fmt.Sprintf("get id from lot near %s $1 ef %d limit 5 offset 2", m, ef), q)
			require.Len(t, got, 5, "ef %d", ef)
		}
		require.Len(t, hitsOf(t, l.db, fmt.Sprintf("get id from lot near %s $1 limit 10 offset 4995", m), q), 5)
	}
}

// Of vectors that are equal, fewer than ef, those with the lowest ids come first,
// though the graph is searched.
func TestNearEqual(t *testing.T) {
	db := memory(t, `create collection lot (v vector<2> @hnsw(l2, m=4, ef_search=60))`)
	vectors := map[int64][]float32{}
	var docs []any
	for id := int64(1200); id > 0; id-- {
		vectors[id] = []float32{float32(id % 5), float32(id % 7)}
		docs = append(docs, map[string]any{"id": id, "v": vectors[id]})
	}
	query(t, db, "put lot $1", docs)
	require.NoError(t, db.Checkpoint(ctx))
	untilLinked(t, db, "get id from lot near v $1 limit 10", []float32{1, 1})
	for x := range 5 {
		for y := range 7 {
			v := []float32{float32(x) + 0.1, float32(y) + 0.2}
			want := measure("l2", vectors, v).best(true, 0, 10)
			for i, h := range hitsOf(t, db, "get id from lot near v $1 limit 10", v) {
				require.Equal(t, want[i].id, h.id, "%v", v)
			}
		}
	}
}
