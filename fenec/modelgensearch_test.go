package fenec_test

import (
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// ranking makes a get that ranks rows, or another one where there is nothing to
// rank by.
func (g *generator) ranking(t *table) string {
	clauses := g.ranks(t)
	if clauses == "" {
		return g.get(t)
	}
	text := "get " + t.name
	if g.chance(50) {
		text += " select " + g.selection(t)
	}
	text += clauses
	if g.chance(40) {
		text += g.risky(t)
	}
	text += g.limit(50) + g.offset() + g.require(3)
	if f := pickOne(g, t.fields...); g.chance(15) && f.Type.Kind != ql.TypeJSON && !strings.Contains(text, " near ") {
		text += " facet " + f.Name.Text + g.maybe(20, " disjunctive")
	}
	return text
}

// ranks makes the clauses that rank rows, "" if there are none.
func (g *generator) ranks(t *table) string {
	texts := g.having(t, func(f *modelField) bool { return f.index == "text" })
	nears := g.having(t, func(f *modelField) bool {
		return f.index == "hnsw" || f.Type.Kind == ql.TypeSparse || f.Type.Kind == ql.TypeGeo
	})
	vectors := g.having(t, func(f *modelField) bool { return f.Type.Kind == ql.TypeVector })
	if g.chance(2) { // which may not do
		texts, nears, vectors = t.fields, t.fields, t.fields
	}
	match := func() string {
		return " match " + pickOne(g, texts...).Name.Text + " " + g.constant(g.sought())
	}
	switch matches := len(texts) > 0 && (len(nears) == 0 || g.chance(75)); {
	case matches && len(nears) > 0 && g.chance(30):
		return match() + g.nearest(pickOne(g, nears...)) + " fuse" + g.maybe(30, " k "+strconv.Itoa(g.IntN(8))) + g.candidates()
	case matches && len(vectors) > 0 && g.chance(30):
		f := pickOne(g, vectors...)
		return match() + " rerank " + f.Name.Text + " " + g.constant(g.measured(f)) + g.candidates()
	case matches:
		return match()
	case len(nears) > 0:
		return g.nearest(pickOne(g, nears...))
	}
	return ""
}

// having returns the fields that are so.
func (g *generator) having(t *table, so func(*modelField) bool) (out []*modelField) {
	for _, f := range t.fields {
		if so(f) {
			out = append(out, f)
		}
	}
	return out
}

// sought makes a text that is searched for.
func (g *generator) sought() any {
	if g.chance(2) {
		return pickOne[any](g, nil, int64(7), "")
	}
	return g.text() + " " + g.text() + g.maybe(50, " "+g.text()) + g.maybe(50, " "+g.text())
}

func (g *generator) nearest(f *modelField) string {
	text := " near " + f.Name.Text + " " + g.constant(g.measured(f))
	if f.Type.Kind == ql.TypeVector {
		text += g.maybe(20, " ef "+strconv.Itoa(100+g.IntN(100))) // so many that every row is measured
	}
	return text + g.maybe(15, " exact")
}

// measured makes what rows are measured against.
func (g *generator) measured(f *modelField) any {
	if g.chance(2) {
		return g.misfit(f.class())
	}
	v := g.value(f.class())
	if x, ok := v.(vector); ok && g.chance(30) {
		return jsonOf(x)
	}
	return v
}

func (g *generator) candidates() string {
	return g.maybe(30, " candidates "+strconv.Itoa(pickOne(g, 1, 2, 5, 10, 100)))
}

// found makes a filter for what a search finds, "" where there is nothing to
// search for.
func (g *generator) found(t *table) string {
	clauses := g.ranks(t)
	if clauses == "" {
		return ""
	}
	return " where id in (get id from " + t.name + clauses + g.limit(70) + ")"
}
