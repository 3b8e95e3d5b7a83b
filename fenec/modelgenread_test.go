package fenec_test

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

func (g *generator) set(t *table) string {
	if f := pickOne(g, t.fields...); f.class() == "timestamp" && g.chance(30) { // a claim
		x := f.Name.Text
		return "set " + t.name + " {" + x + ": now() + 60000} where " + x + " <= now() order " + x + " limit 1 returning id, " + x
	}
	text := pickOne(g, "set "+t.name+" ", "update "+t.name+" set ") + g.changes(t, false) + g.where(t, 80)
	return text + g.order(t) + g.limit(45) + g.returning(t) + g.require(1)
}

func (g *generator) del(t *table) string {
	text := pickOne(g, "del ", "delete from ") + t.name + g.where(t, 80) + g.order(t)
	if g.chance(5) {
		return text + g.returning(t)
	}
	return text + g.limit(100) + g.returning(t) + g.require(1)
}

// changes makes the object of a set, or of an "else set".
func (g *generator) changes(t *table, absent bool) string {
	var parts []string
	for range pickOne(g, 1, 1, 2) {
		f := pickOne(g, t.fields...)
		place, class := f.Name.Text, f.class()
		if class == "json" && g.chance(60) {
			place = g.path(f)
		}
		value := g.update(t, f)
		if absent && g.chance(50) {
			value = "new." + f.Name.Text
			if class == "int" && g.chance(50) {
				value = f.Name.Text + " + " + value
			}
		}
		parts = append(parts, place+": "+value)
	}
	if g.chance(1) {
		parts = append(parts, pickOne(g, "id: 3", "nope: 1"))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (g *generator) returning(t *table) string {
	switch g.IntN(10) {
	case 0:
		return " returning *"
	case 1:
		paths := []string{"id"}
		for range g.IntN(3) {
			paths = append(paths, g.readable(t))
		}
		return " returning " + strings.Join(paths, ", ") + g.maybe(3, ", nope")
	}
	return ""
}

// readable makes a field or a path.
func (g *generator) readable(t *table) string {
	f := pickOne(g, t.fields...)
	switch {
	case f.Type.Kind == ql.TypeJSON && g.chance(70):
		return g.path(f)
	case g.chance(8):
		return "id"
	}
	return f.Name.Text
}

// order makes an order clause at times.
func (g *generator) order(t *table) string {
	if g.chance(55) {
		return ""
	}
	return g.sorted(t)
}

func (g *generator) sorted(t *table) string {
	var keys []string
	for range pickOne(g, 1, 1, 2) {
		key := g.readable(t)
		if f := t.field(key); f != nil && f.Collate != "" && g.chance(40) {
			key += " collate " + pickOne(g, "und", "tr")
		}
		keys = append(keys, key+pickOne(g, "", " asc", " desc", " desc"))
	}
	if g.chance(1) {
		keys = append(keys, pickOne(g, "nope", "id collate und"))
	}
	return " order " + g.maybe(30, "by ") + strings.Join(keys, ", ")
}

func (g *generator) limit(percent int) string {
	if !g.chance(percent) {
		return ""
	}
	return " limit " + strconv.Itoa(pickOne(g, 0, 1, 2, 3, 3, 5, 10, 100))
}

func (g *generator) offset() string {
	if g.chance(80) {
		return ""
	}
	return " offset " + strconv.Itoa(g.IntN(8))
}

func (g *generator) where(t *table, percent int) string {
	if !g.chance(percent) {
		return ""
	}
	if g.chance(2) {
		if text := g.found(t); text != "" {
			return text
		}
	}
	return " where " + g.condition(t, 2)
}

// risky makes where clauses that may fail: which rows they fail for is the
// database's choice.
func (g *generator) risky(t *table) string {
	if g.chance(95) {
		return g.where(t, 80)
	}
	f := pickOne(g, t.fields...)
	return " where " + pickOne(g, g.update(t, f)+" = "+g.constant(g.value(f.class())), f.Name.Text+".x = 1", "nope = 1",
		f.Name.Text+" + 1 < 3", "1 / (id - 3) = 0 and "+g.condition(t, 1))
}

func (g *generator) get(t *table) string {
	text := "get " + t.name
	switch {
	case g.chance(40):
		text += " select " + g.selection(t)
	case g.chance(10):
		text = "get * from " + t.name
	}
	if g.chance(6) {
		return text + g.paged(t)
	}
	n := g.IntN(6)
	return text + g.risky(t) + g.order(t) + g.limit(45) + g.offset() + g.require(n)
}

// paged makes the clauses that ask for the page after some row.
func (g *generator) paged(t *table) string {
	k := g.readable(t)
	f := t.field(k)
	if f == nil || f.Collate != "" {
		return " where id > " + strconv.FormatInt(g.id(t), 10) + " order id limit 3"
	}
	v, id := g.constant(g.value(f.class())), strconv.FormatInt(g.id(t), 10)
	if g.chance(50) {
		return " where " + k + " < " + v + " or " + k + " = " + v + " and id < " + id + " order " + k + " desc, id desc limit 3"
	}
	return " where " + k + " > " + v + " or " + k + " = " + v + " and id > " + id + " order " + k + ", id limit 3"
}

// selection makes a select list.
func (g *generator) selection(t *table) string {
	var parts []string
	if g.chance(60) {
		parts = append(parts, "id")
	}
	for i, f := range t.fields {
		as := " as x" + strconv.Itoa(i)
		switch g.IntN(9) {
		case 0, 1:
			parts = append(parts, f.Name.Text)
		case 2:
			parts = append(parts, g.update(t, f)+as)
		case 3:
			parts = append(parts, g.computed(t, f)+as)
		case 4:
			if f.Type.Kind == ql.TypeJSON {
				parts = append(parts, g.path(f))
			}
		}
	}
	if len(parts) == 0 {
		parts = append(parts, g.term(t, pickOne(g, t.fields...))+" as yes")
	}
	if g.chance(1) {
		parts = append(parts, pickOne(g, "nope", "id as id", "1 as id", "id + 1"))
	}
	return strings.Join(parts, ", ")
}

func (g *generator) facet(t *table) string {
	var parts []string
	var seen []string
	for range pickOne(g, 1, 1, 2, 3) {
		f := pickOne(g, t.fields...)
		path := f.Name.Text
		if f.Type.Kind == ql.TypeJSON {
			path += pickOne(g, ".a", ".b", ".d.e", ".w") // nothing that is equal in two forms
		}
		if slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		switch {
		case slices.Contains([]string{"int", "float", "json", "[int]", "[float]"}, f.class()) && g.chance(40):
			path += pickOne(g, " ranges [0, 5]", " ranges [-10, 0, 10.5, 20]", " ranges [0.25, 0.5, 3, 1000]")
		case g.chance(30):
			path += " top " + strconv.Itoa(1+g.IntN(4))
		}
		parts = append(parts, path+g.maybe(15, " disjunctive"))
	}
	if g.chance(1) {
		parts = append(parts, "nope")
	}
	rows := pickOne(g, " count", " limit 0", " limit 2", " select id", g.order(t)+" limit 3", "")
	return "get " + t.name + g.where(t, 80) + rows + " facet " + strings.Join(parts, ", ")
}

// lookups makes a get with a chain of lookups.
func (g *generator) lookups(t *table) string {
	text := "get " + t.name
	if g.chance(10) {
		if chain := g.chain(t, []string{t.name}, 1, true); chain != "" {
			return text + " count" + g.where(t, 70) + chain
		}
	}
	if g.chance(40) {
		text += " select " + g.selection(t)
	}
	text += g.where(t, 70) + g.order(t) + g.limit(50) + g.offset() + g.require(2)
	if f := pickOne(g, t.fields...); g.chance(15) && f.Type.Kind != ql.TypeJSON {
		text += " facet " + f.Name.Text
	}
	return text + g.chain(t, []string{t.name}, g.IntN(3), g.chance(40))
}

// chain makes lookups beneath t, so many levels more than one at most.
func (g *generator) chain(t *table, above []string, more int, required bool) string {
	for _, i := range g.Perm(len(modelNames)) {
		child := g.w.cols[modelNames[i]]
		if child == nil || slices.Contains(above, child.name) {
			continue
		}
		on, parent := g.join(child, t)
		if on == "" {
			continue
		}
		text := " lookup " + child.name + " on " + on + parent + g.where(child, 40)
		if g.chance(40) {
			text += " select " + strings.Join([]string{"id", g.readable(child), g.readable(child)}[:1+g.IntN(3)], ", ")
		}
		text += g.order(child) + g.limit(30) + g.offset()
		if required {
			text += " required"
		}
		if more > 0 {
			text += g.chain(child, append(above, child.name), more-1, g.chance(40))
		}
		return text
	}
	return ""
}

// join returns a key of child and what it is compared with.
func (g *generator) join(child, parent *table) (on, equals string) {
	keys := []string{"id"}
	for _, f := range child.fields {
		if (f.index == "hash" || f.index == "unique") && (f.Type.Kind == ql.TypeInt || f.Type.Kind == ql.TypeText) {
			keys = append(keys, f.Name.Text, f.Name.Text)
		}
	}
	on = pickOne(g, keys...)
	typ, _ := child.typeOf(on)
	var sides []string
	if typ == "int" {
		sides = append(sides, "", " = id")
	}
	for _, f := range parent.fields {
		if typeText(&f.Type) == typ {
			sides = append(sides, " = "+f.Name.Text)
		}
	}
	if len(sides) == 0 {
		return "", ""
	}
	return on, pickOne(g, sides...)
}
