package expr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/expr"
	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
	"github.com/fenec-go/fenecdb/fenec/internal/value/valuetest"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func TestExpired(t *testing.T) {
	col := collection(t, `n int, at timestamp @ttl(10m)`)
	c := expr.NewCompiler(col)
	e, err := ql.ParseExpr("Expired() and n = 1")
	require.NoError(t, err)
	x, err := c.Compile(e, expr.Filter)
	require.NoError(t, err)
	require.False(t, x.Constant())
	for doc, want := range map[string]bool{
		`{"n": 1, "at": 1780271400000}`: true,
		`{"n": 1, "at": 1780271400001}`: false,
		`{"n": 1, "at": 0}`:             true,
		`{"n": 2, "at": 0}`:             false,
		`{"n": 1}`:                      false,
	} {
		var f expr.Frame
		f.Reset(c, nil, t0)
		require.NoError(t, f.Stand(1, encode(t, col, doc)))
		got, err := x.Test(&f)
		require.NoError(t, err)
		require.Equal(t, want, got, doc)
		live, err := c.Live().Test(&f)
		require.NoError(t, err)
		require.Equal(t, doc != `{"n": 2, "at": 0}` && !want, live, doc)
		at, err := c.Cutoff().Eval(&f)
		require.NoError(t, err)
		require.True(t, valuetest.Identical(value.Timestamp(t0-600_000), at))
	}
}

func TestExpiredRefused(t *testing.T) {
	e, err := ql.ParseExpr("expired()")
	require.NoError(t, err)
	with := expr.NewCompiler(collection(t, `at timestamp @ttl(10m)`))
	for _, fields := range []expr.Fields{expr.Late, expr.Early, expr.None} {
		_, err = with.Compile(e, fields)
		require.Equal(t, fault.Query, fault.KindOf(err))
	}
	without := expr.NewCompiler(collection(t, `at timestamp @sorted`))
	_, err = without.Compile(e, expr.Filter)
	require.Equal(t, fault.Query, fault.KindOf(err))
	require.Nil(t, without.Live())
	many, err := ql.ParseExpr("expired(1)")
	require.NoError(t, err)
	_, err = with.Compile(many, expr.Filter)
	require.Equal(t, fault.Query, fault.KindOf(err))
}

func TestNamesExpired(t *testing.T) {
	for text, want := range map[string]bool{
		`expired()`:                                              true,
		`a = 1 or not (b and EXPIRED())`:                         true,
		`case when expired() then a end`:                         true,
		`expired = 1`:                                            false,
		`a in (get b from c where expired())`:                    false,
		`expired() in (get b from c)`:                            true,
		`a in (get b from c where expired()) and coalesce(a, 1)`: false,
		`a in [1, expired()]`:                                    true,
	} {
		e, err := ql.ParseExpr(text)
		require.NoError(t, err)
		require.Equal(t, want, expr.NamesExpired(e), text)
	}
}
