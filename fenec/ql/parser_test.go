package ql_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func TestParseStatements(t *testing.T) {
	limit := func(n int64) *int64 { return &n }
	a, b := field("a"), field("b")
	tests := []struct {
		text string
		want ql.Statement
	}{
		// get
		{`get t`, &ql.Get{From: name("t")}},
		{`SELECT * FROM t`, &ql.Get{From: name("t"), Star: true}},
		{`get from t`, &ql.Get{From: name("t")}},
		{`get t select *`, &ql.Get{From: name("t"), Star: true}},
		{`get a, m.k from t`, &ql.Get{From: name("t"), Columns: []ql.Column{
			{Expr: a}, {Expr: &ql.Path{Field: "m", Keys: []string{"k"}}}}}},
		{`get a + 1 as next, b from t`, &ql.Get{From: name("t"), Columns: []ql.Column{
			{Expr: op(a, ql.OpAdd, integer(1)), As: name("next")}, {Expr: b}}}},
		{`get t select a select b`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: b}}}},
		{`get a from t select *`, &ql.Get{From: name("t"), Star: true}},
		{`get * from t select a`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: a}}}},
		{`get t where a where b`, &ql.Get{From: name("t"), Where: b}},
		{`get t order a`, &ql.Get{From: name("t"), Order: []ql.Key{{Path: *a}}}},
		{`get t order by a desc, b asc`, &ql.Get{From: name("t"), Order: []ql.Key{
			{Path: *a, Desc: true}, {Path: *b}}}},
		{`get item order kind order price`, &ql.Get{From: name("item"), Order: []ql.Key{
			{Path: *field("kind")}, {Path: *field("price")}}}},
		{`get item limit 1 limit 3`, &ql.Get{From: name("item"), Limit: limit(3)}},
		{`get t offset 4 limit 0`, &ql.Get{From: name("t"), Limit: limit(0), Offset: limit(4)}},
		{`get t count where a`, &ql.Get{From: name("t"), Where: a, Count: true}},
		{`explain select a from t`, &ql.Explain{Get: &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: a}}}}},

		// No word is reserved.
		{`get count`, &ql.Get{From: name("count")}},
		{`get get`, &ql.Get{From: name("get")}},
		{`get select`, &ql.Get{From: name("select")}},
		{`get from`, &ql.Get{From: name("from")}},
		{`get from from`, &ql.Get{From: name("from")}},
		{`get from from t`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: field("from")}}}},
		{`get from from where a`, &ql.Get{From: name("from"), Where: a}},
		{`get from where`, &ql.Get{From: name("where")}},
		{`get from, a from t`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: field("from")}, {Expr: a}}}},
		{`get as from t`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: field("as")}}}},
		{`get as as as from t`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: field("as"), As: name("as")}}}},
		{`get limit limit 1`, &ql.Get{From: name("limit"), Limit: limit(1)}},
		{`get not where a`, &ql.Get{From: name("not"), Where: a}},
		{`get not a as x from t`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: not(a), As: name("x")}}}},
		{`get not "a" as x from t`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: not(text("a")), As: name("x")}}}},
		{`get case when a then b end as c from t`, &ql.Get{From: name("t"), Columns: []ql.Column{
			{Expr: &ql.Case{Whens: []ql.When{{Cond: a, Then: b}}}, As: name("c")}}}},
		{`get case where case`, &ql.Get{From: name("case"), Where: field("case")}},
		{`get true limit 1`, &ql.Get{From: name("true"), Limit: limit(1)}},
		{`get true as yes from t`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: boolean(true), As: name("yes")}}}},
		{`get -a as n from t`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: neg(a), As: name("n")}}}},
		{`get 1 as n from t`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: integer(1), As: name("n")}}}},
		{`get a is null as n from t`, &ql.Get{From: name("t"), Columns: []ql.Column{{Expr: &ql.IsNull{X: a}, As: name("n")}}}},
		{`get count, limit, order from c where limit = 2 order order`, &ql.Get{From: name("c"),
			Columns: []ql.Column{{Expr: field("count")}, {Expr: field("limit")}, {Expr: field("order")}},
			Where:   op(field("limit"), ql.OpEq, integer(2)), Order: []ql.Key{{Path: *field("order")}}}},
		{`get t order by`, &ql.Get{From: name("t"), Order: []ql.Key{{Path: *field("by")}}}},
		{`get t order by by`, &ql.Get{From: name("t"), Order: []ql.Key{{Path: *field("by")}}}},
		{`get t order desc desc`, &ql.Get{From: name("t"), Order: []ql.Key{{Path: *field("desc"), Desc: true}}}},
		{`get t order true`, &ql.Get{From: name("t"), Order: []ql.Key{{Path: *field("true")}}}},

		// put, set, del
		{`put t {}`, &ql.Put{Into: name("t"), Docs: []ql.Document{nil}}},
		{`put t {a: 1} {b: 2,}`, &ql.Put{Into: name("t"), Docs: []ql.Document{
			{pair("a", integer(1))}, {pair("b", integer(2))}}}},
		{`insert into t [{a: b}, {},]`, &ql.Put{Insert: true, Into: name("t"), Docs: []ql.Document{
			{pair("a", b)}, nil}}},
		{`put into t $2`, &ql.Put{Into: name("t"), Param: &ql.Param{N: 2}}},
		{`insert into {}`, &ql.Put{Insert: true, Into: name("into"), Docs: []ql.Document{nil}}},
		{`put t {a: 1, a: 2, "b.c": 3, b.c: 4, true: 5}`, &ql.Put{Into: name("t"), Docs: []ql.Document{{
			pair("a", integer(1)), pair("a", integer(2)), pair("b.c", integer(3)),
			{Path: ql.Path{Field: "b", Keys: []string{"c"}}, Value: integer(4)}, pair("true", integer(5))}}}},
		{`set t {a: a + 1} where b order a limit 1 where a`, &ql.Set{Name: name("t"),
			Pairs: ql.Document{pair("a", op(a, ql.OpAdd, integer(1)))},
			Where: a, Order: []ql.Key{{Path: *a}}, Limit: limit(1)}},
		{`update set set {}`, &ql.Set{Name: name("set")}},
		{`del t`, &ql.Del{From: name("t")}},
		{`delete from t where a limit 2`, &ql.Del{From: name("t"), Where: a, Limit: limit(2)}},
		{`del from`, &ql.Del{From: name("from")}},

		// schema and maintenance
		{`create collection if not exists t (a text required @unique, b [[int]] @hash required, c vec<8, F16>, d VECTOR<2,f32>, e blob,)`,
			&ql.CreateCollection{IfNotExists: true, Name: name("t"), Fields: []ql.FieldDef{
				{Name: name("a"), Type: ql.TypeDef{Kind: ql.TypeText}, Required: true, Index: &ql.IndexDef{Kind: ql.IndexUnique}},
				{Name: name("b"), Type: ql.TypeDef{Kind: ql.TypeList, Elem: &ql.TypeDef{Kind: ql.TypeList, Elem: &ql.TypeDef{Kind: ql.TypeInt}}},
					Required: true, Index: &ql.IndexDef{Kind: ql.IndexHash}},
				{Name: name("c"), Type: ql.TypeDef{Kind: ql.TypeVector, Dim: 8, Half: true}},
				{Name: name("d"), Type: ql.TypeDef{Kind: ql.TypeVector, Dim: 2}},
				{Name: name("e"), Type: ql.TypeDef{Kind: ql.TypeBytes}},
			}}},
		{`create collection if (if int)`, &ql.CreateCollection{Name: name("if"), Fields: []ql.FieldDef{
			{Name: name("if"), Type: ql.TypeDef{Kind: ql.TypeInt}}}}},
		{`create collection t (a vector<0>)`, &ql.CreateCollection{Name: name("t"), Fields: []ql.FieldDef{
			{Name: name("a"), Type: ql.TypeDef{Kind: ql.TypeVector}}}}},
		{`drop collection t`, &ql.DropCollection{Name: name("t")}},
		{`drop collection if exists t`, &ql.DropCollection{IfExists: true, Name: name("t")}},
		{`drop collection if`, &ql.DropCollection{Name: name("if")}},
		{`collections`, &ql.Collections{}},
		{`describe t`, &ql.Describe{Name: name("t")}},
		{`compact`, &ql.Compact{}},
		{`compact t`, &ql.Compact{Name: name("t")}},
		{`compact compact`, &ql.Compact{Name: name("compact")}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			require.Equal(t, tt.want, parse(t, tt.text))
		})
	}
}

