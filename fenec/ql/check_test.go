package ql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

// Clauses that stand beside each other.
func TestClausesTogether(t *testing.T) {
	for _, text := range []string{
		`get t where a count`,
		`get t count facet a`,
		`get t count lookup u on a required`,
		`get t count lookup u on a required lookup w on b`,
		`get a, count(*) from t group a having n > 1 count`,
		`get a, count(*) from t group a order sum(b), a limit 1 offset 2 require 3`,
		`get t order a limit 1 offset 2 require 3 facet a`,
		`get t limit 3 facet a lookup u on b required`,
		`get t near v $1 where a limit 10000 require 2`,
		`get t near v $1 limit 1 offset 9999`,
		`get t near v $1 offset 10000`,
		`get t match a $1 limit 3 facet b`,
		`get t match a $1 rerank v $2 facet b`,
		`get t match a $1 near v $2 fuse`,
		`get t fuse near v $2 match a $1`,
		`get t limit 20000 offset 20000`,
		`get t select a, highlight(b) select c`,
		`get t where a in (get b from u where c order d limit 5 offset 1)`,
		`get t where a in (get sum(b) as n from u)`,
		`get t where a in (get count(*) from u group c)`,
		`set t {} where a in (get b from u)`,
		`get t lookup u on a where b in (get c from t)`,
	} {
		_, err := ql.Parse(text)
		require.NoError(t, err, text)
	}
}

// Clauses that do not.
func TestClausesApart(t *testing.T) {
	for _, text := range []string{
		`get t count limit 1`,
		`get t offset 1 count`,
		`get t order a count`,
		`get t select a count`,
		`get * from t count`,
		`get t count require 5`,
		`get t near v $1 count`,
		`get t match a $1 count`,
		`get t count lookup u on a`,
		`get t count lookup u on a lookup w on b required`,
		`get a, count(*) from t group a count limit 1`,
		`get a, count(*) from t group a count order a`,
		`get t having count(*) > 1`,
		`get t order sum(a)`,
		`get t near v $1 order a`,
		`get t near v $1 facet a`,
		`get t near v $1 lookup u on a`,
		`get t near v $1 match a $2`,
		`get a, count(*) from t near v $1 group a`,
		`get t match a $1 order b`,
		`get t match a $1 lookup u on a`,
		`get a, count(*) from t match a $1 group a`,
		`get a, count(*) from t group a lookup u on a`,
		`get a, count(*) from t group a facet a`,
		`get t rerank v $1`,
		`get t near v $2 rerank v $1`,
		`get t match a $1 fuse`,
		`get t near v $1 fuse`,
		`get t match a $1 near v $2 fuse order b`,
		`get t match a $1 near v $2 fuse rerank v $3`,
		`get t match a $1 near v $2 fuse facet b`,
		`get t near v $1 limit 10001`,
		`get t near v $1 limit 1 offset 10000`,
		`get t near v $1 offset 10001`,
		`get t match a $1 limit 9223372036854775807 offset 9223372036854775807`,
		`get t where a in (get u)`,
		`get t where a in (get * from u)`,
		`get t where a in (get b, c from u)`,
		`get t where a in (get b + 1 as c from u)`,
		`get t where a in (get lower(b) as c from u)`,
		`get t where a in (get highlight(b) from u match b $1)`,
		`get t where a in (get u count)`,
		`get t where a in (get b from u require 1)`,
		`get t where a in (get b from u facet b)`,
		`get t where a in (get b from u lookup w on b)`,
		`get t lookup t on a`,
		`get t lookup u on a lookup w on b lookup u on c`,
	} {
		_, err := ql.Parse(text)
		require.ErrorIs(t, err, &fault.Error{Kind: fault.Query}, text)
		require.NotContains(t, err.Error(), "expected", text)
	}
}

// Clauses that are wrong in themselves.
func TestClausesAlone(t *testing.T) {
	for _, text := range []string{
		`get t require $1`, `get t require -1`, `get t require`, `get t require 1.5`,
		`get t near v $1 ef 0`, `get t near v $1 ef $2`, `get t near v $1 ef -1`, `get t near a.b $1`, `get t near`,
		`get t match a`, `get t match a.b $1`, `get t match $1`,
		`get t match a $1 rerank v $2 candidates 0`, `get t match a $1 rerank v $2 candidates 10001`, `get t match a $1 rerank v $2 ef 1`,
		`get t match a $1 near v $2 fuse candidates 0`, `get t match a $1 near v $2 fuse candidates 10001`,
		`get t match a $1 near v $2 fuse k -1`, `get t match a $1 near v $2 fuse k $3`,
		`get t facet`, `get t facet a,`, `get t facet a, a`, `get t facet a top 0`, `get t facet a top 10001`, `get t facet a top $1`,
		`get t facet a top -1`, `get t facet a ranges [1]`, `get t facet a ranges []`, `get t facet a ranges [2, 1]`,
		`get t facet a ranges [1, 1.0]`, `get t facet a ranges [1, $1]`, `get t facet a ranges [1, "2"]`, `get t facet a ranges [1, 2,]`,
		`get t facet a top 2 ranges [1, 2]`, `get t facet a ranges [1, 2] top 2`, `get t facet a disjunctive top 1`, `get t facet a + 1`,
		`get t facet a ranges [9007199254740993, 9007199254740992]`,
		`get t group a,`, `get count(*) from t group sum(a)`,
		`get t order a collate de`, `get t order a collate`, `get a, count(*) from t group a order lower(a)`,
		`get a, count(*) from t group a order sum(a + 1)`, `get a, count(*) from t group a order first(a by b)`,
		`get a, count(*) from t group a order count()`, `get a, count(*) from t group a order m.sum(a)`,
		`get t lookup u`, `get t lookup u on`, `get t lookup u on a.b`, `get t lookup u on a = b.c`, `get t lookup u.v on a`,
		`get t lookup u on a select b as c`, `get t lookup u on a select b + 1`, `get t lookup u on a order sum(b)`,
		`get t lookup u on a near v $1`, `get t lookup u on a require 1`, `get t lookup u on a count`,
		`get *, a from t`, `get * as b from t`, `get highlight(a) as b from t`, `get highlight(a.b) from t`, `get highlight() from t`,
		`get highlight(a, "<") from t`, `get highlight(a, "<", ">", "x") from t`, `get highlight(a, b, c) from t`,
		`get highlight(a), highlight(a) from t`, `get highlight(a) + 1 as b from t`, `get (highlight(a)) as b from t`,
		`get t where snippet(a, 1) = 1`, `get snippet(a) from t`, `get snippet(a, 0) from t`, `get snippet(a, $1) from t`,
		`get snippet(a, 1, "", "") from t`, `get snippet(a, 1, "", "", "", "") from t`,
		`put t {a: 1} else set {b: 1}`, `put t {a: 1} if absent else {b: 1}`, `put t {a: 1} if`, `put t {a: 1} if absent else`,
		`put t {a: 1} require 1 if absent`, `put t {a: sum(b)}`, `put t {} if absent else set {a: count(*)}`,
		`set t {a: max(b)}`, `set t {a: 1} order sum(a)`, `set t {a: 1} returning`, `set t {a: 1} returning a,`,
		`set t {a: 1} returning a as b`, `set t {a: 1} require -1`, `del t returning a + 1`, `del t where count(*) > 1`,
		`del t require $1`, `get t where a in (set u {b: 1})`, `get t where a in (u)`, `get t where a in get b from u`,
	} {
		_, err := ql.Parse(text)
		require.ErrorIs(t, err, &fault.Error{Kind: fault.Query}, text)
	}
}
