package ql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func TestParseAggregates(t *testing.T) {
	a, b := field("a"), field("b")
	tests := []struct {
		text string
		want *ql.Call
		name string // of the column
	}{
		{`count(*)`, &ql.Call{Name: "count", Star: true}, "count"},
		{`Count( )`, call("Count"), "count"},
		{`count( DISTINCT  a )`, &ql.Call{Name: "count", Distinct: true, Args: []ql.Expr{a}}, "count(distinct a)"},
		{`count(distinct a,)`, &ql.Call{Name: "count", Distinct: true, Args: []ql.Expr{a}}, "count(distinct a)"},
		{`count(distinct -a)`, &ql.Call{Name: "count", Distinct: true, Args: []ql.Expr{neg(a)}}, "count(distinct -a)"},
		{`count(distinct distinct)`, &ql.Call{Name: "count", Distinct: true, Args: []ql.Expr{field("distinct")}}, "count(distinct distinct)"},
		{`sum(distinct)`, call("sum", field("distinct")), "sum(distinct)"},
		{`SUM( m.x*2 )`, call("SUM", op(&ql.Path{Field: "m", Keys: []string{"x"}}, ql.OpMul, integer(2))), "SUM(m.x * 2)"},
		{`first(a by b)`, &ql.Call{Name: "first", Args: []ql.Expr{a}, By: b}, "first(a by b)"},
		{`last(by by by)`, &ql.Call{Name: "last", Args: []ql.Expr{field("by")}, By: field("by")}, "last(by by by)"},
		{`last(a)`, call("last", a), "last(a)"},
		{`hll_accumulate(a)`, call("hll_accumulate", a), "hll_accumulate(a)"},
	}
	for _, tt := range tests {
		e := parseExpr(t, tt.text)
		require.Equal(t, ql.Expr(tt.want), e, tt.text)
		require.Equal(t, tt.name, ql.CallName(tt.want), tt.text)
		require.True(t, ql.HasAggregate(e), tt.text)
	}
}

func TestRefusedAggregates(t *testing.T) {
	for _, text := range []string{
		`count(a)`, `count(a, b)`, `count(distinct a, b)`, `count(distinct)`, `count(distinct *)`, `count(*, a)`, `count(*`,
		`sum()`, `sum(*)`, `sum(a, b)`, `sum(distinct a)`, `min(a by b)`, `first(a by b by a)`, `first(a, b)`, `first(a by b, a)`,
		`first(by b)`, `lower(*)`, `now(*)`, `lower(distinct a)`, `lower(a by b)`,
		`sum(sum(a))`, `sum(1 + lower(max(a)))`, `first(a by count(*))`, `count(distinct count(*))`,
		`sum(case when count(*) then 1 end)`, `approx_count_distinct()`, `hll_combine(a, b)`,
	} {
		_, err := ql.ParseExpr(text)
		require.ErrorIs(t, err, &fault.Error{Kind: fault.Query}, text)
	}
}

func TestHasAggregate(t *testing.T) {
	tests := []struct {
		text string
		want bool
	}{
		{`a + 1`, false},
		{`lower(a)`, false},
		{`"count(*)"`, false},
		{`1 + SUM(a) * 2`, true},
		{`case when a then b else max(c) end`, true},
		{`a in [1, count(*)]`, true},
		{`a in (get max(b) from u)`, false},
		{`max(a) in (get b from u)`, true},
		{`a in (get max(b) from u) or min(a) > 1`, true},
		{`sum(case when a in (get max(b) from u) then 1 end)`, true},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, ql.HasAggregate(parseExpr(t, tt.text)), tt.text)
	}
	require.False(t, ql.HasAggregate(nil))
}

func TestIsAggregate(t *testing.T) {
	for _, name := range []string{"count", "SUM", "Approx_Count_Distinct", "hll_combine"} {
		require.True(t, ql.IsAggregate(name), name)
	}
	for _, name := range []string{"", "counts", "lower", "hll_estimate", "fir\u017ft", "approx\x7fcount\x7fdistinct"} {
		require.False(t, ql.IsAggregate(name), name)
	}
}
