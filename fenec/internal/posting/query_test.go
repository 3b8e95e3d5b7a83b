package posting

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// corpus is an index of generated documents, a part of it not folded yet.
type corpus struct {
	kind   Kind
	terms  int
	stored memory
	front  [][]Posting // of every term
	lists  []model     // every term's postings as they should be
	docs   []uint64    // ids, ascending
	length float64     // average
}

func prefixOf(term int) []byte { return IndexPrefix(nil, uint32(term)) }

// newCorpus generates documents, folds some changes and leaves some in the front.
func newCorpus(t testing.TB, r *rand.Rand, kind Kind) *corpus {
	c := &corpus{kind: kind, terms: 1 + r.IntN(20)}
	c.lists = make([]model, c.terms)
	c.front = make([][]Posting, c.terms)
	n := 1 + r.IntN(1<<(1+r.IntN(11)))
	if r.IntN(100) == 0 {
		n *= 10 // for lists of many chunks
	}
	d := newDrawer(r, kind, c.terms)
	id := uint64(r.IntN(3))
	var ids []uint64
	for range n {
		ids = append(ids, id)
		id += 1 + uint64(r.IntN(d.gap))
	}
	c.change(d, ids)
	built := map[string][]Posting{}
	for i, list := range c.lists {
		built[string(prefixOf(i))] = list
	}
	c.stored = store(t, kind, built)
	if r.IntN(3) == 0 {
		for i, changes := range c.change(d, some(r, ids, id)) {
			out, err := Merge(kind, &cursor{m: c.stored}, prefixOf(i), changes)
			require.NoError(t, err)
			c.stored.apply(t, out)
		}
	}
	if r.IntN(2) == 0 {
		c.front = c.change(d, some(r, ids, id))
	}
	c.count()
	return c
}

// some draws ids to change, old ones and new ones.
func some(r *rand.Rand, ids []uint64, next uint64) []uint64 {
	var drawn []uint64
	for range r.IntN(1 + len(ids)) {
		if r.IntN(2) == 0 {
			drawn = append(drawn, ids[r.IntN(len(ids))])
		} else {
			drawn = append(drawn, next+uint64(r.IntN(len(ids)+1)))
		}
	}
	slices.Sort(drawn)
	return slices.Compact(drawn)
}

// change draws new contents for documents, and returns the changes of each term.
func (c *corpus) change(d *drawer, ids []uint64) [][]Posting {
	changes := make([][]Posting, c.terms)
	for _, id := range ids {
		for term, p := range d.document(id) {
			if _, had := slices.BinarySearchFunc(c.lists[term], id, byID); !p.Gone || had {
				changes[term] = append(changes[term], p)
			}
		}
	}
	for i := range changes {
		c.lists[i].apply(changes[i])
	}
	return changes
}

func (c *corpus) count() {
	lengths := map[uint64]uint32{}
	for _, list := range c.lists {
		for _, p := range list {
			lengths[p.ID] = p.Length
		}
	}
	for id, n := range lengths {
		c.docs = append(c.docs, id)
		c.length += float64(n) / float64(len(lengths))
	}
	slices.Sort(c.docs)
}

// drawer draws documents of one style.
type drawer struct {
	r       *rand.Rand
	kind    Kind
	chance  []float64 // of each term
	gap     int
	same    bool // documents are much alike: equal scores are common
	signs   bool
	deleted float64
}

func newDrawer(r *rand.Rand, kind Kind, terms int) *drawer {
	d := &drawer{r: r, kind: kind, gap: 1 << r.IntN(6), same: r.IntN(3) == 0, signs: r.IntN(2) == 0}
	d.deleted = []float64{0, 0.05, 0.5}[r.IntN(3)]
	skew := r.Float64() * 1.5
	for i := range terms {
		d.chance = append(d.chance, 1/math.Pow(float64(i+1), skew))
	}
	r.Shuffle(terms, func(i, j int) { d.chance[i], d.chance[j] = d.chance[j], d.chance[i] })
	return d
}

// document returns a posting for every term, gone if the document has it not.
func (d *drawer) document(id uint64) []Posting {
	ps := make([]Posting, len(d.chance))
	length := uint32(20)
	if !d.same {
		length = 1 + uint32(d.r.ExpFloat64()*30)
	}
	deleted := d.r.Float64() < d.deleted
	for i, chance := range d.chance {
		ps[i] = Posting{ID: id, Gone: true}
		if !deleted && d.r.Float64() < chance {
			ps[i] = d.posting(id, length)
		}
	}
	return ps
}

func (d *drawer) posting(id uint64, length uint32) Posting {
	switch {
	case d.kind == Text && d.same:
		return Posting{ID: id, TF: 1 + uint32(d.r.IntN(2)), Length: length}
	case d.kind == Text:
		tf := 1 + uint32(d.r.ExpFloat64())
		return Posting{ID: id, TF: tf, Length: max(length, tf)}
	}
	w := float32(1 + d.r.IntN(2))
	if !d.same {
		w = float32(math.Exp(d.r.NormFloat64()))
	}
	if d.signs && d.r.IntN(3) == 0 {
		w = -w
	}
	if d.r.IntN(2000) == 0 {
		w *= math.MaxFloat32 / 1000
	}
	return Posting{ID: id, Weight: w}
}

