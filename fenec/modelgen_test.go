package fenec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec"
)

// generator makes random statements, each with what the oracle says it does.
type generator struct {
	*rand.Rand
	args  []any // of the statement being made
	large bool  // collections have many documents
	fresh int64 // counts values that are used once
}

// statement is a statement as it is run, and as the oracle runs it.
type statement struct {
	text string
	args []any
	run  func(w *world) outcome
}

// outcome is what a statement comes to.
type outcome struct {
	err      error // the kind
	affected int
	columns  []string // nil unless the answer is rows
	rows     [][]any
	plan     string // the last row of an explain, whose others are free; else ""
}

var modelNames = []string{"alpha", "beta", "gamma", "_own"}

var modelTypes = []struct {
	name, typ string
	indexes   []string
}{
	{"n", "int", []string{"", "@hash", "@sorted", "@unique"}},
	{"m", "int", []string{"", "@sorted"}},
	{"f", "float", []string{"", "@sorted", "@hash"}},
	{"s", "text", []string{"", "@hash", "@sorted", "@unique"}},
	{"b", "bool", []string{"", "@hash"}},
	{"t", "timestamp", []string{"", "@sorted", "@hash", "@unique"}},
	{"l", "[int]", []string{"", "@hash"}},
	{"k", "[text]", []string{"", "@unique"}},
}

