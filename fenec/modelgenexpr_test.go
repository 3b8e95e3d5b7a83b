package fenec_test

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// condition makes an expression that never fails, whatever row it meets: which
// rows a filter is evaluated for is the database's choice.
func (g *generator) condition(t *table, depth int) string {
	if depth > 0 && g.chance(45) {
		a, b := g.condition(t, depth-1), g.condition(t, depth-1)
		switch g.IntN(5) {
		case 0:
			return "not (" + a + ")"
		case 1:
			return "(" + a + " or " + b + ")"
		case 2:
			return "(" + a + " or " + b + " or " + g.condition(t, 0) + ")"
		}
		return "(" + a + " and " + b + ")"
	}
	switch n := g.IntN(100); {
	case n < 8:
		return g.idTerm(t)
	case n < 10 && t.ttl() != nil:
		return "expired()"
	case n < 12:
		return pickOne(g, "true", "null", g.constant(g.scalar()), "1 = 1.0")
	case n < 18:
		if in := g.inGet(t, depth); in != "" {
			return in
		}
	}
	return g.term(t, pickOne(g, t.fields...))
}

// idTerm makes a term about ids.
func (g *generator) idTerm(t *table) string {
	id := func() string {
		return g.constant(pickOne[any](g, g.id(t), g.id(t), g.id(t), float64(g.id(t)), float64(g.id(t))+0.5, "3", nil, int64(-1), true))
	}
	switch g.IntN(4) {
	case 0:
		return "id in [" + id() + ", " + id() + ", " + id() + "]"
	case 1:
		return id() + " " + g.operator() + " id"
	}
	return "id " + g.operator() + " " + id()
}

func (g *generator) operator() string {
	return pickOne(g, "=", "=", "=", "==", "!=", "<>", "<", "<=", ">", ">=")
}

// inGet makes a term about the values of a get.
func (g *generator) inGet(t *table, depth int) string {
	names := slices.DeleteFunc(slices.Clone(modelNames), func(name string) bool { return g.w.cols[name] == nil })
	if depth == 0 || len(names) == 0 || g.inner == 4 {
		return ""
	}
	g.inner++
	defer func() { g.inner-- }()
	other := g.w.cols[pickOne(g, names...)]
	f := pickOne(g, t.fields...)
	same := sameClass(other, f)
	if len(same) == 0 {
		return ""
	}
	of := pickOne(g, same...)
	column := of.Name.Text
	text := f.Name.Text + " in (get " + column + " from " + other.name + g.where(other, 60) + g.order(other) + g.limit(30) + ")"
	switch {
	case f.class() == "int" && g.chance(30):
		return pickOne(g, "id", f.Name.Text) + " in (get " + pickOne(g, "max", "min", "first") + "(" + column + ") from " + other.name + ")"
	case f.class() == "int" && g.chance(30):
		return "id" + strings.TrimPrefix(text, f.Name.Text)
	case f.class() == "json":
		return ""
	}
	return text
}

// sameClass returns the fields of t that are of the class of f.
func sameClass(t *table, f *modelField) []*modelField {
	return slices.DeleteFunc(slices.Clone(t.fields), func(o *modelField) bool { return o.class() != f.class() })
}

// term makes a term about a field.
func (g *generator) term(t *table, f *modelField) string {
	x, class := f.Name.Text, f.class()
	if class == "json" && g.chance(80) {
		x, class = g.path(f), "path"
	}
	switch n := g.IntN(20); {
	case n == 0:
		return x + " is " + g.maybe(50, "not ") + "null"
	case n == 1 && (class == "bool" || g.chance(20)):
		return x
	case n <= 4:
		return g.in(x, class)
	case n <= 6 && (strings.HasPrefix(class, "text") || class == "path"):
		return x + " ~ " + g.constant(pickOne(g, "a", "B", "long", "é", "", "I", "ı", "ç"))
	case n <= 11 && (class[0] == '[' || class == "path"):
		item := g.scalar()
		if class[0] == '[' {
			item = g.value(strings.Trim(class, "[]"))
			if strings.HasPrefix(class, "[text]") {
				item = g.value("text" + strings.TrimPrefix(class, "[text]"))
			}
		}
		return x + " has " + g.constant(item)
	case n == 12 && !strings.Contains(class, "collate"):
		if same := sameClass(t, f); class != "path" {
			return x + " " + g.operator() + " " + pickOne(g, same...).Name.Text
		}
	case n <= 14:
		return g.wrapped(t, f, x, class)
	case n <= 17 && class == "geo":
		return g.near(x)
	}
	return g.comparison(x, class)
}

func (g *generator) in(x, class string) string {
	var items []string
	for range pickOne(g, 0, 1, 2, 3, 12) {
		items = append(items, g.constant(g.comparable(class)))
	}
	return x + " in [" + strings.Join(items, ", ") + "]"
}

