package ql_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// seeds are texts from which the fuzzer can reach all of the grammar.
var seeds = []string{
	`get t`,
	`select * from t`,
	`select a, b from t where a = 1 and (b > 2 or not c) order by a desc, b limit 10 offset 20`,
	`get t select a, meta.kind, a + 1 as next`,
	`get t where a in ["x", $1, lower($2),]`,
	`get t where meta.a.b.c has "x" and title ~ "y"`,
	`get t where a is null or b is not null count`,
	`get t where ts > now() - 3600000`,
	`get t where case when a > 1 then b when not c then (case) else -d end = 2`,
	`get bucket(at, 15m) as slot, bucket(at, 1 e5) as other from t`,
	`explain get t where a = 1`,
	`put t {a: 1, "b": 'two', c: [1, -2.5e3], d: {x: {y: null}}, e: $1, f: now(), meta.k: true,}`,
	`put t {a: 1} {a: 2}`,
	`insert into t [{a: 1}, {a: 2},]`,
	`put t $1`,
	`set t {a: a + 1, meta.x: null} where id = $1 order b limit 1`,
	`update t set {a: 1_000 / -b * - -2}`,
	`del t where id in [1, 2]`,
	`delete from t where expired() and a <> 1 and b == 2 and c <= 3 and d >= 4 and e != 5 and f < 6`,
	`create collection if not exists t (a text required @unique, b string @sorted, c jsonb, d timestamptz, e vec<8, f16>, g [int] @hash, j blob,)`,
	`drop collection if exists t`,
	`collections`,
	`describe t`,
	`compact t; compact`,
	"get çam -- comment\nwhere \"a\\n\\\"\\\\\\0\\é\n\" = 'ü' # end",
	`get from from from; get not where (not) and not - 1 or case`,
	`get t where {"a": [true, {}, []], b.c: false} = -9223372036854775808`,
	`get t where a not in [1]`,
	`get *, highlight(a, "<", ">"), snippet(b, 30, "…") from t match a $1 limit 10`,
	`get t near v [0.1, -0.2, 3e-2] ef 200 exact where kind = "a" limit 5`,
	`get t match body "x" rerank v $1 candidates 50 facet kind top 5, price ranges [-1, 9.5, 100], brand.x disjunctive`,
	`get t match body $1 near v $2 fuse k 10 candidates 100 offset 5`,
	`get t order title collate tr asc, n desc collate und require 3`,
	`get kind, count(*) as n, sum(a) / count() as m, first(b by at) from t group by kind, bucket(at, 1d) having n > 2 order by sum(a) desc`,
	`get count(distinct user) from t`,
	`get t where a in (get b from u where c in (get max(d) from w) order d limit 5) count`,
	`get t count lookup u on t_id = id select a, b.c where b = 2 order d limit 2 offset 1 required lookup w on u_id select *`,
	`put t {a: 1} if absent else set {n: n + new.n} require 1`,
	`set t {a: 1} returning id, a.b require 1`,
	`del t returning *`,
	`create collection t (a text collate tr @text(k1=1.2, b=0, prefix=6, prefix_min=2, chars), d timestamp @ttl(30d), e vec<8> @hnsw(cos, m=8, ef_c=64, ef=50, quant=bit), h sparse<9> @inverted, i geo @geo)`,
	`create index if not exists on t (meta.kind) @bm25()`,
	`alter collection t add field z int @sorted; alter collection t drop field z`,
	`alter collection t rename field to to to; alter collection t alter d @ttl(7d)`,
	`get t where "open`,
	`get t where a = 1e`,
	`get t where ((((((((((1))))))))))`,
	"\xff",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ql.Parse(text)
		if err != nil {
			requireError(t, text, err)
		} else {
			requireSamePrinted(t, s)
			require.GreaterOrEqual(t, ql.Params(s), 0)
		}

		script, scriptErr := ql.ParseScript(text)
		if scriptErr != nil {
			requireError(t, text, scriptErr)
		}
		for _, s := range script {
			requireSamePrinted(t, s)
		}
		if err == nil && scriptErr == nil {
			require.Equal(t, 1, len(script), "one statement, or several")
		}

		e, err := ql.ParseExpr(text)
		if err != nil {
			requireError(t, text, err)
			return
		}
		printed := ql.PrintExpr(e)
		again, err := ql.ParseExpr(printed)
		require.NoError(t, err, printed)
		unplace(reflect.ValueOf(e))
		unplace(reflect.ValueOf(again))
		require.Equal(t, e, again, printed)
		require.Equal(t, floatBits(e), floatBits(again), printed)
	})
}

// requireError checks that err points into text.
func requireError(t *testing.T, text string, err error) {
	t.Helper()
	var e *ql.Error
	require.True(t, errors.As(err, &e))
	require.NotEmpty(t, e.Msg)
	if !utf8.ValidString(text) {
		return
	}
	before := string([]rune(text)[:e.Offset])
	require.Equal(t, strings.Count(before, "\n")+1, e.Line)
	require.Equal(t, utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])+1, e.Column)
	near := strings.TrimSuffix(e.Near, "…")
	require.True(t, strings.HasPrefix(text[len(before):], near))
}
