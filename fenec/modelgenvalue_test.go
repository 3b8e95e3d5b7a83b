package fenec_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// modelStart is when the clock of the model starts.
const modelStart = 1767225600000

// value makes a value of a class, from few so that they meet again.
func (g *generator) value(class string) any {
	switch class {
	case "bool":
		return g.chance(50)
	case "int":
		if g.chance(3) {
			return pickOne[any](g, int64(1<<53), int64(1<<53+1), int64(-1<<53-1), int64(1<<40), int64(math.MaxInt64), int64(-math.MaxInt64))
		}
		return int64(g.IntN(40) - 10)
	case "float":
		if g.chance(3) {
			return pickOne[any](g, float64(1<<53), 1e300, -1e-300, 0.1)
		}
		return float64(g.IntN(60)-20) / 4
	case "text":
		return g.text()
	case "text collate und", "text collate tr":
		return g.collated()
	case "timestamp":
		if g.chance(3) {
			return pickOne(g, moment(-1), moment(0), moment(-86400_000*45), moment(253402300799999))
		}
		return moment(modelStart + int64(g.IntN(30))*21600000 + int64(g.IntN(10)/9*g.IntN(1000)))
	case "json":
		return g.object()
	case "path":
		return g.scalar()
	case "bytes":
		return blob(pickOne(g, "", "a", "ab", "b\x00", "\xff\x80", "c"))
	case "vector<2>", "vector<2, f16>":
		return vector{float32(g.IntN(9)-4) / 4, float32(g.IntN(5) - 2)}
	case "geo":
		return g.point()
	case "sparse<6>":
		s := sparse{dim: 6}
		for i := 1; i <= 6; i++ {
			if g.chance(30) || i == 6 && len(s.entries) == 0 {
				s.entries = append(s.entries, sparseEntry{i, float32(1+g.IntN(5)) / 2})
			}
		}
		return s.String() // there is no Go value for one
	}
	item := strings.Replace(strings.Replace(class, "[", "", 1), "]", "", 1)
	list := []any{}
	for range g.IntN(4) {
		if g.chance(5) {
			list = append(list, nil)
			continue
		}
		list = append(list, g.value(item))
	}
	return list
}

func (g *generator) point() any {
	return []any{pickOne(g, 28.5, 29.25, 179.5, -179.5, 180.0, -180.0, 0.0, 10.0), pickOne(g, 41.0, 40.5, 0.0, -0.25, 90.0, 10.0)}
}

func (g *generator) text() string {
	switch g.IntN(46) {
	case 40, 41, 42, 43, 44, 45:
		var list []string
		for range 1 + g.IntN(6) {
			list = append(list, string(rune('a'+g.IntN(8)))+strings.Repeat("b", g.IntN(3)))
		}
		return strings.Join(list, pickOne(g, " ", ", "))
	case 0:
		return "long " + strings.Repeat("x", 300) + strconv.Itoa(g.IntN(3))
	case 1:
		return pickOne(g, "a\x00", "a\x00b", "quote \" and \\", "line\nbreak", "É", "é", "日本", "İx", "ıI")
	case 2:
		if g.chance(10) { // longer than an index key
			return strings.Repeat("y", 17<<10) + strconv.Itoa(g.IntN(3))
		}
	}
	return string(rune('a'+g.IntN(8))) + strings.Repeat("b", g.IntN(3))
}

// collated makes a text of the letters that the model can collate.
func (g *generator) collated() string {
	letters := slices.Sorted(maps.Keys(collatedWeights["tr"]))
	var s string
	for range pickOne(g, 0, 1, 1, 2, 2, 2, 3) {
		s += pickOne(g, letters...)
	}
	return s
}

// scalar makes a value that json may hold.
func (g *generator) scalar() any {
	switch g.IntN(8) {
	case 0:
		return nil
	case 1:
		return g.chance(50)
	case 2, 3:
		return int64(g.IntN(12))
	case 4:
		return float64(g.IntN(24)) / 2
	case 5:
		return "2026-01-0" + strconv.Itoa(1+g.IntN(4))
	}
	return string(rune('a' + g.IntN(5)))
}

// object makes a value of a json field.
func (g *generator) object() any {
	if g.chance(10) {
		return pickOne[any](g, g.scalar(), []any{int64(1), "a"}, map[string]any{})
	}
	o := map[string]any{}
	for _, k := range []string{"a", "b"} {
		if g.chance(60) {
			o[k] = g.scalar()
		}
	}
	if g.chance(40) {
		o["d"] = map[string]any{"e": pickOne(g, g.scalar(), any(int64(g.IntN(5))))}
	}
	if g.chance(20) {
		o["w"] = []any{g.scalar(), g.scalar()}
	}
	return o
}

func (g *generator) freshValue(class string) any {
	g.fresh++
	switch class {
	case "int":
		return 1000 + g.fresh
	case "timestamp":
		return moment(1e12 + g.fresh)
	case "text":
		return "u" + strconv.FormatInt(g.fresh, 10)
	case "bytes":
		return blob("u" + strconv.FormatInt(g.fresh, 10))
	case "[text]":
		return []any{g.freshValue("text")}
	}
	return nil
}

