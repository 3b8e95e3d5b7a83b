package ql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// visits returns the texts of what Walk visits.
func visits(n ql.Node, into func(ql.Expr) bool) []string {
	var seen []string
	ql.Walk(n, func(e ql.Expr) bool {
		seen = append(seen, ql.PrintExpr(e))
		return into(e)
	})
	return seen
}

func everywhere(ql.Expr) bool { return true }

func TestWalkVisitsStatements(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{`get t`, nil},
		{`get a, -b as c from t where d order e limit 1`, []string{"a", "-b", "b", "d", "e"}},
		{`explain get a from t`, []string{"a"}},
		{`put t {a: 1, b: c} {d: $1}`, []string{"1", "c", "$1"}},
		{`insert t $2`, []string{"$2"}},
		{`set t {a: b} where c order d, e.f`, []string{"b", "c", "d", "e.f"}},
		{`del t where a order b`, []string{"a", "b"}},
		{`get a, count(*) as n from t group by a having n order sum(b), c`,
			[]string{"a", "count(*)", "a", "n", "sum(b)", "b", "c"}},
		{`get *, highlight(a, $1, "x") from t match b c near d e fuse`, []string{"$1", `"x"`, "e", "c"}},
		{`get t match b c rerank d e facet f, g.h`, []string{"c", "e", "f", "g.h"}},
		{`get t lookup u on a select b where c order d lookup v on e where f`, []string{"b", "c", "d", "f"}},
		{`put t {} if absent else set {a: new.b}`, []string{"new.b"}},
		{`set t {a: b} returning c, d`, []string{"b", "c", "d"}},
		{`del t returning *`, nil},
		{`create index on t (a) @hash`, nil},
		{`alter collection t drop a`, nil},
		{`create collection t (a int)`, nil},
		{`drop collection t`, nil},
		{`collections`, nil},
		{`describe t`, nil},
		{`compact t`, nil},
	}
	for _, tt := range tests {
		s, err := ql.Parse(tt.text)
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, visits(s, everywhere), tt.text)
	}
}

func TestWalkVisitsExpressions(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{`1`, []string{"1"}},
		{`a + b`, []string{"a + b", "a", "b"}},
		{`not a`, []string{"not a", "a"}},
		{`a in [b, 1]`, []string{"a in [b, 1]", "a", "b", "1"}},
		{`a in (get b from u where c)`, []string{"a in (get u select b where c)", "a", "b", "c"}},
		{`first(a by b)`, []string{"first(a by b)", "a", "b"}},
		{`a is null`, []string{"a is null", "a"}},
		{`[1, [2]]`, []string{"[1, [2]]", "1", "[2]", "2"}},
		{`{a: 1, b: 2}`, []string{"{a: 1, b: 2}", "1", "2"}},
		{`bucket(a, 1d)`, []string{"bucket(a, 1d)", "a", "1d"}},
		{`case when a then b end`, []string{"case when a then b end", "a", "b"}},
		{`case when a then b when c then d else e end`,
			[]string{"case when a then b when c then d else e end", "a", "b", "c", "d", "e"}},
	}
	for _, tt := range tests {
		e, err := ql.ParseExpr(tt.text)
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, visits(e, everywhere), tt.text)
	}
}

func TestWalkStaysOut(t *testing.T) {
	e, err := ql.ParseExpr(`a and f(b) and c`)
	require.NoError(t, err)
	require.Equal(t, []string{"a and f(b) and c", "a and f(b)", "a", "f(b)", "c"},
		visits(e, func(e ql.Expr) bool { _, call := e.(*ql.Call); return !call }))
}

func TestParams(t *testing.T) {
	tests := []struct {
		text string
		want int
	}{
		{`get t`, 0},
		{`get t where a = $1`, 1},
		{`get $7 as x from t where a = $1`, 7},
		{`get t where a in [$1, f(-$3)] or $2`, 3},
		{`put t $4`, 4},
		{`put t {a: $1} {a: case when $3 then $2 end}`, 3},
		{`set t {a: $2} where a = $1`, 2},
		{`del t where a is null or $5 is null`, 5},
		{`explain get t where a = $2`, 2},
		{`get t where a in (get b from u where c = $3) lookup u on a where b = $4`, 4},
		{`get t match a $1 rerank b $2`, 2},
		{`put t $1 if absent else set {a: $2}`, 2},
		{`collections`, 0},
	}
	for _, tt := range tests {
		s, err := ql.Parse(tt.text)
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, ql.Params(s), tt.text)
	}
}
