package ql_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

func TestParseExpr(t *testing.T) {
	a, b, c := field("a"), field("b"), field("c")
	tests := []struct {
		text string
		want ql.Expr
	}{
		// Precedence and grouping.
		{`a or b and c`, op(a, ql.OpOr, op(b, ql.OpAnd, c))},
		{`(a or b) and c`, op(op(a, ql.OpOr, b), ql.OpAnd, c)},
		{`a or b or c`, op(op(a, ql.OpOr, b), ql.OpOr, c)},
		{`a or (b or c)`, op(a, ql.OpOr, op(b, ql.OpOr, c))},
		{`not a = b`, not(op(a, ql.OpEq, b))},
		{`NOT a AND b`, op(not(a), ql.OpAnd, b)},
		{`not not a`, not(not(a))},
		{`a + b * c`, op(a, ql.OpAdd, op(b, ql.OpMul, c))},
		{`a - b - c`, op(op(a, ql.OpSub, b), ql.OpSub, c)},
		{`a / b / c`, op(op(a, ql.OpDiv, b), ql.OpDiv, c)},
		{`a - (b - c)`, op(a, ql.OpSub, op(b, ql.OpSub, c))},
		{`a + b < c`, op(op(a, ql.OpAdd, b), ql.OpLt, c)},
		{`-a * b`, op(neg(a), ql.OpMul, b)},
		{`- -a`, neg(neg(a))},
		{`((a))`, a},

		// Comparisons.
		{`a = 1`, op(a, ql.OpEq, integer(1))},
		{`a == 1`, op(a, ql.OpEq, integer(1))},
		{`a != 1`, op(a, ql.OpNe, integer(1))},
		{`a <> 1`, op(a, ql.OpNe, integer(1))},
		{`a < 1`, op(a, ql.OpLt, integer(1))},
		{`a <= 1`, op(a, ql.OpLe, integer(1))},
		{`a > 1`, op(a, ql.OpGt, integer(1))},
		{`a >= 1`, op(a, ql.OpGe, integer(1))},
		{`a ~ "x"`, op(a, ql.OpContains, text("x"))},
		{`a HAS 1`, op(a, ql.OpHas, integer(1))},
		{`a is null`, &ql.IsNull{X: a}},
		{`a is not null`, &ql.IsNull{X: a, Not: true}},
		{`a in []`, &ql.In{X: a}},
		{`a in ["x", $1, lower(b),]`, &ql.In{X: a, List: []ql.Expr{text("x"), &ql.Param{N: 1}, call("lower", b)}}},
		{`not a in [1 - 2]`, not(&ql.In{X: a, List: []ql.Expr{op(integer(1), ql.OpSub, integer(2))}})},

		// Numbers and their minus.
		{`1_000`, integer(1000)},
		{`00`, integer(0)},
		{`9223372036854775807`, integer(math.MaxInt64)},
		{`-9223372036854775808`, integer(math.MinInt64)},
		{`9007199254740993`, integer(1<<53 + 1)},
		{`1.5`, decimal(1.5)},
		{`1_0.2_5`, decimal(10.25)},
		{`2e3`, decimal(2000)},
		{`2E+3`, decimal(2000)},
		{`25e-1`, decimal(2.5)},
		{`1e-999`, decimal(0)},
		{`-2`, integer(-2)},
		{`- 2`, integer(-2)},
		{`- - 2`, integer(2)},
		{`-2.5`, decimal(-2.5)},
		{`-(2)`, neg(integer(2))},
		{`a -2`, op(a, ql.OpSub, integer(2))},
		{`a-2`, op(a, ql.OpSub, integer(2))},
		{`1-2`, op(integer(1), ql.OpSub, integer(2))},
		{`a - -2`, op(a, ql.OpSub, integer(-2))},
		{`a and -2 < b`, op(a, ql.OpAnd, op(integer(-2), ql.OpLt, b))},
		{`a = -2`, op(a, ql.OpEq, integer(-2))},
		{`$1 -2`, op(&ql.Param{N: 1}, ql.OpSub, integer(2))},
		{`[-1, - 2.5]`, list(integer(-1), decimal(-2.5))},

		// Strings.
		{`"a\n\t\r\0\"\'\\\u\é"`, text("a\n\t\r\x00\"'\\ué")},
		{`'say "it"'`, text(`say "it"`)},
		{"'two\nlines -- # no comment'", text("two\nlines -- # no comment")},
		{`""`, text("")},

		// Words.
		{`TRUE`, boolean(true)},
		{`false`, boolean(false)},
		{`Null`, null()},
		{`true.x`, &ql.Path{Field: "true", Keys: []string{"x"}}},
		{`m.a.b.c`, &ql.Path{Field: "m", Keys: []string{"a", "b", "c"}}},
		{`case`, field("case")},
		{`not = 1`, op(field("not"), ql.OpEq, integer(1))},
		{`(not)`, field("not")},
		{`a and not`, op(a, ql.OpAnd, field("not"))},
		{`not not`, not(field("not"))},
		{`and and or or in`, op(op(field("and"), ql.OpAnd, field("or")), ql.OpOr, field("in"))},
		{`is is null`, &ql.IsNull{X: field("is")}},
		{`has has has`, op(field("has"), ql.OpHas, field("has"))},

		// Identifiers.
		{`_x1`, field("_x1")},
		{`ışık`, field("ışık")},
		{`東京.都`, &ql.Path{Field: "東京", Keys: []string{"都"}}},
		{`नाम`, field("नाम")},    // a combining vowel sign
		{`Ⅻ`, field("Ⅻ")},        // a letter number
		{`x²٣`, field("x²٣")},    // numbers of other kinds
		{`a` + "ͅ", field("aͅ")}, // an alphabetic mark

		// Lists and objects.
		{`[]`, &ql.List{}},
		{`[1, 2.5, "x", null, true, [], {},]`, list(integer(1), decimal(2.5), text("x"), null(), boolean(true), &ql.List{}, &ql.Object{})},
		{`[9007199254740993]`, list(integer(1<<53 + 1))},
		{`{a: 1, "b c": [2], d.e: {f: null},}`, &ql.Object{Members: []ql.Member{
			{Key: "a", Value: integer(1)}, {Key: "b c", Value: list(integer(2))},
			{Key: "d.e", Value: &ql.Object{Members: []ql.Member{{Key: "f", Value: null()}}}}}}},

		// Calls and case.
		{`now()`, call("now")},
		{`Lower(a, b,)`, call("Lower", a, b)},
		{`case when a then b end`, &ql.Case{Whens: []ql.When{{Cond: a, Then: b}}}},
		{`case when a then b when b then c else a end`, &ql.Case{
			Whens: []ql.When{{Cond: a, Then: b}, {Cond: b, Then: c}}, Else: a}},
		{`case when end then then else else end`, &ql.Case{
			Whens: []ql.When{{Cond: field("end"), Then: field("then")}}, Else: field("else")}},
		{`case when a then (case) when b then c end`, &ql.Case{
			Whens: []ql.When{{Cond: a, Then: field("case")}, {Cond: b, Then: c}}}},
		{`bucket(a, 15m)`, call("bucket", a, &ql.Duration{N: 15, Unit: "m"})},
		{`BUCKET(a, 1 mo,)`, call("BUCKET", a, &ql.Duration{N: 1, Unit: "mo"})},
		{`bucket(a, 1_000 e3)`, call("bucket", a, &ql.Duration{N: 1000, Unit: "e3"})},
		{`bucket(a, 1 has b)`, call("bucket", a, op(integer(1), ql.OpHas, b))},
		{`bucket(a, "2d")`, call("bucket", a, text("2d"))},
		{`bucket(a, 60000)`, call("bucket", a, integer(60000))},

		// White space and comments.
		{"\u00a0\u2003a;=;-- one\n# two\r\n\v1;", op(a, ql.OpEq, integer(1))},
		{"a # to the end", a},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			require.Equal(t, tt.want, parseExpr(t, tt.text))
		})
	}
}

func TestNegativeZeroKeepsItsSign(t *testing.T) {
	e := parseExpr(t, "-0.0").(*ql.Literal)
	require.True(t, math.Signbit(e.Float))
	require.Equal(t, "-0.0", ql.PrintExpr(e))
}

func TestManyKeys(t *testing.T) {
	// Past a few keys an object looks for doubles in another way.
	for _, n := range []int{1, 7, 8, 9, 100} {
		var b strings.Builder
		for i := range n {
			b.WriteString("k")
			b.WriteString(strings.Repeat("x", i))
			b.WriteString(": 1, ")
		}
		_, err := ql.ParseExpr("{" + b.String() + "}")
		require.NoError(t, err, n)
		for _, double := range []string{"k", "k" + strings.Repeat("x", n-1)} {
			_, err = ql.ParseExpr("{" + b.String() + double + ": 2}")
			require.ErrorContains(t, err, "twice", n)
		}
	}
}