func pickOne[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// statement makes a statement against w.
func (g *generator) statement(w *world) statement {
	g.args = nil
	name := pickOne(g, modelNames...)
	t := w.cols[name]
	if t == nil {
		if g.chance(80) {
			return g.create(name)
		}
		t = &table{fields: []modelField{{name: "n", typ: "int"}, {name: "s", typ: "text"}}}
	}
	switch n := g.IntN(100); {
	case n < 2:
		return g.create(name)
	case n < 4 && !g.large:
		return g.drop(name)
	case n < 8 && g.large && len(t.docs) < 600:
		return g.bulk(name, t)
	case n < 45:
		return g.put(name, t)
	case n < 60:
		return g.set(name, t)
	case n < 65:
		return g.del(name, t)
	case n < 72:
		return g.count(name, t)
	}
	return g.get(name, t)
}

func (g *generator) make(text string, run func(w *world) outcome) statement {
	args := make([]any, len(g.args))
	for i, v := range g.args {
		args[i] = g.goValue(v)
	}
	return statement{text, args, run}
}

func (g *generator) create(name string) statement {
	var fields []modelField
	var parts []string
	for _, m := range modelTypes {
		if g.chance(30) {
			continue
		}
		f := modelField{name: m.name, typ: m.typ, index: pickOne(g, m.indexes...), required: g.chance(5)}
		fields = append(fields, f)
		part := f.name + " " + f.typ
		if f.required {
			part += " required"
		}
		parts = append(parts, strings.TrimSpace(part+" "+f.index))
	}
	if fields == nil {
		return g.create(name)
	}
	ifNot := g.chance(30)
	text := "create collection "
	if ifNot {
		text += "if not exists "
	}
	return g.make(text+name+" ("+strings.Join(parts, ", ")+")", func(w *world) outcome {
		switch {
		case w.cols[name] == nil:
			w.create(name, fields)
		case !ifNot:
			return outcome{err: fenec.ErrExists}
		}
		return outcome{}
	})
}

func (g *generator) drop(name string) statement {
	ifExists := g.chance(50)
	text := "drop collection "
	if ifExists {
		text += "if exists "
	}
	return g.make(text+name, func(w *world) outcome {
		switch {
		case w.cols[name] != nil:
			w.drop(name)
		case !ifExists:
			return outcome{err: fenec.ErrNotFound}
		}
		return outcome{}
	})
}

// given is a document as a put gives it.
type given struct {
	id     any
	fields map[string]*expression
}

func (g *generator) put(name string, t *table) statement {
	insert := g.chance(40)
	word := "put "
	if insert {
		word = pickOne(g, "insert ", "insert into ")
	}
	var docs []given
	for range pickOne(g, 1, 1, 1, 2, 3, 6) {
		docs = append(docs, g.document(t))
	}
	run := putAll(name, insert, docs)
	if g.chance(25) {
		return g.putParam(word+name+" $1", docs, run)
	}
	var texts []string
	for _, d := range docs {
		texts = append(texts, d.text())
	}
	text := strings.Join(texts, " ")
	if g.chance(50) {
		text = "[" + strings.Join(texts, ", ") + "]"
	}
	return g.make(word+name+" "+text, run)
}

// putAll is what the oracle does for a put.
func putAll(name string, insert bool, docs []given) func(*world) outcome {
	return func(w *world) outcome {
		if _, err := w.table(name); err != nil {
			return outcome{err: err}
		}
		for _, gd := range docs {
			d := doc{}
			for f, e := range gd.fields {
				var err error
				if d[f], err = e.eval(scope{w: w}); err != nil {
					return outcome{err: err}
				}
			}
			if err := w.put(name, insert, gd.id, d); err != nil {
				return outcome{err: err}
			}
		}
		return outcome{affected: len(docs)}
	}
}

// bulk puts many documents, of which few if any conflict.
func (g *generator) bulk(name string, t *table) statement {
	var docs []given
	for range 400 {
		d := given{fields: map[string]*expression{}}
		for _, f := range t.fields {
			v := g.value(f.typ)
			if f.index == "@unique" {
				v = g.freshValue(f.typ)
			}
			d.fields[f.name] = &expression{eval: func(scope) (any, error) { return v, nil }}
		}
		docs = append(docs, d)
	}
	return g.putParam("put "+name+" $1", docs, putAll(name, false, docs))
}

func (g *generator) freshValue(typ string) any {
	g.fresh++
	switch typ {
	case "int":
		return 1000 + g.fresh
	case "timestamp":
		return moment(1e12 + g.fresh)
	case "text":
		return "u" + strconv.FormatInt(g.fresh, 10)
	}
	return []any{g.freshValue("text")}
}

// putParam puts documents that come as a parameter.
func (g *generator) putParam(text string, docs []given, run func(*world) outcome) statement {
	var list []any
	for _, d := range docs {
		m := map[string]any{}
		for f, e := range d.fields {
			v, err := e.eval(scope{})
			if err != nil {
				panic("a document of the model fails")
			}
			m[f] = g.goValue(v)
		}
		if d.id != nil {
			m["id"] = g.goValue(d.id)
		}
		list = append(list, m)
	}
	g.args = nil
	st := g.make(text, run)
	st.args = []any{list}
	if len(list) == 1 && g.chance(50) {
		st.args = list
	}
	return st
}

func (g *generator) document(t *table) given {
	d := given{fields: map[string]*expression{}}
	wrong := g.chance(4)
	for _, f := range t.fields {
		switch {
		case g.chance(20):
			continue
		case wrong && g.chance(40):
			d.fields[f.name] = g.constant(g.misfit(f.typ))
			wrong = false
		default:
			d.fields[f.name] = g.constant(g.fit(f.typ))
		}
	}
	switch {
	case len(d.fields) == 0 || g.chance(20):
		d.id = int64(1 + g.IntN(int(t.highest)+3))
	case g.chance(1):
		d.id = pickOne[any](g, int64(0), int64(-1), "7", 7.0, true)
	}
	return d
}

func (d given) text() string {
	var parts []string
	if d.id != nil {
		parts = append(parts, "id: "+literal(d.id))
	}
	for f, e := range d.fields {
		parts = append(parts, f+": "+e.text)
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

func (g *generator) set(name string, t *table) statement {
	var parts []string
	pairs := map[string]*expression{}
	for range pickOne(g, 1, 1, 2) {
		f := pickOne(g, t.fields...)
		if pairs[f.name] == nil {
			pairs[f.name] = g.update(t, f)
			parts = append(parts, f.name+": "+pairs[f.name].text)
		}
	}
	q, text := g.clauses(t, false)
	return g.make("set "+name+" {"+strings.Join(parts, ", ")+"}"+text, func(w *world) outcome {
		t, err := w.table(name)
		if err != nil {
			return outcome{err: err}
		}
		ids := w.pick(t, q)
		for _, id := range ids {
			if err := w.set(name, id, pairs); err != nil {
				return outcome{err: err}
			}
		}
		return outcome{affected: len(ids)}
	})
}

// set changes one document of t.
func (w *world) set(name string, id int64, pairs map[string]*expression) error {
	t := w.cols[name]
	old := t.docs[id]
	d := doc{}
	for _, f := range t.fields {
		d[f.name] = old[f.name]
		e := pairs[f.name]
		if e == nil {
			continue
		}
		v, err := e.eval(scope{w, id, old})
		if err != nil {
			return err
		}
		if d[f.name], err = coerce(f.typ, v); err != nil {
			return err
		}
	}
	return w.store(name, id, d)
}

func (g *generator) del(name string, t *table) statement {
	q, text := g.clauses(t, false)
	if q.limit < 0 && g.chance(90) {
		q.limit = 3
		text += " limit 3"
	}
	return g.make(pickOne(g, "del ", "delete from ")+name+text, func(w *world) outcome {
		t, err := w.table(name)
		if err != nil {
			return outcome{err: err}
		}
		ids := w.pick(t, q)
		for _, id := range ids {
			w.del(name, id)
		}
		return outcome{affected: len(ids)}
	})
}

func (g *generator) count(name string, t *table) statement {
	q := clauses{limit: -1}
	text := "get " + name + " count"
	if g.chance(90) {
		q.where = g.condition(t, 2)
		text += " where " + q.where.text
	}
	return g.make(text, func(w *world) outcome {
		t, err := w.table(name)
		if err != nil {
			return outcome{err: err}
		}
		return outcome{columns: []string{"count"}, rows: [][]any{{int64(len(w.pick(t, q)))}}}
	})
}

func (g *generator) get(name string, t *table) statement {
	q, text := g.clauses(t, true)
	columns := []*expression{fieldExpression("id")}
	names := []string{"id"}
	sel := ""
	if g.chance(60) {
		for _, f := range t.fields {
			columns, names = append(columns, fieldExpression(f.name)), append(names, f.name)
		}
	} else {
		columns, names, sel = g.selection(t)
	}
	explain := g.chance(5)
	text = "get " + name + sel + text
	if explain {
		text = "explain " + text
	}
	return g.make(text, func(w *world) outcome {
		t, err := w.table(name)
		if err != nil {
			return outcome{err: err}
		}
		out := outcome{columns: names}
		for _, id := range w.pick(t, q) {
			var row []any
			for _, c := range columns {
				v, err := c.eval(scope{w, id, t.docs[id]})
				if err != nil {
					return outcome{err: err}
				}
				row = append(row, v)
			}
			out.rows = append(out.rows, row)
		}
		if explain {
			out.plan = fmt.Sprintf("rows: %d", len(out.rows))
		}
		return out
	})
}

// selection makes a select list.
func (g *generator) selection(t *table) (columns []*expression, names []string, text string) {
	var parts []string
	add := func(e *expression, name, part string) {
		columns, names, parts = append(columns, e), append(names, name), append(parts, part)
	}
	if g.chance(60) {
		add(fieldExpression("id"), "id", "id")
	}
	for _, f := range t.fields {
		switch g.IntN(4) {
		case 0:
			add(fieldExpression(f.name), f.name, f.name)
		case 1:
			e := g.update(t, f)
			add(e, "x"+f.name, e.text+" as x"+f.name)
		}
	}
	if len(parts) == 0 {
		e := g.condition(t, 1)
		add(e, "yes", e.text+" as yes")
	}
	return columns, names, " select " + strings.Join(parts, ", ")
}

// clauses makes what picks rows.
func (g *generator) clauses(t *table, offset bool) (q clauses, text string) {
	q.limit = -1
	if g.chance(80) {
		q.where = g.condition(t, 2)
		text = " where " + q.where.text
	}
	var keys []string
	if g.chance(45) {
		for range pickOne(g, 1, 1, 2) {
			k := orderKey{pickOne(g, t.fields...).name, g.chance(50)}
			if g.chance(10) || len(q.order) == 1 && g.chance(40) {
				k.field = "id"
			}
			q.order = append(q.order, k)
			keys = append(keys, k.field+pickOne(g, map[bool][]string{false: {"", " asc"}, true: {" desc"}}[k.desc]...))
		}
		text += " order " + strings.Join(keys, ", ")
	}
	if g.chance(45) {
		q.limit = pickOne(g, 0, 1, 2, 3, 5, 10, 100)
		text += " limit " + strconv.Itoa(q.limit)
	}
	if offset && g.chance(20) {
		q.offset = g.IntN(8)
		text += " offset " + strconv.Itoa(q.offset)
	}
	return q, text
}