// question is a query in numbers.
type question struct {
	scorer  Scorer
	terms   []int
	counts  []int
	idf     []float32
	weights []float32
	k       int
	accept  func(id uint64) bool // or nil
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func (c *corpus) question(r *rand.Rand) *question {
	q := &question{k: pick(r, 1, 2, 3, 10, 10, 100, 10_000)}
	q.scorer = Scorer{
		K1: pick[float32](r, 0, 0.9, 1.2, 2, 100), B: pick[float32](r, 0, 0.4, 0.75, 1, 1, 1.5, 100),
		Documents: uint64(len(c.docs)), AverageLength: c.length,
	}
	for range 1 + r.IntN(pick(r, 1, 3, 10)) {
		term := r.IntN(c.terms)
		q.terms = append(q.terms, term)
		q.counts = append(q.counts, pick(r, 1, 1, 1, 2, 5))
		idf := q.scorer.IDF(uint64(len(c.lists[term])))
		q.idf = append(q.idf, pick(r, idf, idf, idf/3, 1))
		q.weights = append(q.weights, pick(r, 1, float32(r.NormFloat64()), -1, float32(r.ExpFloat64())))
	}
	switch modulus := 1 + uint64(r.IntN(20)); r.IntN(4) {
	case 0:
		q.accept = func(id uint64) bool { return id%modulus == 0 }
	case 1:
		q.accept = func(id uint64) bool { return id*0x9E3779B97F4A7C15>>60 == modulus%16 }
	}
	return q
}

// list returns a fresh list of a term.
func (c *corpus) list(t testing.TB, term int) *List {
	l, err := NewList(c.kind, &cursor{m: c.stored}, prefixOf(term), c.front[term])
	require.NoError(t, err)
	return l
}

func (c *corpus) query(t testing.TB, q *question) *Query {
	if c.kind == Weights {
		var entries []Entry
		for i, term := range q.terms {
			entries = append(entries, Entry{c.list(t, term), q.weights[i]})
		}
		return Dot(entries)
	}
	var terms []Term
	for i, term := range q.terms {
		l := c.list(t, term)
		require.Equal(t, len(c.lists[term]), int(l.DF()))
		terms = append(terms, Term{l, q.counts[i], q.idf[i]})
	}
	return Match(q.scorer, terms)
}

// all scores every document, one after the other.
func (c *corpus) all(q *question) []Hit {
	sums := map[uint64]float64{}
	for i, term := range q.terms {
		w := q.scorer.weigher(q.counts[i], q.idf[i])
		for _, p := range c.lists[term] {
			if c.kind == Weights {
				sums[p.ID] += float64(q.weights[i]) * float64(p.Weight)
			} else {
				sums[p.ID] += float64(w.text(float32(p.TF), float32(p.Length)))
			}
		}
	}
	var hits []Hit
	for _, id := range c.docs {
		sum, ok := sums[id]
		score := float32(min(max(sum, -math.MaxFloat32), math.MaxFloat32))
		if ok && (c.kind == Weights || score > 0) {
			hits = append(hits, Hit{id, score})
		}
	}
	return hits
}

// best returns the best of hits, and for which documents q is to be asked.
func (q *question) best(hits []Hit) (best []Hit, asked []uint64) {
	for _, h := range hits {
		if len(best) == q.k && h.Score <= best[q.k-1].Score {
			continue
		}
		asked = append(asked, h.ID)
		if q.accept != nil && !q.accept(h.ID) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, h, compareHits)
		best = slices.Insert(best, at, h)
		best = best[:min(len(best), q.k)]
	}
	return best, asked
}

func (q *question) String() string {
	return fmt.Sprintf("%+v terms %v counts %v idf %v weights %v k %d", q.scorer, q.terms, q.counts, q.idf, q.weights, q.k)
}

func (c *corpus) requireTop(t testing.TB, q *question, hits []Hit) {
	want, wantAsked := q.best(hits)
	var asked []uint64
	accept := func(id uint64) (bool, error) {
		asked = append(asked, id)
		return q.accept(id), nil
	}
	if q.accept == nil {
		accept, wantAsked = nil, nil
	}
	for _, top := range []func(*Query, context.Context, int, func(uint64) (bool, error)) ([]Hit, error){(*Query).Top, (*Query).topSwept} {
		asked = nil
		got, err := top(c.query(t, q), context.Background(), q.k, accept)
		require.NoError(t, err)
		if !slices.Equal(want, got) || !slices.Equal(wantAsked, asked) {
			require.Equal(t, want, got, q.String())
			require.Equal(t, wantAsked, asked, q.String())
		}
	}
}

func (c *corpus) requireEach(t testing.TB, q *question, hits []Hit) {
	for _, each := range []func(*Query, context.Context, func(Hit) error) error{(*Query).Each, (*Query).sweep} {
		var got []Hit
		err := each(c.query(t, q), context.Background(), func(h Hit) error {
			got = append(got, h)
			return nil
		})
		require.NoError(t, err)
		if !slices.Equal(hits, got) {
			require.Equal(t, hits, got, q.String())
		}
	}
}

