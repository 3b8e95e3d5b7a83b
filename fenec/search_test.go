package fenec_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/text"
)

// What the tests of searches share: rankings as they are answered, and as plain
// loops over the rows compute them.

// hit is a row of a ranking.
type hit struct {
	id    int64
	score float64
}

// findHits runs a get that ranks rows and selects their ids.
func findHits(q querier, statement string, args ...any) ([]hit, error) {
	res, err := q.Query(ctx, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	var out []hit
	for row := range res.All() {
		id, err := row.Int("id")
		if err != nil {
			return nil, err
		}
		score, err := row.Float("_score")
		if err != nil {
			return nil, err
		}
		out = append(out, hit{id, score})
	}
	return out, nil
}

func hitsOf(t testing.TB, q querier, statement string, args ...any) []hit {
	t.Helper()
	out, err := findHits(q, statement, args...)
	require.NoError(t, err)
	return out
}

// scores are what rows score, by id.
type scores map[int64]float64

// best returns the rows of a page, best first.
func (s scores) best(ascending bool, skip, most int) []hit {
	var list []hit
	for id, score := range s {
		list = append(list, hit{id, score})
	}
	slices.SortFunc(list, func(a, b hit) int { return compareHits(a, b, ascending) })
	list = list[min(skip, len(list)):]
	return list[:min(most, len(list))]
}

// compareHits compares by the order of answers, in which scores are float32s.
func compareHits(a, b hit, ascending bool) int {
	sign := cmp.Compare(float32(a.score), float32(b.score))
	if !ascending {
		sign = -sign
	}
	return cmp.Or(sign, cmp.Compare(a.id, b.id))
}

// closeTo reports whether two scores are the same but for rounding.
func closeTo(a, b float64) bool { return math.Abs(a-b) <= 1e-5*max(1, math.Abs(a)) }

// differs says how a page that was answered differs from the one that is right,
// "" if it does not. Rows whose scores are the same but for rounding may be in
// either order.
func (s scores) differs(got []hit, ascending bool, skip, most int) string {
	want := s.best(ascending, skip, most)
	if len(got) != len(want) {
		return fmt.Sprintf("%d rows, want %d\ngot  %v\nwant %v", len(got), len(want), got, want)
	}
	seen := map[int64]bool{}
	for i, h := range got {
		score, ok := s[h.id]
		switch {
		case !ok || seen[h.id]:
			return fmt.Sprintf("id %d should not be there, or once\ngot  %v\nwant %v", h.id, got, want)
		case !closeTo(score, h.score) || !closeTo(want[i].score, h.score):
			return fmt.Sprintf("id %d at %d scores %v, want %v, and there %v", h.id, i, h.score, score, want[i])
		case i > 0 && compareHits(got[i-1], h, ascending) >= 0:
			return fmt.Sprintf("%v stands before %v", got[i-1], h)
		}
		seen[h.id] = true
	}
	return ""
}

func (s scores) require(t testing.TB, got []hit, ascending bool, skip, most int, what string, args ...any) {
	t.Helper()
	require.Empty(t, s.differs(got, ascending, skip, most), "%s %v", what, args)
}

// recall is which part of the page that is right was answered.
func (s scores) recall(t testing.TB, got []hit, ascending bool, most int) float64 {
	t.Helper()
	want := s.best(ascending, 0, most)
	require.Len(t, got, len(want))
	require.NotEmpty(t, want)
	last := want[len(want)-1]
	found := 0
	for i, h := range got {
		score, ok := s[h.id]
		if !ok || !closeTo(score, h.score) || i > 0 && compareHits(got[i-1], h, ascending) >= 0 {
			require.Fail(t, "a wrong row", "id %d at %d scores %v, want %v (%t), in %v", h.id, i, h.score, score, ok, got)
		}
		if h.score == last.score || compareHits(hit{0, h.score}, last, ascending) < 0 || closeTo(h.score, last.score) {
			found++
		}
	}
	return float64(found) / float64(len(want))
}

// words is a field of texts with its index.
type words struct {
	field    string
	options  string // as declared
	analyzer text.Analyzer
	k1, b    float64
}

var plainWords = words{field: "body", k1: 0.9, b: 0.4}

// match scores texts by BM25, as the formula is written.
func (w *words) match(texts map[int64]string, query string) scores {
	type doc struct {
		terms  map[string]float64
		length float64
	}
	docs, total := map[int64]doc{}, 0.0
	for id, body := range texts {
		d := doc{terms: map[string]float64{}}
		for _, t := range w.analyzer.Terms(body) {
			d.terms[t.Text] = float64(t.Count)
			d.length += float64(t.Count)
		}
		if d.length > 0 {
			docs[id] = d
			total += d.length
		}
	}
	n := float64(len(docs))
	average := max(1, total/n)
	out := scores{}
	for _, q := range w.analyzer.Terms(query) {
		df := 0.0
		for _, d := range docs {
			if d.terms[q.Text] > 0 {
				df++
			}
		}
		idf := math.Log(1 + (n-df+0.5)/(df+0.5))
		for id, d := range docs {
			if tf := d.terms[q.Text]; tf > 0 {
				out[id] += float64(q.Count) * idf * tf * (w.k1 + 1) / (tf + w.k1*(1-w.b+w.b*d.length/average))
			}
		}
	}
	return out
}

// measure scores vectors, as the metric is defined.
func measure(metric string, vectors map[int64][]float32, query []float32) scores {
	out := scores{}
	for id, v := range vectors {
		var dot, a, b, squares float64
		for i := range v {
			x, y := float64(v[i]), float64(query[i])
			dot, a, b = dot+x*y, a+x*x, b+y*y
			squares += (x - y) * (x - y)
		}
		switch {
		case metric == "l2":
			out[id] = math.Sqrt(squares)
		case metric == "dot":
			out[id] = dot
		case a == 0 || b == 0:
			out[id] = 0
		default:
			out[id] = dot / math.Sqrt(a*b)
		}
	}
	return out
}

// only returns the scores of rows that pass.
func (s scores) only(pass func(id int64) bool) scores {
	out := scores{}
	for id, score := range s {
		if pass(id) {
			out[id] = score
		}
	}
	return out
}

// textsOf reads a field of texts by a plain scan; nulls are left out.
func textsOf(t testing.TB, q querier, collection, field string) map[int64]string {
	t.Helper()
	res, err := q.Query(ctx, fmt.Sprintf("get id, %s as x from %s where %s is not null", field, collection, field))
	require.NoError(t, err)
	out := map[int64]string{}
	for row := range res.All() {
		id, err := row.Int("id")
		require.NoError(t, err)
		out[id], err = row.Text("x")
		require.NoError(t, err)
	}
	return out
}

// vectorsOf reads a field of vectors by a plain scan; nulls are left out.
func vectorsOf(t testing.TB, q querier, collection, field string) map[int64][]float32 {
	t.Helper()
	res, err := q.Query(ctx, fmt.Sprintf("get id, %s as x from %s where %s is not null", field, collection, field))
	require.NoError(t, err)
	out := map[int64][]float32{}
	for row := range res.All() {
		id, err := row.Int("id")
		require.NoError(t, err)
		out[id], err = row.Vector("x")
		require.NoError(t, err)
	}
	return out
}

// passing reads which rows a filter lets pass, by a plain scan.
func passing(t testing.TB, q querier, collection, filter string, args ...any) func(id int64) bool {
	t.Helper()
	res, err := q.Query(ctx, fmt.Sprintf("get id from %s where %s", collection, filter), args...)
	require.NoError(t, err)
	ids := map[int64]bool{}
	for row := range res.All() {
		id, err := row.Int("id")
		require.NoError(t, err)
		ids[id] = true
	}
	return func(id int64) bool { return ids[id] }
}

// planOf returns how a get is answered.
func planOf(t testing.TB, q querier, statement string, args ...any) string {
	t.Helper()
	res, err := q.Query(ctx, "explain "+statement, args...)
	require.NoError(t, err)
	b, err := res.AppendJSON(nil)
	require.NoError(t, err)
	return string(b)
}

// prose makes a text of words, of which some are far more frequent than others.
func prose(r *rand.Rand, most int) string {
	var list []string
	for range r.IntN(most + 1) {
		list = append(list, proseWords[min(r.IntN(len(proseWords)), r.IntN(len(proseWords)))])
	}
	return strings.Join(list, " ")
}

var proseWords = []string{
	"oak", "Oak", "pine", "elm", "ışık", "IŞIK", "şal", "çam", "東京都庁", "京都", "กรุงเทพ", "birch", "maple", "fir", "Ａｂｃ", "ash",
	"larch", "linden", "foo_bar", "3.14", "naïve", "e\u0301t\u00e9", "yew", "holly", "rowan", "alder", "hazel", "willow", "cedar", "aspen",
}

// point makes a vector with components that are few, so that scores are equal at
// times, or of the unit ball.
func point(r *rand.Rand, dim int, few bool) []float32 {
	v := make([]float32, dim)
	for i := range v {
		if v[i] = float32(r.NormFloat64()); few {
			v[i] = float32(r.IntN(5) - 2)
		}
	}
	return v
}

// reopened closes a database that lies in a file and opens it again.
func reopened(t testing.TB, db *fenec.DB, opts fenec.Options) *fenec.DB {
	t.Helper()
	path := db.Path()
	require.NoError(t, db.Close())
	require.NoError(t, fenec.Check(path))
	db, err := fenec.Open(path, opts)
	require.NoError(t, err)
	return db
}