// fit makes a value that a field of the class takes, of another type at times.
func (g *generator) fit(class string) any {
	if g.chance(8) {
		return nil
	}
	v := g.value(class)
	if g.chance(80) {
		return v
	}
	switch x := v.(type) {
	case int64:
		if x == int64(float64(x)) {
			return float64(x)
		}
	case float64:
		return int64(g.IntN(9))
	case string:
		if class == "text" {
			return g.value("timestamp")
		}
	case moment:
		return pickOne[any](g, x.String(), int64(x))
	case blob:
		if len(x) > 0 && x[0] < 128 {
			return string(x)
		}
	}
	return v
}

// misfit makes a value that a field of the class does not take.
func (g *generator) misfit(class string) any {
	switch class {
	case "int":
		return pickOne[any](g, "7", 7.5, true)
	case "float":
		return pickOne[any](g, "1.5", false, []any{int64(1)})
	case "bool":
		return pickOne[any](g, int64(1), "true", moment(0))
	case "timestamp":
		return pickOne[any](g, "yesterday", "2026-02-30", 1.5, true)
	case "json":
		return pickOne[any](g, blob("a"), []any{blob("")}, nil)
	case "bytes":
		return pickOne[any](g, int64(7), []any{int64(256)}, []any{1.5}, true)
	case "vector<2>":
		return pickOne[any](g, "[1,0]", []any{int64(1)}, []any{1e300, int64(1)}, []any{true, false})
	case "vector<2, f16>":
		return pickOne[any](g, []any{int64(70000), int64(1)}, []any{}, int64(1))
	case "geo":
		return pickOne[any](g, []any{int64(181), int64(0)}, []any{int64(0), 90.5}, []any{int64(1)}, "1,2")
	case "sparse<6>":
		return pickOne[any](g, "{7:1}/6", "{1:1,1:2}/6", "{1:1}/5", int64(1), "")
	}
	if class[0] == '[' {
		return pickOne[any](g, "a", int64(1), []any{true}, []any{[]any{}})
	}
	return pickOne[any](g, int64(7), 7.5, true, []any{"a"})
}

// comparable makes a value that is worth comparing with one of the class.
func (g *generator) comparable(class string) any {
	switch g.IntN(20) {
	case 0:
		return nil
	case 1:
		if strings.Contains(class, "collate") {
			return g.value(pickOne(g, "bool", "int", "timestamp", "json"))
		}
		return g.value(pickOne(g, "bool", "int", "float", "text", "timestamp", "[int]", "json", "bytes", "vector<2>"))
	case 2, 3, 4:
		switch class {
		case "int":
			return g.value("float")
		case "float":
			return g.value("int")
		case "timestamp":
			return pickOne[any](g, g.value(class).(moment).String(), "2026-01-03", "never", int64(modelStart))
		case "text":
			return g.value("bytes")
		case "path":
			return pickOne(g, g.value("timestamp"), g.object())
		}
	}
	return g.value(class)
}

// constant makes an expression that is v: a literal or a parameter.
func (g *generator) constant(v any) string {
	if m, ok := v.(moment); ok && g.chance(50) {
		return "timestamp(" + literal(m.String()) + ")"
	}
	if !writable(v) || g.chance(30) {
		g.args = append(g.args, v)
		return "$" + strconv.Itoa(len(g.args))
	}
	return literal(v)
}

// writable reports whether v has a literal.
func writable(v any) bool {
	switch x := v.(type) {
	case moment, blob, vector:
		return false
	case []any:
		return !slices.ContainsFunc(x, func(e any) bool { return !writable(e) })
	case map[string]any:
		for _, e := range x {
			if !writable(e) {
				return false
			}
		}
	}
	return true
}

var literalEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\x00", `\0`)

// literal writes a value as the language does.
func literal(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case string:
		return `"` + literalEscapes.Replace(x) + `"`
	case float64:
		s := strconv.FormatFloat(x, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case []any:
		return jsonList(len(x), func(i int) string { return literal(x[i]) })
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(x)) {
			parts = append(parts, k+": "+literal(x[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// goValue returns v as one of the Go values that stand for it.
func (g *generator) goValue(v any) any {
	type named string
	switch x := v.(type) {
	case int64:
		if x == int64(int32(x)) {
			return pickOne[any](g, x, int(x), int32(x), &x, json.Number(strconv.FormatInt(x, 10)))
		}
	case float64:
		if x == float64(float32(x)) {
			return pickOne[any](g, x, float32(x), &x)
		}
	case string:
		return pickOne[any](g, x, named(x), &x, json.RawMessage(quoted(x)))
	case moment:
		return pickOne[any](g, x.Time(), x.Time().In(time.FixedZone("", 3600)))
	case blob:
		return []byte(x)
	case vector:
		return []float32(x)
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = g.goValue(x[i])
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			object[k] = g.goValue(x[k])
		}
		return object
	case nil:
		return pickOne[any](g, nil, (*int)(nil), json.RawMessage("null"))
	}
	return v
}
