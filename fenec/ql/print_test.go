package ql_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

func TestPrint(t *testing.T) {
	tests := []struct{ text, want string }{
		{`SELECT a, B as c FROM t WHERE a==1 AND NOT b<>2`, `get t select a, B as c where a = 1 and not b != 2`},
		{`get * from t order a asc, b.c desc order d offset 2 limit 1`,
			`get t select * order by a, b.c desc, d limit 1 offset 2`},
		{`get t count where a`, `get t where a count`},
		{`get t limit 2 near v $1 exact ef 7 where not`, `get t where (not) near v $1 ef 7 exact limit 2`},
		{`get *, HIGHLIGHT(a, "<", ">"), snippet(b, 3, $1) from t match a "x" near v $1 fuse candidates 5 k 0`,
			`get t select *, highlight(a, "<", ">"), snippet(b, 3, $1) near v $1 match a "x" fuse k 0 candidates 5`},
		{`get t match a (not) rerank v $1 candidates 3`, `get t match a (not) rerank v $1 candidates 3`},
		{`get k, COUNT(*) as n from t group k, m.x having n > sum(distinct) order sum(a) collate tr desc, k collate und`,
			`get t select k, COUNT(*) as n group by k, m.x having n > sum(distinct) order by sum(a) collate tr desc, k collate und`},
		{`get t require 2 facet a top 3 disjunctive, b.c ranges [- 1, -0.5, 2]`,
			`get t require 2 facet a top 3 disjunctive, b.c ranges [-1, -0.5, 2]`},
		{`get t lookup u on k = p offset 1 required select a, b.c lookup v on w select *`,
			`get t lookup u on k = p select a, b.c offset 1 required lookup v on w select *`},
		{`del t returning a.b, c require 1`, `del t returning a.b, c require 1`},
		{`set t {} returning * limit 1`, `set t {} limit 1 returning *`},
		{`put t {} if absent else set {a: new.a} require 1`, `put t {} if absent else set {a: new.a} require 1`},
		{`insert t $1 if absent`, `insert t $1 if absent`},
		{`create index if not exists on t (a.b) @unique`, `create index if not exists on t (a.b) @unique`},
		{`create collection t (a vec<2> @vector, b vec<2> @hnsw(ip, ef=5, quant=i8, m=3, ef_c=9), c text @bm25, d text @text(chars, prefix_max=6, b=1), e sparsevec<9> @inverted, f geo @geo, g timestamp @TTL(1H), h text collate TR)`,
			`create collection t (a vector<2> @hnsw(cosine), b vector<2> @hnsw(dot, m=3, ef_construction=9, ef_search=5, quant=int8), c text @text, d text @text(b=1.0, prefix=6, chars), e sparse<9> @inverted, f geo @geo, g timestamp @ttl(1h), h text collate tr)`},
		{`alter collection t add a int`, `alter collection t add field a int`},
		{`alter collection t drop a`, `alter collection t drop field a`},
		{`alter collection t rename a to b`, `alter collection t rename field a to b`},
		{`alter collection t alter a @sorted`, `alter collection t alter field a @sorted`},
		{`get from from`, `get from from`},
		{`explain get t`, `explain get t`},
		{`put into t [{a: 1, "b c": 'x'}, {}]`, `put t {a: 1, "b c": "x"} {}`},
		{`insert into t $1`, `insert t $1`},
		{`update t set {a.b: 1, "a.b": 2} limit 3`, `set t {a.b: 1, "a.b": 2} limit 3`},
		{`delete from t where a`, `del t where a`},
		{`del from from`, `del from from`},
		{`create collection IF NOT EXISTS t (a String required @unique, b [vec<3,f16>] @hash)`,
			`create collection if not exists t (a text required @unique, b [vector<3, f16>] @hash)`},
		{`drop collection if exists t`, `drop collection if exists t`},
		{`drop collection t`, `drop collection t`},
		{`collections`, `collections`},
		{`describe t`, `describe t`},
		{`compact`, `compact`},
		{`compact t`, `compact t`},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, ql.Print(parse(t, tt.text)))
	}
}

func TestPrintExpr(t *testing.T) {
	for _, text := range []string{
		// Texts that print as they are.
		`a or b and not c = d + e * -f`,
		`(a or b) and (not c) = (d = e)`,
		`(a + b) * c - (d - e)`,
		`a in [1, b, "x"]`,
		`a + 1 in []`,
		`(a in [1]) is not null`,
		`not a is null`,
		`- - -a`,
		`-(1)`,
		`-(-1.5)`,
		`-(a + b)`,
		`-9223372036854775808`,
		`1.0`,
		`1e+21`,
		`5e-324`,
		`1.7976931348623157e+308`,
		`"a\"b\\c\n\t\r\0d'e"`,
		`{a: [1, {"b.c": null}], "": true}`,
		`case when a then b when c then d else e end`,
		`bucket(a, 15m)`,
		`bucket(a, 1 e5)`,
		`bucket(a, 1 _)`,
		`a in (get u select b where c in (get v select count(*)) order by d limit 5)`,
		`first((not) by not)`,
		`count(distinct a) + count() + count(*)`,
		`case when (not) then (case) when b then case else (not) end`,
		`not not`,
		`(not) and not`,
		`(not) - 1`,
		`not + 1`,
		`a = not and b`,
		`-not and b`,
		`(not) is null`,
		`case when a then a = (case) when b then c end`,
	} {
		require.Equal(t, text, ql.PrintExpr(parseExpr(t, text)))
	}
}

func TestOperatorNames(t *testing.T) {
	require.Equal(t, "has", ql.OpHas.String())
	require.Equal(t, "?", ql.Op(0).String())
	require.Equal(t, "?", ql.Op(200).String())
	require.Equal(t, "sorted", ql.IndexSorted.String())
	require.Equal(t, "timestamp", ql.TypeTimestamp.String())
}

// requireSamePrinted checks that a statement's text is the statement.
func requireSamePrinted(t testing.TB, s ql.Statement) {
	t.Helper()
	printed := ql.Print(s)
	again, err := ql.Parse(printed)
	require.NoError(t, err, printed)
	unplace(reflect.ValueOf(s))
	unplace(reflect.ValueOf(again))
	if !same(s, again) {
		require.Equal(t, s, again, printed)
		require.Fail(t, "a float changed", printed)
	}
	require.Equal(t, printed, ql.Print(again))
}

// same reports whether two trees are equal, to the sign of a zero.
func same(a, b ql.Statement) bool {
	return reflect.DeepEqual(a, b) && slices.Equal(floatBits(a), floatBits(b))
}

func floatBits(n ql.Node) []uint64 {
	var bits []uint64
	ql.Walk(n, func(e ql.Expr) bool {
		if l, ok := e.(*ql.Literal); ok && l.Kind == ql.Float {
			bits = append(bits, math.Float64bits(l.Float))
		}
		return true
	})
	return bits
}

func TestPrintedStatementsParse(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	g := grower{Rand: rand.New(rand.NewPCG(seed, 1))}
	for range 2_000 {
		requireSamePrinted(t, g.statement())
	}
}
