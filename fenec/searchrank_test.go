package fenec_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
)

// hybrid is a collection with all that can be ranked by, of which half is folded.
func hybrid(t *testing.T, r *rand.Rand) *fenec.DB {
	db := file(t, fenec.Options{}, `create collection docs (body text @text, v vector<3> @hnsw(dot), w vector<3>, s sparse<9> @inverted, p sparse<9>, n int)`)
	for half := range 2 {
		var docs []any
		for i := range 300 {
			d := map[string]any{"id": 1 + half*200 + i, "body": prose(r, 6), "n": i % 10}
			if s := sparseText(r); r.IntN(10) > 0 {
				d["s"], d["p"] = s, s
			}
			if r.IntN(8) > 0 {
				d["v"] = point(r, 3, i%2 == 0)
			}
			if r.IntN(8) > 0 {
				d["w"] = point(r, 3, i%2 == 0)
			}
			docs = append(docs, d)
		}
		query(t, db, "put docs $1", docs)
		if half == 0 {
			require.NoError(t, db.Checkpoint(ctx))
		}
	}
	query(t, db, "del docs where id in [3, 7, 250, 400] or id > 590")
	return db
}

// A rerank is the best rows of a match in the order of a vector.
func TestRerank(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 67))
	db := hybrid(t, r)
	texts := textsOf(t, db, "docs", "body")
	for i, c := range []struct{ field, metric string }{{"v", "dot"}, {"w", "cosine"}} {
		vectors := vectorsOf(t, db, "docs", c.field)
		for _, candidates := range []int{1, 5, 20, 200, 1000} {
			for _, filter := range []string{"n >= 0", "n < 4"} {
				q, v := prose(r, 3)+" oak", point(r, 3, i == 0)
				found := plainWords.match(texts, q).only(passing(t, db, "docs", filter))
				statement := fmt.Sprintf("get id from docs match body $1 rerank %s $2 candidates %d where %s limit 8 offset 2", c.field, candidates, filter)
				in := map[int64]bool{}
				for _, h := range hitsOf(t, db, fmt.Sprintf("get id from docs match body $1 where %s limit %d", filter, max(candidates, 10)), q) {
					require.Contains(t, found, h.id)
					in[h.id] = true
				}
				require.Len(t, in, min(len(found), max(candidates, 10)))
				want := measure(c.metric, vectors, v).only(func(id int64) bool { return in[id] })
				want.require(t, hitsOf(t, db, statement, q, v), false, 2, 8, statement, q, v)
			}
		}
		q, v := "oak elm", point(r, 3, true)
		found := plainWords.match(texts, q)
		want := measure(c.metric, vectors, v).only(func(id int64) bool { _, ok := found[id]; return ok })
		want.require(t, hitsOf(t, db, "get id from docs match body $1 rerank "+c.field+" $2", q, v), false, 0, 10_000, "no limit")
	}
}

// A fuse is the sum of reciprocal ranks on both sides.
func TestFuse(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 67))
	db := hybrid(t, r)
	for _, c := range []struct {
		k, candidates, limit, offset int
		near                         string
	}{
		{60, 20, 10, 0, "v"}, {60, 20, 30, 5, "v"}, {0, 1, 3, 0, "v"}, {7, 100, 10, 90, "v"}, {60, 20, 10_000, 0, "v"},
		{60, 20, 10, 0, "s"}, {1, 50, 10, 3, "s"}, {1000, 10_000, 10, 3, "p"},
	} {
		for _, filter := range []string{"n >= 0", "n in [1, 5, 7]", "id = 2"} {
			q, v := prose(r, 3)+" pine", any(point(r, 3, true))
			if c.near != "v" {
				v = sparseText(r)
			}
			depth := max(c.candidates, c.limit+c.offset)
			want := scores{}
			for _, side := range []string{"match body $1", "near " + c.near + " $2"} {
				for i, h := range hitsOf(t, db, fmt.Sprintf("get id from docs %s where %s limit %d", side, filter, depth), q, v) {
					want[h.id] += 1 / float64(c.k+i+1)
				}
			}
			statement := fmt.Sprintf("get id from docs match body $1 near %s $2 fuse k %d candidates %d where %s limit %d offset %d",
				c.near, c.k, c.candidates, filter, c.limit, c.offset)
			got := hitsOf(t, db, statement, q, v)
			list := want.best(false, c.offset, c.limit)
			require.Len(t, got, len(list), statement)
			for i := range list {
				require.Equal(t, hit{list[i].id, float64(float32(list[i].score))}, got[i], statement)
			}
		}
	}
}

