package fenec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// generator makes random statements as text. What they do is for the oracle to
// say, so that a generator need not know; it looks at the world to make such
// that mostly succeed.
type generator struct {
	*rand.Rand
	w     *world
	args  []any // of the statement being made, as values of the model
	bulk  int   // how many documents are put at once at times, 0 for never
	fresh int64 // counts values that are used once
	inner int   // gets around what is being made

	past []statement // the latest, which are run again at times
}

// statement is a statement as it is run.
type statement struct {
	text   string
	tree   ql.Statement
	params []any // values of the model
	args   []any // the same as Go values
}

var modelNames = []string{"alpha", "beta", "gamma", "_own"}

// modelTypes are the fields that collections may have, with their indexes.
var modelTypes = []struct {
	name, typ string
	indexes   []string
}{
	{"n", "int", []string{"", "@hash", "@hash", "@sorted", "@unique"}},
	{"m", "int", []string{"", "@hash", "@sorted"}},
	{"f", "float", []string{"", "@sorted", "@hash"}},
	{"s", "text", []string{"", "@hash", "@sorted", "@unique", "@text(chars)"}},
	{"w", "text", []string{"", "@text", "@text", "@text(k1=1.2, b=0.75)", "@text(prefix=4)"}},
	{"u", "text collate und", []string{"", "@sorted", "@sorted", "@hash", "@text(k1=0, b=1)"}},
	{"v", "text collate tr", []string{"", "@sorted", "@unique"}},
	{"b", "bool", []string{"", "@hash"}},
	{"t", "timestamp", []string{"", "@sorted", "@hash", "@unique"}},
	{"x", "timestamp", []string{"", "@sorted", "@ttl(6h)", "@ttl(2d)", "@ttl(2d)", "@ttl(1500ms)"}},
	{"l", "[int]", []string{"", "@hash"}},
	{"k", "[text]", []string{"", "@unique"}},
	{"z", "[text] collate tr", []string{""}},
	{"r", "[float]", []string{"", "@hash"}},
	{"g", "[timestamp]", []string{""}},
	{"j", "json", []string{"", "@hash"}},
	{"o", "json", []string{""}},
	{"c", "bytes", []string{"", "@hash", "@unique"}},
	{"e", "vector<2>", []string{"", "@hash", "@hnsw", "@hnsw(l2)", "@hnsw(dot, quant=int8)"}},
	{"h", "vector<2, f16>", []string{"", "@hnsw(l2, m=24)", "@hnsw"}},
	{"p", "geo", []string{"", "@geo", "@geo"}},
	{"q", "sparse<6>", []string{"", "@hash", "@inverted", "@inverted"}},
}

func pickOne[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// statement makes a statement against w.
func (g *generator) statement(w *world) statement {
	g.w, g.args = w, nil
	if len(g.past) > 0 && g.chance(8) {
		return g.past[g.IntN(len(g.past))]
	}
	st := g.newStatement(w)
	if g.past = append(g.past, st); len(g.past) > 40 {
		g.past = g.past[1:]
	}
	return st
}

func (g *generator) newStatement(w *world) statement {
	t := w.cols[pickOne(g, modelNames...)]
	if t == nil {
		if g.chance(80) {
			return g.made(g.create(pickOne(g, modelNames...)))
		}
		t = g.missing()
	}
	switch n := g.IntN(100); {
	case n < 8 && len(t.docs) < g.bulk*3/2:
		return g.made(g.many(t))
	case n < 2:
		return g.made(g.create(pickOne(g, modelNames...)))
	case n < 3 && g.bulk < 100:
		return g.made(g.dropCollection(t))
	case n < 7:
		return g.made(g.alter(t))
	case n < 10:
		return g.made(g.createIndex(t))
	case n < 38:
		return g.made(g.put(t))
	case n < 51:
		return g.made(g.set(t))
	case n < 56:
		return g.made(g.del(t))
	}
	return g.read(t)
}

// read makes a get, or another statement that changes nothing.
func (g *generator) read(t *table) statement {
	text := ""
	switch n := g.IntN(54); {
	case n < 18:
		text = g.get(t)
	case n < 22:
		text = "get " + t.name + " count" + g.where(t, 90)
	case n < 32:
		text = g.ranking(t)
	case n < 37:
		text = g.groups(t)
	case n < 44:
		text = g.facet(t)
	case n < 53:
		text = g.lookups(t)
	default:
		return g.made(pickOne(g, "collections", "describe "+t.name))
	}
	if g.chance(4) {
		text = "explain " + text
	}
	return g.made(text)
}

// missing returns a collection that is not there.
func (g *generator) missing() *table {
	return &table{name: "nowhere", fields: []*modelField{
		{FieldDef: ql.FieldDef{Name: ql.Name{Text: "n"}, Type: ql.TypeDef{Kind: ql.TypeInt}}},
	}}
}

// made returns the statement of a text.
func (g *generator) made(text string) statement {
	tree, err := ql.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("the model makes %s: %v", text, err))
	}
	st := statement{text: text, tree: tree, params: g.args, args: make([]any, len(g.args))}
	for i, v := range g.args {
		st.args[i] = g.goValue(v)
	}
	return st
}

