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
		{`collections`, 0},
	}
	for _, tt := range tests {
		s, err := ql.Parse(tt.text)
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, ql.Params(s), tt.text)
	}
}