func (g *generator) comparison(x, class string) string {
	y, op := g.constant(g.comparable(class)), g.operator()
	switch {
	case class == "timestamp" && g.chance(20):
		y = pickOne(g, "now()", "now() - 86400000", "now() - "+g.constant(int64(7200000)))
	case g.chance(10):
		x, y = y, x
	}
	return x + " " + op + " " + y
}

// near makes a term about where a point is.
func (g *generator) near(x string) string {
	if g.chance(50) {
		return "distance(" + x + ", " + g.constant(g.value("geo")) + ") " + pickOne(g, "<", "<=", ">") + " " +
			strconv.Itoa(pickOne(g, 0, 1000, 500_000, 3_000_000, 25_000_000))
	}
	return "within(" + x + ", " + pickOne(g, "[0, 0, 30, 45]", "[170, -10, -170, 10]", "[-180, -90, 180, 90]", "[10, 10, 10, 50]") + ")"
}

// wrapped makes a term about what a function makes of a field.
func (g *generator) wrapped(t *table, f *modelField, x, class string) string {
	plain := strings.TrimSuffix(strings.TrimSuffix(class, " collate und"), " collate tr")
	switch g.IntN(8) {
	case 0:
		return "coalesce(" + x + ", " + g.constant(g.value(class)) + ") " + g.operator() + " " + g.constant(g.comparable(class))
	case 1:
		return pickOne(g, "greatest", "Least") + "(" + x + ", " + g.constant(g.value(class)) + ") " + g.operator() + " " + g.constant(g.comparable(class))
	case 2:
		return "len(" + x + ") " + g.operator() + " " + strconv.Itoa(g.IntN(4))
	case 3:
		return "case when " + g.term(t, f) + " then " + g.constant(g.value(class)) + " else " + x + " end = " + g.constant(g.comparable(class))
	}
	switch plain {
	case "text":
		return pickOne(g, "lower", "UPPER") + "(" + x + ") = " + g.constant(g.text())
	case "timestamp":
		return "bucket(" + x + ", " + pickOne(g, "1d", "6h", "1w", "2mo", `"1y"`, "90000") + ") " + g.operator() + " " + g.constant(g.value("timestamp"))
	case "int":
		return "bucket(" + x + ", 5) " + g.operator() + " " + strconv.Itoa(g.IntN(6)*5)
	case "float":
		return x + " / 2 " + g.operator() + " " + g.constant(g.value("float"))
	case "geo":
		return g.near(x)
	case "vector<2>", "vector<2, f16>":
		call := pickOne(g, "dot(", "l2(", "cosine(") + x + ", " + pickOne(g, "[1, 0]", "[0.5, -2]") + ")"
		return "(" + x + " is not null and " + call + " " + g.operator() + " " + g.constant(g.value("float")) + ")"
	}
	return g.comparison(x, class)
}

// update makes an expression of fields that most often fits field f.
func (g *generator) update(t *table, f *modelField) string {
	class := f.class()
	x := pickOne(g, append(sameClass(t, f), f)...).Name.Text
	switch g.IntN(6) {
	case 0:
		return x
	case 1:
		return "coalesce(" + x + ", " + g.constant(g.value(class)) + ")"
	case 2:
		return "case when " + g.term(t, pickOne(g, t.fields...)) + " then " + x + " else " + g.constant(g.value(class)) + " end"
	case 3, 4:
		return g.given(class)
	}
	return g.compute(x, class)
}

// compute makes an arithmetic expression, which may fail.
func (g *generator) compute(x, class string) string {
	number := g.constant(pickOne[any](g, int64(1), int64(2), int64(-3), int64(0), 0.5))
	switch {
	case class == "int":
		return x + " " + pickOne(g, "+", "-", "*", "/") + " " + number
	case class == "float":
		return x + " " + pickOne(g, "+", "-", "*", "/") + " " + number
	case class == "text":
		return x + " + " + g.constant(pickOne(g, "a", "b", ""))
	case class == "timestamp":
		return x + " " + pickOne(g, "+", "-") + " " + strconv.Itoa(g.IntN(1e9))
	case g.chance(10):
		return x + " + " + number
	}
	return x
}

// computed makes a column that a function makes of a field; it does not fail.
func (g *generator) computed(t *table, f *modelField) string {
	x := f.Name.Text
	switch f.Type.Kind {
	case ql.TypeText:
		return pickOne(g, "lower("+x+")", "len("+x+")", "upper("+x+")", x+` + "!"`)
	case ql.TypeTimestamp:
		return pickOne(g, "bucket("+x+", 1d)", "bucket("+x+", 1mo)", "now() - "+x, "now()", "timestamp("+x+")")
	case ql.TypeGeo:
		return pickOne(g, "distance("+x+", [29, 41])", "within("+x+", [0, 0, 90, 90])")
	case ql.TypeVector:
		return "case when " + x + " is not null then " + pickOne(g, "norm("+x+")", "normalize("+x+")", "cosine("+x+", [3, 4])", "dot("+x+", "+x+")") + " end"
	case ql.TypeJSON:
		return pickOne(g, "coalesce("+g.path(f)+", "+x+")", "len("+g.path(f)+")", g.path(f)+" is null")
	case ql.TypeInt:
		return pickOne(g, x+" / 7", "-"+x, "bucket("+x+", 10)", "timestamp("+x+")", x+" > 3")
	}
	return pickOne(g, "len("+x+")", x+" is null", x+" = "+g.constant(g.comparable(f.class())), "coalesce("+x+", null)")
}