// class is what the values of a field are made by: its type as it is declared.
func (f *modelField) class() string {
	if f.Collate != "" {
		return typeText(&f.Type) + " collate " + f.Collate
	}
	return typeText(&f.Type)
}

func (g *generator) create(name string) string {
	var parts []string
	for _, m := range modelTypes {
		if !g.chance(45) {
			continue
		}
		index := pickOne(g, m.indexes...)
		if g.chance(2) {
			index = "required " + index
		}
		parts = append(parts, strings.TrimSpace(m.name+" "+m.typ+" "+index))
	}
	if g.chance(1) {
		parts = append(parts, pickOne(g, "n int", "id int", "a bool @sorted", "a geo @hash", "a int @ttl(1d)", "a int @text", "a [text] @text", "a sparse<2> @hnsw", "a vector<2> @inverted"))
	}
	if parts == nil {
		return g.create(name)
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return "create collection " + g.maybe(30, "if not exists ") + name + " (" + strings.Join(parts, ", ") + ")"
}

func (g *generator) maybe(percent int, text string) string {
	if g.chance(percent) {
		return text
	}
	return ""
}

func (g *generator) dropCollection(t *table) string {
	return "drop collection " + g.maybe(50, "if exists ") + t.name
}

// otherName returns a name for a field, of one that was dropped perhaps.
func (g *generator) otherName() string {
	m := modelTypes[g.IntN(len(modelTypes))]
	return m.name + g.maybe(50, "2")
}

func (g *generator) alter(t *table) string {
	text := "alter collection " + t.name + " "
	f := pickOne(g, t.fields...)
	switch n := g.IntN(10); {
	case n < 4:
		m := modelTypes[g.IntN(len(modelTypes))]
		return text + "add " + g.maybe(50, "field ") + strings.TrimSpace(g.otherName()+" "+m.typ+" "+g.maybe(2, "required ")+pickOne(g, m.indexes...))
	case n < 6 || g.bulk > 100 && n < 7:
		return text + "rename " + f.Name.Text + " to " + pickOne(g, g.otherName(), g.otherName(), g.otherName(), f.Name.Text+"3", "id")
	case n < 8:
		return text + "drop " + f.Name.Text
	}
	for _, other := range t.fields {
		if other.index == "ttl" || other.index == "sorted" && other.Type.Kind == ql.TypeTimestamp {
			f = other
		}
	}
	return text + "alter " + f.Name.Text + " " + pickOne(g, "@sorted", "@ttl(1d)", "@ttl(6h)", "@ttl(3d)")
}

func (g *generator) createIndex(t *table) string {
	f := pickOne(g, t.fields...)
	path, index := f.Name.Text, pickOne(g, "@hash", "@hash", "@sorted", "@unique")
	switch {
	case f.Type.Kind == ql.TypeJSON:
		path = g.path(f)
	case f.Type.Kind == ql.TypeGeo:
		index = "@geo"
	case f.Type.Kind == ql.TypeText && g.chance(40):
		index = "@text"
	case f.Type.Kind == ql.TypeVector && g.chance(60):
		index = pickOne(g, "@hnsw", "@hnsw(dot)")
	case f.Type.Kind == ql.TypeSparse && g.chance(60):
		index = "@inverted"
	case f.Type.Kind == ql.TypeTimestamp && g.chance(25):
		index = "@ttl(1d)"
	}
	return "create index " + g.maybe(20, "if not exists ") + "on " + t.name + " (" + path + ") " + index
}

// path makes a path into a json field.
func (g *generator) path(f *modelField) string {
	return f.Name.Text + pickOne(g, ".a", ".a", ".b", ".b", ".d", ".d.e", ".w", ".a.x")
}

func (g *generator) put(t *table) string {
	var docs []string
	n := pickOne(g, 1, 1, 1, 2, 3, 6)
	if g.chance(20) {
		return g.putParam(t, n)
	}
	absent := g.chance(15)
	for range n {
		docs = append(docs, g.document(t))
	}
	text := strings.Join(docs, " ")
	if g.chance(50) {
		text = "[" + strings.Join(docs, ", ") + "]"
	}
	text = pickOne(g, "put ", "put ", "insert ", "insert into ") + t.name + " " + text
	if absent {
		text += " if absent"
		if g.chance(60) {
			text += " else set " + g.changes(t, true)
		}
	}
	return text + g.require(n)
}

// require makes such a clause at times, mostly one that n rows meet.
func (g *generator) require(n int) string {
	if g.chance(94) {
		return ""
	}
	return " require " + strconv.Itoa(pickOne(g, n, n, n, 1, 0))
}

// document makes a document of a put.
func (g *generator) document(t *table) string {
	var parts []string
	wrong := g.chance(4)
	for _, f := range t.fields {
		switch {
		case g.chance(20):
			continue
		case wrong && g.chance(40):
			parts, wrong = append(parts, f.Name.Text+": "+g.constant(g.misfit(f.class()))), false
		case f.Type.Kind == ql.TypeJSON && g.chance(25):
			for _, p := range []string{".a", ".d.e", ".w"}[g.IntN(3):] {
				parts = append(parts, f.Name.Text+p+": "+g.constant(g.scalar()))
			}
		default:
			parts = append(parts, f.Name.Text+": "+g.given(f.class()))
		}
	}
	switch {
	case len(parts) == 0 || g.chance(20):
		parts = append(parts, "id: "+strconv.FormatInt(g.id(t), 10))
	case g.chance(2):
		parts = append(parts, pickOne(g, "id: 0", "id: -1", `id: "7"`, "id: 7.0", "id: null", "nope: 1", "n: n", "id: true"))
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return "{" + strings.Join(parts, ", ") + "}"
}

func (g *generator) id(t *table) int64 { return int64(1 + g.IntN(int(t.highest)+3)) }

// given makes an expression of constants that fits a field.
func (g *generator) given(class string) string {
	if g.chance(90) {
		return g.constant(g.fit(class))
	}
	switch class {
	case "timestamp":
		return pickOne(g, "now()", "now() - 3600000", "now() + 100000")
	case "int":
		return pickOne(g, "2 + 3 * 4", "-7 / 2", "len("+g.constant("ab")+")")
	case "text":
		return `lower("AB")`
	}
	return "null"
}

// putParam makes a put of documents that come as a parameter.
func (g *generator) putParam(t *table, n int) string {
	var list []any
	for range n {
		object := map[string]any{}
		for _, f := range t.fields {
			if g.chance(75) {
				object[f.Name.Text] = g.fit(f.class())
			}
			if f.Type.Kind == ql.TypeJSON && g.chance(20) {
				delete(object, f.Name.Text)
				object[f.Name.Text+".a"] = g.scalar()
			}
		}
		if len(object) == 0 || g.chance(20) {
			object["id"] = g.id(t)
		}
		list = append(list, object)
	}
	g.args = []any{list}
	if n == 1 {
		g.args = list
	}
	return pickOne(g, "put ", "insert ") + t.name + " $1" + g.maybe(15, " if absent") + g.require(n)
}

// many puts many documents, of which few if any conflict.
func (g *generator) many(t *table) string {
	unique := t.unique()
	var list []any
	for range g.bulk {
		object := map[string]any{}
		for _, f := range t.fields {
			v := g.value(f.class())
			if slices.ContainsFunc(unique, func(p ql.Path) bool { return p.Field == f.Name.Text }) {
				v = g.freshValue(f.class())
			}
			object[f.Name.Text] = v
		}
		list = append(list, object)
	}
	g.args = []any{list}
	return "put " + t.name + " $1"
}
