package fenec_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// jsonOf returns a value of the model as answers write it.
func jsonOf(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		if x == 0 {
			return "0" // minus zero, too
		}
		return shortest(x, 64)
	case moment:
		return `"` + x.String() + `"`
	case string:
		return quoted(x)
	case blob:
		return jsonList(len(x), func(i int) string { return strconv.Itoa(int(x[i])) })
	case vector:
		return jsonList(len(x), func(i int) string { return float32Text(x[i]) })
	case []any:
		return jsonList(len(x), func(i int) string { return jsonOf(x[i]) })
	case sparse:
		return `"` + x.String() + `"`
	}
	object := v.(map[string]any)
	var row jsonRow
	for _, k := range slices.Sorted(maps.Keys(object)) {
		row.add(k, jsonOf(object[k]))
	}
	return row.String()
}

func (s sparse) String() string {
	var parts []string
	for _, e := range s.entries {
		parts = append(parts, strconv.Itoa(e.index)+":"+float32Text(e.weight))
	}
	return "{" + strings.Join(parts, ",") + "}/" + strconv.Itoa(s.dim)
}

func float32Text(f float32) string { return shortest(float64(f), 32) }

// shortest returns the shortest decimal that reads back, and of two that are
// equally near the one further from zero.
func shortest(f float64, bits int) string {
	s := strconv.FormatFloat(f, 'f', -1, bits)
	exact := strings.TrimRight(strconv.FormatFloat(f, 'f', 60, bits), "0")
	if strings.Contains(s, ".") && exact == s+"5" {
		return s[:len(s)-1] + string(s[len(s)-1]+1)
	}
	return s
}

func quoted(s string) string { return `"` + jsonEscapes.Replace(s) + `"` }

var jsonEscapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\x00", `\u0000`)

func jsonList(n int, item func(int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return "[" + strings.Join(items, ",") + "]"
}

func listOf(items []string) string {
	return jsonList(len(items), func(i int) string { return items[i] })
}

// jsonRow is an object as it is written, member by member.
type jsonRow []string

func (r *jsonRow) add(name, text string) { *r = append(*r, quoted(name)+":"+text) }

func (r jsonRow) String() string { return "{" + strings.Join(r, ",") + "}" }