// requireAmong asks for every third document that is there, and for some that are
// not.
func (c *corpus) requireAmong(t testing.TB, q *question, hits []Hit) {
	var ids []uint64
	var want, got []Hit
	for i, h := range hits {
		if i%3 == 0 {
			ids, want = append(ids, h.ID), append(want, h)
		}
		if i%5 == 1 && (i+1 == len(hits) || hits[i+1].ID > h.ID+1) && h.ID < MaxID {
			ids = append(ids, h.ID+1)
		}
	}
	err := c.query(t, q).Among(context.Background(), ids, func(h Hit) error {
		got = append(got, h)
		return nil
	})
	require.NoError(t, err)
	if !slices.Equal(want, got) {
		require.Equal(t, want, got, q.String())
	}
}

// TestTop compares answers with those of scoring every document: ids, scores to
// the last bit, and what is asked of the filter.
func TestTop(t *testing.T) {
	for _, kind := range []Kind{Text, Weights} {
		r := newRand(4 + uint64(kind))
		var cases, found, full int
		for range scale(440) {
			c := newCorpus(t, r, kind)
			for range 60 {
				q := c.question(r)
				hits := c.all(q)
				c.requireTop(t, q, hits)
				if cases++; cases%10 == 0 {
					c.requireEach(t, q, hits)
					c.requireAmong(t, q, hits)
				}
				found += min(len(hits), 1)
				full += max(0, min(len(hits)-q.k, 1))
			}
		}
		require.GreaterOrEqual(t, cases, 25_000)
		require.Greater(t, found, cases*3/4)
		require.Greater(t, full, cases/4)
	}
}

// TestScores compares contributions with the formula in float64.
func TestScores(t *testing.T) {
	r := newRand(6)
	for range 10_000 {
		s := Scorer{K1: r.Float32() * 3, B: r.Float32(), AverageLength: 1 + r.ExpFloat64()*50, Documents: 1 + uint64(r.IntN(1e6))}
		df := 1 + uint64(r.IntN(int(s.Documents)))
		count, tf, length := 1+r.IntN(3), 1+uint32(r.ExpFloat64()*2), 1+uint32(r.ExpFloat64()*60)
		w := s.weigher(count, s.IDF(df))
		got := w.weigh(&Posting{TF: tf, Length: length})

		k1, b := float64(s.K1), float64(s.B)
		idf := math.Log(1 + (float64(s.Documents)-float64(df)+0.5)/(float64(df)+0.5))
		norm := k1 * (1 - b + b*float64(length)/s.AverageLength)
		want := float64(count) * idf * float64(tf) * (k1 + 1) / (float64(tf) + norm)
		require.InEpsilon(t, want, got, 1e-5)
	}
}

// TestLimitsAreMonotone checks what bounds rest on: no step of rounding makes a
// contribution grow with the length or shrink with the frequency.
func TestLimitsAreMonotone(t *testing.T) {
	r := newRand(7)
	for range 200_000 {
		w := Scorer{K1: r.Float32() * 3, B: r.Float32(), AverageLength: 1 + r.ExpFloat64()*50}.weigher(1, float32(r.ExpFloat64()))
		tf, length := float32(1+r.IntN(1000)), float32(1+r.IntN(100_000))
		if w.text(tf, length) > w.text(tf+1, length) || w.text(tf, length) < w.text(tf, length+1) {
			require.Fail(t, "not monotone", "%+v at %v, %v", w, tf, length)
		}
	}
}

func TestTopStops(t *testing.T) {
	var all []Posting
	for id := range uint64(50_000) {
		all = append(all, Posting{ID: id, TF: 1, Length: 1 + uint32(id)})
	}
	m := store(t, Text, map[string][]Posting{"b": all, "c": all})
	for _, n := range []int{2, manyTerms} {
		testStops(t, func() *Query {
			var terms []Term
			for i := range n {
				l, err := NewList(Text, &cursor{m: m}, []byte{"bc"[i%2]}, nil)
				require.NoError(t, err)
				terms = append(terms, Term{l, 1, 1})
			}
			return Match(Scorer{K1: 1, B: 0.5}, terms)
		})
	}
}

func testStops(t *testing.T, query func() *Query) {
	failed := errors.New("filter")
	_, err := query().Top(context.Background(), 1, func(uint64) (bool, error) { return false, failed })
	require.ErrorIs(t, err, failed)
	err = query().Each(context.Background(), func(Hit) error { return failed })
	require.ErrorIs(t, err, failed)

	asked := 0
	ctx, cancel := context.WithCancel(context.Background())
	_, err = query().Top(ctx, 1, func(uint64) (bool, error) {
		cancel()
		asked++
		return false, nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.LessOrEqual(t, asked, checkEvery)
	require.ErrorIs(t, query().Each(ctx, nil), context.Canceled)
	require.ErrorIs(t, query().Among(ctx, make([]uint64, 2*checkEvery), nil), context.Canceled)

	hits, err := query().Top(context.Background(), 0, nil)
	require.NoError(t, err)
	require.Empty(t, hits)
}