// lines returns the lines of a file of statements.
func lines(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func TestParseAccepts(t *testing.T) {
	for _, text := range append(lines(t, "testdata/parses.txt"), `get t;`, `;;get t -- done`) {
		script, err := ql.ParseScript(text)
		require.NoError(t, err, text)
		for _, s := range script {
			requireSamePrinted(t, s)
		}
		if len(script) == 1 {
			_, err = ql.Parse(text)
			require.NoError(t, err, text)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range append(lines(t, "testdata/refuses.txt"),
		``, ` ; -- nothing`,

		`get t; get u`, `get t limit -1`, `get t limit 1.5`, `get t limit $1`, `get t limit 1_`,
		`get t limit 9223372036854775808`, `get t offset`, `get t order by a,`, `get t order 1`,
		`get t where kind not in ["part"]`, `get t where kind in $1`, `get t where a in 1`, `get t where a in (1)`, `get t where a in (get b from u`,
		`get t where a = $0`, `get t where a = $`, `get t where a = $99999999999999999999`,
		`get t where a = b = c`, `get t where a is null is null`, `get t where a is 1`, `get t where a is not`,
		`get t where not`+"\x00", `get t where a &&  b`, `get t where a = .5`, `get t where a = 1.`, `get t where a = 1e`,
		`get t where a = 1e+`, `get t where a = 1_`, `get t where a = 1__0`, `get t where a = 1_x`, `get t where a = 1e999`,
		`get t where meta. = 1`, `get t where .meta = 1`, `get t where meta..b = 1`, `get t where meta.1x = 1`,
		`get t where case end`, `get t where case when a end`, `get t where case when a then b`,
		`get t where lower(,)`, `get t where lower(a`, `get t where m.lower(a)`, `get t where true()`,
		`get t where count(*)`, `get t where count(distinct a)`, `get t where first(a by b)`,
		`get bucket(15m, a) from t`, `get bucket(a, b, 15m) from t`, `get lower(a, 15m) from t`,
		`get t where [a]`, `get t where [$1]`, `get t where [1 + 1]`, `get t where [-a]`, `get t where [-]`, `get t where [,]`,
		`get t where {a: b}`, `get t where {a: 1, a: 2}`, `get t where {a: 1, "a": 2}`, `get t where {1: 1}`, `get t where {a 1}`,
		`get *, a from t`, `get a from`, `get a as from`, `get a as b.c from t`, `get from t.u`, `get t select a,`, `get a.b`,

		`put t []`, `put t [$1]`, `put t {a: 1}, {a: 2}`, `put t [{a: 1} {a: 2}]`, `put t 1`, `put t {1: 2}`, `put t.u {}`,
		`put t {a: 9223372036854775808}`, `put t {a: 99999999999999999999}`, `put t {a: - -9223372036854775808}`, `put t {a: -9223372036854775809}`,
		`set t {a: 1} offset 1`, `set t set`, `set t {a: 1} select a`, `del t offset 1`, `del t count`,
		`explain set t {a: 1}`, `explain`, `describe`, `describe t u`, `collections t`, `compact get t`,
		`create`, `create collection c ()`, `create collection c (a.b int)`, `create collection c (a nosuch)`,
		`create collection c (a vector<3, f8>)`, `create collection c (a vector)`, `create collection c (a vector<-1>)`,
		`create collection c (a int @)`, `create collection c (a int @nosuch)`, `create collection c (a int @hash @unique)`,
		`create collection c (a int b int)`, `create collection c (a [int)`, `create collection if not c (a int)`,
		`drop collection`, `drop collection if exists`, `drop collection a.b`,
		`begin`, `get t where a "b"`, `"get" t`, "\u017felect * from t",
	) {
		s, err := ql.Parse(text)
		require.ErrorIs(t, err, &fault.Error{Kind: fault.Query}, text)
		require.Nil(t, s, text)
	}
}

func TestParseScript(t *testing.T) {
	tests := []struct {
		text string
		want int // statements, or 0 for an error
	}{
		{``, 0},
		{` ; `, 0},
		{`get t`, 1},
		{`get t; get u`, 2},
		{`get t get u`, 2},
		{"create collection t (a int) put t {a: 1} {a: 2}\nset t {a: 2} del t; compact; get t; compact t", 7},
		{`compact compact`, 1},
		{`collections collections describe t explain get t drop collection t`, 5},
		{`get t where a insert t {} update t {} delete from t select * from t`, 5},
		{`get t; nonsense`, 0},
		{`get t; get`, 0},
	}
	for _, tt := range tests {
		script, err := ql.ParseScript(tt.text)
		if tt.want == 0 {
			require.Error(t, err, tt.text)
			require.Nil(t, script, tt.text)
			continue
		}
		require.NoError(t, err, tt.text)
		require.Len(t, script, tt.want, tt.text)
	}
}
