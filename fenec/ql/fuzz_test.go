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
	`get t near v $1`,
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