// groups makes a get with aggregates.
func (g *generator) groups(t *table) string {
	var list []string
	var aliases []string
	for i := range 1 + g.IntN(3) {
		call := g.aggregate(t)
		if g.chance(40) {
			aliases = append(aliases, "a"+strconv.Itoa(i))
			call += " as a" + strconv.Itoa(i)
		} else if slices.Contains(list, call) {
			continue
		}
		list = append(list, call)
	}
	if g.chance(25) {
		g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return "get " + strings.Join(list, ", ") + " from " + t.name + g.where(t, 70)
	}
	var keys []string
	for i := range 1 + g.IntN(2) {
		key, column := g.key(t, i)
		if slices.Contains(keys, key) {
			continue
		}
		keys = append(keys, key)
		if g.chance(90) {
			list = append(list, column)
		}
	}
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	text := "get " + strings.Join(list, ", ") + " from " + t.name + g.where(t, 60)
	for _, key := range keys {
		if strings.HasPrefix(key, "key") && !slices.ContainsFunc(list, func(c string) bool { return strings.HasSuffix(c, " as "+key) }) {
			keys = []string{"id"} // the column was left out
			break
		}
	}
	if slices.ContainsFunc(list, func(c string) bool { return !strings.Contains(c, "(") && !slices.Contains(keys, c) }) {
		list = nil
	}
	text += " group " + g.maybe(40, "by ") + strings.Join(keys, ", ")
	if g.chance(30) {
		text += " having " + pickOne(g, "count(*) > 1", "count() >= 2 or count(*) = 1", "not count(*) = 1")
		if len(aliases) > 0 && g.chance(40) {
			text += " and " + aliases[0] + " is not null"
		}
	}
	if g.chance(15) {
		return text + " count"
	}
	if len(list) > 0 && g.chance(50) {
		c := pickOne(g, list...)
		if _, as, ok := strings.Cut(c, " as "); ok {
			c = as
		}
		if c != "count()" && strings.Count(c, "(") < 2 && !strings.ContainsAny(c, "+/<>=") && !strings.HasPrefix(c, "bucket") && !strings.Contains(c, " by ") {
			text += " order " + c + pickOne(g, "", " desc")
		}
	}
	return text + g.limit(30) + g.offset() + g.require(3)
}

// key makes a key of groups and its column.
func (g *generator) key(t *table, i int) (key, column string) {
	f := pickOne(g, t.fields...)
	name := "key" + strconv.Itoa(i)
	x := f.Name.Text
	switch {
	case f.Type.Kind == ql.TypeJSON:
		x = f.Name.Text + pickOne(g, ".b", ".d.e")
	case f.class() == "timestamp" && g.chance(60):
		x = "bucket(" + x + ", " + pickOne(g, "1d", "6h", "1w", "1mo") + ")"
		return pickOne(g, name, x), x + " as " + name
	case f.class() == "int" && g.chance(30):
		return name, x + " > 5 as " + name
	case g.chance(20):
		return pickOne(g, name, x), x + " as " + name
	}
	return x, x
}

// aggregate makes a call of an aggregate.
func (g *generator) aggregate(t *table) string {
	f := pickOne(g, t.fields...)
	x, class := f.Name.Text, f.class()
	if g.chance(1) {
		return pickOne(g, "sum(", "max(", "avg(") + x + ")"
	}
	switch n := g.IntN(10); {
	case n < 2:
		return pickOne(g, "count(*)", "count()", "COUNT(*)")
	case n < 4 && f.Type.Kind != ql.TypeJSON:
		return "count(distinct " + x + ")"
	case n == 4:
		return pickOne(g, "first(", "last(") + x + ")"
	case n == 5:
		by := pickOne(g, t.fields...)
		return pickOne(g, "first(", "last(") + x + " by " + by.Name.Text + ")"
	case class == "bool":
		return pickOne(g, "approx_count_distinct("+x+")", "max("+x+")", "min("+x+")")
	case class == "int" || class == "float":
		return pickOne(g, "sum(", "avg(", "min(", "max(") + x + ")"
	case class == "timestamp" || strings.HasPrefix(class, "text"):
		return pickOne(g, "min(", "max(") + x + ")"
	case class == "json" && g.chance(40):
		return pickOne(g, "min(", "sum(", "max(", "avg(") + x + ".b)"
	}
	return pickOne(g, "sum(id)", "max(id)", "sum(len("+x+"))", "count(distinct len("+x+"))")
}
