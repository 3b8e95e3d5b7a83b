package exec_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

// groupColumns are the fields of the collection that is put in groups.
var groupColumns = []string{"id", "k", "n", "f", "at", "ok", "j.a", "l"}

// groupRow is the values of groupColumns in one row.
type groupRow map[string]value.Value

// recount answers statements over groups by looking at rows one by one.
type recount struct {
	*rand.Rand
	rows []groupRow
}

func (r *recount) pick(of ...string) string { return of[r.IntN(len(of))] }

// document returns a row of few values, with sums that are exact.
func (r *recount) document() string {
	a := r.pick("1", "1.0", "2", "0.25", "null", `"x"`, `["x", 1]`, "[]", "{b: 1}")
	fields := []string{
		`k: ` + r.pick(`"a"`, `"b"`, `""`, `"ab"`, "null"),
		`n: ` + r.pick("0", "1", "-3", "100000", "null"),
		`f: ` + r.pick("0.5", "1", "-2.25", "null"),
		`at: ` + r.pick("0", `"2026-01-01"`, `"2026-01-01T05:00:00Z"`, "null"),
		`ok: ` + r.pick("true", "false", "null"),
		`j: ` + r.pick(`{a: `+a+`}`, "null", "7"),
		`l: ` + r.pick("[]", "[1]", "[1, 2, 1]", "[2, 30]", "null"),
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

func (r *recount) where() string {
	return r.pick("", "", " where n >= 0", ` where k = "a"`, " where ok", " where id > 40 and f is not null", " where id = 0")
}

// read gives r the rows that a filter leaves.
func (r *recount) read(db *testDB, where string) {
	r.rows = nil
	out := db.must("get " + strings.Join(groupColumns, ", ") + " from g" + where)
	for i := range out.res.Len() {
		row := groupRow{}
		for c, name := range groupColumns {
			v, err := out.res.Value(i, c)
			require.NoError(db.t, err)
			row[name] = v
		}
		r.rows = append(r.rows, row)
	}
}

// form tells values apart by their kinds throughout.
func form(v value.Value) string { return string(value.Append(nil, v)) }

// groupAggregates are aggregates by how they are written, %s being a column, and
// which columns they take.
var groupAggregates = []struct {
	text, columns string
	of            func(rows []groupRow, column string) value.Value
}{
	{"count(*)", "id", func(rows []groupRow, _ string) value.Value { return value.Int(int64(len(rows))) }},
	{"count(distinct %s)", "id k n f at ok j.a l", func(rows []groupRow, column string) value.Value {
		seen := map[string]bool{}
		for _, v := range present(rows, column) {
			seen[form(v)] = true
		}
		return value.Int(int64(len(seen)))
	}},
	{"sum(%s)", "id n f", func(rows []groupRow, column string) value.Value {
		sum := value.Null
		for _, v := range present(rows, column) {
			if sum.IsNull() {
				sum = v
			} else {
				sum, _ = value.Add(sum, v)
			}
		}
		return sum
	}},
	{"avg(%s)", "id n f", func(rows []groupRow, column string) value.Value {
		sum := 0.0
		list := present(rows, column)
		if len(list) == 0 {
			return value.Null
		}
		for _, v := range list {
			f, _ := v.Number()
			sum += f
		}
		return value.Float(sum / float64(len(list)))
	}},
	{"min(%s)", "id k n f at ok", func(rows []groupRow, column string) value.Value {
		list := present(rows, column)
		if len(list) == 0 {
			return value.Null
		}
		return slices.MinFunc(list, value.Compare)
	}},
	{"max(%s)", "id k n f at ok", func(rows []groupRow, column string) value.Value {
		list := present(rows, column)
		if len(list) == 0 {
			return value.Null
		}
		return slices.MaxFunc(list, value.Compare)
	}},
	{"first(%s)", "id k n f at ok j.a l", func(rows []groupRow, column string) value.Value {
		return append(present(rows, column), value.Null)[0]
	}},
	{"last(%s by n)", "id k f at ok j.a l", func(rows []groupRow, column string) value.Value {
		last, by := value.Null, value.Null
		for _, row := range rows {
			if !row[column].IsNull() && !row["n"].IsNull() && value.Compare(row["n"], by) >= 0 {
				last, by = row[column], row["n"]
			}
		}
		return last
	}},
	{"first(%s by f)", "id k n at ok j.a l", func(rows []groupRow, column string) value.Value {
		first, by := value.Null, value.Null
		for _, row := range rows {
			if !row[column].IsNull() && !row["f"].IsNull() && (by.IsNull() || value.Compare(row["f"], by) < 0) {
				first, by = row[column], row["f"]
			}
		}
		return first
	}},
}

// present returns the values of a column that are not null.
func present(rows []groupRow, column string) []value.Value {
	var out []value.Value
	for _, row := range rows {
		if !row[column].IsNull() {
			out = append(out, row[column])
		}
	}
	return out
}

// TestGroupsAgainstRecount compares groups with those that are found by looking
// at rows one by one.
func TestGroupsAgainstRecount(t *testing.T) {
	db, r := openRecount(t)
	for range 600 {
		where := r.where()
		r.read(db, where)
		var names, keys []string
		for range r.IntN(3) {
			if k := groupColumns[1+r.IntN(len(groupColumns)-1)]; !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		names = append(names, keys...)
		var of []func([]groupRow) value.Value
		for range 1 + r.IntN(3) {
			a := groupAggregates[r.IntN(len(groupAggregates))]
			column := r.pick(strings.Fields(a.columns)...)
			text := a.text
			if strings.Contains(text, "%s") {
				text = fmt.Sprintf(text, column)
			}
			of = append(of, func(rows []groupRow) value.Value { return a.of(rows, column) })
			names = append(names, text+" as a"+strconv.Itoa(len(of)))
		}
		text := "get " + strings.Join(names, ", ") + " from g" + where
		want := r.groups(keys, of)
		if len(keys) > 0 {
			text += " group " + strings.Join(keys, ", ")
			if r.IntN(3) == 0 {
				text += " having a1 is not null"
				want = slices.DeleteFunc(want, func(g []value.Value) bool { return g[len(keys)].IsNull() })
			}
			if r.IntN(2) == 0 {
				column, desc := r.IntN(len(of)), r.IntN(2)
				text += fmt.Sprintf(" order a%d%s", column+1, []string{"", " desc"}[desc])
				slices.SortStableFunc(want, func(a, b []value.Value) int {
					return value.Compare(a[len(keys)+column], b[len(keys)+column]) * (1 - 2*desc)
				})
			}
			if r.IntN(2) == 0 {
				offset, limit := r.IntN(3), r.IntN(5)
				text += fmt.Sprintf(" offset %d limit %d", offset, limit)
				want = want[min(offset, len(want)):]
				want = want[:min(limit, len(want))]
			}
		}
		require.Equal(t, rowsText(want), db.must(text).rows(t), text)
	}
}

func openRecount(t *testing.T) (*testDB, *recount) {
	db := openTest(t, `create collection g (k text @hash, n int @sorted, f float, at timestamp, ok bool @hash, j json, l [int])`)
	r := &recount{Rand: rand.New(rand.NewPCG(1, 1))}
	for range 200 {
		db.must("put g " + r.document())
	}
	db.must(`del g where n = 1 and ok`)
	return db, r
}

// groups returns the groups of all rows, with their keys and aggregates, by
// ascending keys.
func (r *recount) groups(keys []string, of []func([]groupRow) value.Value) [][]value.Value {
	found := map[string][]groupRow{}
	if len(keys) == 0 {
		found[""] = nil
	}
	for _, row := range r.rows {
		k := ""
		for _, key := range keys {
			k += form(row[key])
		}
		found[k] = append(found[k], row)
	}
	var out [][]value.Value
	for _, rows := range found {
		var g []value.Value
		for _, key := range keys {
			g = append(g, rows[0][key])
		}
		for _, fn := range of {
			g = append(g, fn(rows))
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b []value.Value) int {
		for i := range keys {
			if c := value.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
		for i := range keys {
			if c := strings.Compare(form(a[i]), form(b[i])); c != 0 {
				return c
			}
		}
		return 0
	})
	return out
}

func rowsText(rows [][]value.Value) string {
	var out []string
	for _, row := range rows {
		out = append(out, value.List(row).String())
	}
	return "[" + strings.Join(out, ",") + "]"
}

// TestFacetsAgainstRecount does the same for facets.
func TestFacetsAgainstRecount(t *testing.T) {
	db, r := openRecount(t)
	for range 300 {
		where := r.where()
		text := "get g" + where + r.pick("", " order n", " limit 3") + " facet "
		var want []string
		columns := slices.Clone(groupColumns)
		r.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
		for i, column := range columns[:1+r.IntN(3)] {
			if i > 0 {
				text += ", "
			}
			text += column
			left := where
			if r.IntN(3) == 0 && column != "k" && where == ` where k = "a"` || column == "k" && where == ` where k = "a"` {
				text += " disjunctive"
				if column == "k" {
					left = ""
				}
			}
			r.read(db, left)
			switch {
			case column != "k" && column != "ok" && r.IntN(3) == 0:
				// Ranges go before disjunctive.
				text = strings.TrimSuffix(text, " disjunctive") + " ranges [-3, 0, 1.5, 40]"
				want = append(want, r.ranges(column))
			default:
				want = append(want, r.values(column))
			}
		}
		require.Equal(t, strings.Join(want, "; "), db.must(text).facetText(), text)
	}
}

// elements returns what is counted of a column in a row.
func elements(v value.Value) []value.Value {
	if v.Kind() != value.KindList {
		return []value.Value{v}
	}
	seen := map[string]bool{}
	var out []value.Value
	for _, e := range v.AsList() {
		if !seen[form(e)] {
			out = append(out, e)
		}
		seen[form(e)] = true
	}
	return out
}

// values returns a facet of values as outcome.facetText writes it.
func (r *recount) values(column string) string {
	type entry struct {
		v value.Value
		n int
	}
	found := map[string]*entry{}
	for _, row := range r.rows {
		for _, v := range elements(row[column]) {
			if found[form(v)] == nil {
				found[form(v)] = &entry{v: v}
			}
			found[form(v)].n++
		}
	}
	var list []*entry
	for _, e := range found {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int {
		return cmp.Or(b.n-a.n, value.Compare(a.v, b.v), strings.Compare(form(a.v), form(b.v)))
	})
	var texts []string
	for _, e := range list {
		texts = append(texts, fmt.Sprintf(" %s %d", e.v, e.n))
	}
	return column + ":" + strings.Join(texts, ",")
}

// ranges returns a facet of ranges.
func (r *recount) ranges(column string) string {
	var n [3]int
	for _, row := range r.rows {
		var in [3]bool
		for _, v := range elements(row[column]) {
			f, ok := v.Number()
			in[0] = in[0] || ok && f >= -3 && f < 0
			in[1] = in[1] || ok && f >= 0 && f < 1.5
			in[2] = in[2] || ok && f >= 1.5 && f < 40
		}
		for i := range in {
			if in[i] {
				n[i]++
			}
		}
	}
	return fmt.Sprintf("%s: [-3,0] %d, [0,1.5] %d, [1.5,40] %d", column, n[0], n[1], n[2])
}