// Sparse vectors score the same by an index, by a scan and by plain sums; rows that
// share no index are left out.
func TestSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 67))
	db := hybrid(t, r)
	rows := map[int64]map[string]float64{}
	for row := range query(t, db, "get id, s from docs where s is not null").All() {
		id, err := row.Int("id")
		require.NoError(t, err)
		v, err := row.Get("s")
		require.NoError(t, err)
		rows[id] = entriesOf(t, fmt.Sprint(v))
	}
	require.Greater(t, len(rows), 400)
	for range 40 {
		q := sparseText(r)
		want := scores{}
		for id, row := range rows {
			for index, weight := range entriesOf(t, q) {
				if other, ok := row[index]; ok {
					want[id] += weight * other
				}
			}
		}
		few := want.only(passing(t, db, "docs", "n < 2"))
		for _, field := range []string{"s", "p"} {
			for _, exact := range []string{"", " exact"} {
				get := "get id from docs near " + field + " $1" + exact
				want.require(t, hitsOf(t, db, get, q), false, 0, 10_000, get, q)
				want.require(t, hitsOf(t, db, get+" limit 7 offset 2", q), false, 2, 7, get, q)
				few.require(t, hitsOf(t, db, get+" where n < 2 limit 5", q), false, 0, 5, get, q)
			}
		}
	}
}

// entriesOf reads the text form of a sparse vector.
func entriesOf(t *testing.T, s string) map[string]float64 {
	out := map[string]float64{}
	body, _, _ := strings.Cut(strings.TrimPrefix(s, "{"), "}")
	for part := range strings.SplitSeq(body, ",") {
		if part == "" {
			continue
		}
		index, weight, _ := strings.Cut(part, ":")
		f, err := strconv.ParseFloat(weight, 64)
		require.NoError(t, err)
		if f != 0 {
			out[index] = f
		}
	}
	return out
}

// Facets beside match count all rows that match, whatever the page.
func TestMatchFacets(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 67))
	db := hybrid(t, r)
	texts := textsOf(t, db, "docs", "body")
	for _, filter := range []string{"", " where n > 4", " where n > 4 and id < 300"} {
		q := "oak " + prose(r, 2)
		found := plainWords.match(texts, q)
		if filter != "" {
			found = found.only(passing(t, db, "docs", strings.TrimPrefix(filter, " where ")))
		}
		counts := map[int64]int{}
		for row := range query(t, db, "get id, n from docs").All() {
			id, _ := row.Int("id")
			n, err := row.Int("n")
			require.NoError(t, err)
			if _, ok := found[id]; ok {
				counts[n]++
			}
		}
		var want []string
		for n, count := range counts {
			want = append(want, fmt.Sprintf(`{"value":%d,"count":%d}`, n, count))
		}
		slices.SortFunc(want, func(a, b string) int {
			var n, m, c, d int
			_, err := fmt.Sscanf(a+b, `{"value":%d,"count":%d}{"value":%d,"count":%d}`, &n, &c, &m, &d)
			require.NoError(t, err)
			return cmp.Or(cmp.Compare(d, c), cmp.Compare(n, m))
		})
		got := body(t, db, "get id from docs match body $1"+filter+" limit 2 facet n", q)
		require.Contains(t, got, `"facets":{"n":[`+strings.Join(want, ",")+`]}`, filter)
	}
}
