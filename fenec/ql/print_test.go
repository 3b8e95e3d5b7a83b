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
		{`get * from t order a asc, b.c desc order d offset 2 limit 1 count`,
			`get t select * order by a, b.c desc, d limit 1 offset 2 count`},
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
	g := grower{rand.New(rand.NewPCG(seed, 1))}
	for range 2_000 {
		requireSamePrinted(t, g.statement())
	}
}
