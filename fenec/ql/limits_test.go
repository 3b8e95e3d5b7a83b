package ql_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// levels are the forms that make an expression deeper, each written n times.
var levels = map[string]func(n int) string{
	"parenthesis": func(n int) string { return strings.Repeat("(", n) + "a" + strings.Repeat(")", n) },
	"not":         func(n int) string { return strings.Repeat("not ", n) + "a" },
	"minus":       func(n int) string { return strings.Repeat("- ", n) + "a" },
	"number":      func(n int) string { return strings.Repeat("- ", n) + "1" },
	"and":         func(n int) string { return "a" + strings.Repeat(" and a", n) },
	"or":          func(n int) string { return "a" + strings.Repeat(" or a", n) },
	"sum":         func(n int) string { return "a" + strings.Repeat(" + a", n) },
	"difference":  func(n int) string { return "a" + strings.Repeat(" - a", n) },
	"product":     func(n int) string { return "a" + strings.Repeat(" * a", n) },
	"call":        func(n int) string { return strings.Repeat("f(", n) + "a" + strings.Repeat(")", n) },
	"in":          func(n int) string { return strings.Repeat("a in [", n) + "a" + strings.Repeat("]", n) },
	"list":        func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) },
	"object":      func(n int) string { return strings.Repeat("{a: ", n-1) + "{}" + strings.Repeat("}", n-1) },
	"case": func(n int) string {
		return strings.Repeat("case when a then b else ", n) + "c" + strings.Repeat(" end", n)
	},
	"condition": func(n int) string {
		return strings.Repeat("case when ", n) + "a" + strings.Repeat(" then b end", n)
	},
	"mixed": func(n int) string {
		half := n / 2
		return strings.Repeat("(not ", half-1) + "a" + strings.Repeat(" + a", n-2*(half-1)) + strings.Repeat(")", half-1)
	},
	"right side": func(n int) string {
		return strings.Repeat("a + (", n/2) + "a" + strings.Repeat(" + a", n-2*(n/2)) + strings.Repeat(")", n/2)
	},
}

func TestDepth(t *testing.T) {
	for name, nest := range levels {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 500, 512} {
				if n == 1 && (name == "mixed" || name == "object") {
					continue
				}
				e, err := ql.ParseExpr(nest(n))
				require.NoError(t, err, n)
				again, err := ql.ParseExpr(ql.PrintExpr(e))
				require.NoError(t, err, n)
				require.Equal(t, ql.PrintExpr(e), ql.PrintExpr(again))
			}
			for _, n := range []int{513, 514, 100_000} {
				_, err := ql.ParseExpr(nest(n))
				require.ErrorContains(t, err, "too deep", n)
				_, err = ql.Parse("get t where " + nest(n))
				require.ErrorContains(t, err, "too deep", n)
			}
		})
	}
}

func TestDepthOfTypes(t *testing.T) {
	create := func(n int) string {
		return "create collection t (a " + strings.Repeat("[", n) + "int" + strings.Repeat("]", n) + ")"
	}
	_, err := ql.Parse(create(500))
	require.NoError(t, err)
	_, err = ql.Parse(create(100_000))
	require.ErrorContains(t, err, "too deep")
}

func TestDepthOfGets(t *testing.T) {
	nest := func(n int) string {
		return "get t where " + strings.Repeat("a in (get b from u where ", n) + "c" + strings.Repeat(")", n)
	}
	_, err := ql.Parse(nest(4))
	require.NoError(t, err)
	for _, n := range []int{5, 100_000} {
		_, err = ql.Parse(nest(n))
		require.ErrorContains(t, err, "get too deep", n)
	}
	// One after the other is not inside one another.
	_, err = ql.Parse("get t where a in (get b from u)" + strings.Repeat(" or a in (get b from u)", 9))
	require.NoError(t, err)
}

// The levels of a get inside "in" are its own.
func TestDepthInsideGets(t *testing.T) {
	nest := func(outer, inner int) string {
		return "get t where " + strings.Repeat("(", outer) + "a in (get b from u where " +
			strings.Repeat("(", inner) + "c" + strings.Repeat(")", inner) + ")" + strings.Repeat(")", outer)
	}
	_, err := ql.Parse(nest(511, 512))
	require.NoError(t, err)
	for _, n := range [][2]int{{512, 0}, {0, 513}, {100_000, 0}, {0, 100_000}} {
		_, err = ql.Parse(nest(n[0], n[1]))
		require.ErrorContains(t, err, "too deep", n)
	}
}

func TestLookupsOfChain(t *testing.T) {
	chain := func(n int) string {
		var b strings.Builder
		b.WriteString("get t")
		for i := range n {
			fmt.Fprintf(&b, " lookup u%d on k", i)
		}
		return b.String()
	}
	_, err := ql.Parse(chain(8))
	require.NoError(t, err)
	for _, n := range []int{9, 10_000} {
		_, err = ql.Parse(chain(n))
		require.ErrorContains(t, err, "more than 8 lookups", n)
	}
}

func TestBoundsOfRanges(t *testing.T) {
	ranges := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ",%d", i)
		}
		return "get t facet a ranges [" + b.String()[1:] + "]"
	}
	for _, n := range []int{2, 10_001} {
		s, err := ql.Parse(ranges(n))
		require.NoError(t, err, n)
		require.Len(t, s.(*ql.Get).Facets[0].Ranges, n)
	}
	for _, n := range []int{1, 10_002, 100_000} {
		_, err := ql.Parse(ranges(n))
		require.ErrorContains(t, err, "bounds", n)
	}
}

func TestKeysOfPath(t *testing.T) {
	e, err := ql.ParseExpr("f" + strings.Repeat(".k", 64))
	require.NoError(t, err)
	require.Len(t, e.(*ql.Path).Keys, 64)
	_, err = ql.ParseExpr("f" + strings.Repeat(".k", 65))
	require.ErrorContains(t, err, "more than 64 keys")
}

func TestMemoryOfLargeStatements(t *testing.T) {
	const size = 256 << 10
	parts := map[string][3]string{
		"digits":     {"put t {a: [", "1,", "]}"},
		"numbers":    {"put t {a: [", "10,", "]}"},
		"strings":    {"put t {a: [", `"",`, "]}"},
		"lists":      {"put t {a: [", "[],", "]}"},
		"documents":  {"put t [", "{a:1},", "{}]"},
		"pairs":      {"put t {", "a:1,", "}"},
		"alternates": {"get t where a in [", "1,", "]"},
		"branches":   {"get t where case ", "when 1 then 1 ", "end"},
		"clauses":    {"get t ", "limit 1 ", ""},
		"blanks":     {"get t ", " ", ""},
		"facets":     {"get t ", "facet a ", ""},
		"bounds":     {"get t ", "facet a ranges [1, 2, 3] ", ""},
		"options":    {"create collection t (a text @text(", "b=1,", "))"},
		"escapes":    {`put t {a: "`, `\n`, `"}`},
	}
	for name, part := range parts {
		t.Run(name, func(t *testing.T) {
			text := part[0] + strings.Repeat(part[1], size/len(part[1])) + part[2]
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ql.Parse(text)
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64*size))
		})
	}
}
