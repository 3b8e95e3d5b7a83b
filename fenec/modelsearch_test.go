package fenec_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/internal/text"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// modelHit is a row of a ranking.
type modelHit struct {
	id    int64
	score float32
}

// ranks reports whether a get ranks rows.
func ranks(s *ql.Get) bool { return s.Match != nil || s.Near != nil }

// ranked answers a get that ranks rows.
func (q *asked) ranked(t *table, s *ql.Get, show *selection) outcome {
	if err := checkFacets(t, s); err != nil {
		return failed(err)
	}
	hits, out := q.rank(t, s)
	if out.err != nil {
		return out
	}
	out = outcome{rows: len(hits), plan: fmt.Sprintf("rows: %d", len(hits))}
	out.columns = append(slices.Clip(show.names), "_score")
	var items []string
	for _, h := range hits {
		row, err := show.row(&scope{asked: q, t: t, id: h.id, d: t.docs[h.id]})
		if err != nil {
			return failed(err)
		}
		row.add("_score", float32Text(h.score+0)) // no minus zero
		items = append(items, row.String())
	}
	out.json = listOf(items)
	clauses := picked{where: s.Where}
	if len(s.Facets) > 0 {
		matches, err := q.match(t, s.Match)
		if err != nil {
			return failed(err)
		}
		clauses.also = func(of *scope) bool {
			return slices.ContainsFunc(matches, func(h modelHit) bool { return h.id == of.id })
		}
	}
	return q.facets(t, s, clauses, out.require(s.Require, out.rows))
}

// rank returns the page of a get that ranks rows.
func (q *asked) rank(t *table, s *ql.Get) ([]modelHit, outcome) {
	if err := t.ranks(s); err != nil {
		return nil, failed(err)
	}
	ids, out := q.pick(t, picked{where: s.Where})
	if out.err != nil {
		return nil, out
	}
	passed := map[int64]bool{}
	for _, id := range ids {
		passed[id] = true
	}
	var sides [2][]modelHit
	var err error
	if s.Match != nil {
		sides[0], err = q.match(t, s.Match)
	}
	if s.Near != nil && err == nil {
		sides[1], err = q.near(t, s.Near)
	}
	if err != nil {
		return nil, failed(err)
	}
	for i := range sides {
		sides[i] = slices.DeleteFunc(sides[i], func(h modelHit) bool { return !passed[h.id] })
	}
	most := int64(10_000)
	end := most
	if s.Limit != nil {
		end = *s.Limit + *cmp.Or(s.Offset, new(int64))
	}
	list := append(sides[0], sides[1]...)
	switch {
	case s.Fuse != nil:
		list = fuseSides(s.Fuse, sides, end)
	case s.Rerank != nil:
		candidates := max(end, *cmp.Or(s.Rerank.Candidates, ptr(int64(200))))
		if list, err = q.rerank(t, s.Rerank, page(list, &candidates, nil)); err != nil {
			return nil, failed(err)
		}
	}
	return page(list, cmp.Or(s.Limit, &most), s.Offset), outcome{}
}

// ranks checks that there is what a get ranks rows by.
func (t *table) ranks(s *ql.Get) error {
	if s.Match != nil {
		switch f := t.field(s.Match.Field.Text); {
		case f == nil:
			return fenec.ErrNotFound
		case f.index != "text":
			return fenec.ErrQuery
		}
	}
	if s.Near != nil {
		f := t.field(s.Near.Field.Text)
		if f == nil {
			return fenec.ErrNotFound
		}
		switch f.Type.Kind {
		case ql.TypeVector:
			if f.index != "hnsw" {
				return fenec.ErrQuery
			}
		case ql.TypeSparse, ql.TypeGeo:
			if s.Near.EF != nil {
				return fenec.ErrQuery
			}
		default:
			return fenec.ErrQuery
		}
	}
	if s.Rerank != nil {
		switch f := t.field(s.Rerank.Field.Text); {
		case f == nil:
			return fenec.ErrNotFound
		case f.Type.Kind != ql.TypeVector:
			return fenec.ErrType
		}
	}
	return nil
}

func sortHits(list []modelHit, ascending bool) {
	slices.SortFunc(list, func(a, b modelHit) int {
		sign := cmp.Compare(b.score, a.score)
		if ascending {
			sign = -sign
		}
		return cmp.Or(sign, cmp.Compare(a.id, b.id))
	})
}

// fuseSides joins two rankings by their reciprocal ranks.
func fuseSides(s *ql.Fuse, sides [2][]modelHit, end int64) (list []modelHit) {
	k, depth := *cmp.Or(s.K, ptr(int64(60))), max(end, *cmp.Or(s.Candidates, ptr(int64(20))))
	sums := map[int64]float64{}
	for _, side := range sides {
		for i, h := range page(side, &depth, nil) {
			sums[h.id] += 1 / float64(k+int64(i)+1)
		}
	}
	for id, sum := range sums {
		list = append(list, modelHit{id, float32(sum)})
	}
	sortHits(list, false)
	return list
}

// match ranks all rows by BM25. The steps are those of the database, so that no
// score is rounded otherwise; TestSearchModel compares scores with the formula.
// Rows that are expired count.
func (q *asked) match(t *table, s *ql.Match) ([]modelHit, error) {
	f := t.field(s.Field.Text)
	v, err := (&scope{asked: q, t: t}).eval(s.Query)
	if err != nil {
		return nil, err
	}
	query, ok := v.(string)
	if !ok {
		return nil, fenec.ErrType
	}
	o := f.def.Text
	a := text.Analyzer{Chars: o.Chars, Prefix: int(*cmp.Or(o.Prefix, new(int64))), PrefixMin: int(*cmp.Or(o.PrefixMin, ptr(int64(3))))}
	k1, b := float32(*cmp.Or(o.K1, ptr(0.9))), float32(*cmp.Or(o.B, ptr(0.4)))
	docs, lengths, total := map[int64]map[string]uint32{}, map[int64]uint32{}, 0.0
	for id, d := range t.docs {
		body, _ := d[f.Name.Text].(string)
		terms := map[string]uint32{}
		for _, term := range a.Terms(body) {
			terms[term.Text] = term.Count
			lengths[id] += term.Count
		}
		if total += float64(lengths[id]); len(terms) > 0 {
			docs[id] = terms
		}
	}
	n := float64(len(docs))
	slope := float32(k1*b) / float32(max(1, total/max(n, 1)))
	sums := map[int64]float64{}
	for _, term := range a.Terms(query) {
		df := 0.0
		for _, terms := range docs {
			if terms[term.Text] > 0 {
				df++
			}
		}
		idf := float32(math.Log(1 + (n-df+0.5)/(df+0.5)))
		gain := float32(float32(term.Count)*idf) * (k1 + 1)
		for id, terms := range docs {
			if tf := float32(terms[term.Text]); tf > 0 {
				norm := k1*(1-b) + float32(slope*float32(lengths[id]))
				sums[id] += float64(gain / (1 + norm/tf))
			}
		}
	}
	var list []modelHit
	for id, sum := range sums {
		if float32(sum) > 0 {
			list = append(list, modelHit{id, float32(sum)})
		}
	}
	sortHits(list, false)
	return list, nil
}

// near ranks all rows by how near a vector or a point is.
func (q *asked) near(t *table, s *ql.Near) ([]modelHit, error) {
	f := t.field(s.Field.Text)
	v, err := q.given(t, f, s.Vector)
	if err != nil {
		return nil, err
	}
	metric := ""
	if f.Type.Kind == ql.TypeVector {
		metric = f.def.HNSW.Metric
	}
	var list []modelHit
	for id, d := range t.docs {
		if score, ok := nearness(metric, d[f.Name.Text], v); ok {
			list = append(list, modelHit{id, score})
		}
	}
	sortHits(list, metric == "l2" || f.Type.Kind == ql.TypeGeo)
	return list, nil
}

// given returns what rows are measured against.
func (q *asked) given(t *table, f *modelField, e ql.Expr) (any, error) {
	v, err := (&scope{asked: q, t: t}).eval(e)
	if err != nil {
		return nil, err
	}
	if s, ok := v.(string); ok && f.Type.Kind == ql.TypeVector {
		var list []any
		if json.Unmarshal([]byte(s), &list) != nil {
			return nil, fenec.ErrType
		}
		v = list
	}
	typ := f.Type
	typ.Half = false
	if v, err = coerce(&typ, v); v == nil && err == nil {
		err = fenec.ErrType
	}
	return v, err
}

// nearness scores a row's value; ok is false if it has no place in the ranking.
func nearness(metric string, v, given any) (score float32, ok bool) {
	switch x := v.(type) {
	case vector:
		w, err := vectorCall(cmp.Or(metric, "cosine"), []any{x, given})
		return float32(w.(float64)), err == nil
	case []any: // a point
		w, err := geoCall("distance", []any{x, given})
		return float32(w.(float64)), err == nil
	case sparse:
		sum := 0.0
		for _, e := range x.entries {
			for _, o := range given.(sparse).entries {
				if e.index == o.index {
					sum, ok = sum+float64(e.weight)*float64(o.weight), true
				}
			}
		}
		return float32(sum), ok
	}
	return 0, false
}

// rerank puts rows in the order of a vector.
func (q *asked) rerank(t *table, s *ql.Rerank, list []modelHit) (out []modelHit, err error) {
	f := t.field(s.Field.Text)
	v, err := q.given(t, f, s.Vector)
	if err != nil {
		return nil, err
	}
	metric := "cosine"
	if f.index == "hnsw" {
		metric = f.def.HNSW.Metric
	}
	for _, h := range list {
		if score, ok := nearness(metric, t.docs[h.id][f.Name.Text], v); ok {
			out = append(out, modelHit{h.id, score})
		}
	}
	sortHits(out, metric == "l2")
	return out, nil
}

// spelt returns the index of a field as schemas spell it.
func (f *modelField) spelt() string {
	var parts []string
	option := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch f.index {
	case "text":
		o := f.def.Text
		option("k1=%v", *cmp.Or(o.K1, ptr(0.9)))
		option("b=%v", *cmp.Or(o.B, ptr(0.4)))
		if o.Prefix != nil {
			option("prefix=%d", *o.Prefix)
		}
		if o.Chars {
			option("chars")
		}
	case "hnsw":
		o := f.def.HNSW
		option("%s", o.Metric)
		option("m=%d", cmp.Or(o.M, 16))
		option("ef_search=%d", cmp.Or(o.EFSearch, 100))
		if o.Quant != "" {
			option("quant=%s", o.Quant)
		}
	case "ttl":
		option("%s", period(int64(f.life)))
	default:
		return f.index
	}
	return f.index + "(" + strings.Join(parts, ", ") + ")"
}
