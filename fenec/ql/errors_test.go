package ql_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func TestErrors(t *testing.T) {
	tests := []struct {
		text   string
		offset int
		line   int
		column int
		near   string
		msg    string
	}{
		{``, 0, 1, 1, ``, `expected a statement, found end of text`},
		{`fetch t`, 0, 1, 1, `fetch`, `expected a statement, found "fetch"`},
		{`get`, 3, 1, 4, ``, `expected a collection after "get", found end of text`},
		{`get item     where`, 18, 1, 19, ``, `expected a value after "where", found end of text`},
		{`get t near v`, 12, 1, 13, ``, `expected a value after "v", found end of text`},
		{`get t like v $1`, 6, 1, 7, `like`, `unexpected "like" after "t"`},
		{`get t order a collate de`, 22, 1, 23, `de`, `expected a collation, "und" or "tr" after "collate", found "de"`},
		{`get t; get u`, 7, 1, 8, `get`, `unexpected "get" after "t"`},
		{`get t limit -1`, 12, 1, 13, `-`, `expected a whole number after "limit", found "-"`},
		{`get t where a in (b)`, 18, 1, 19, `b`, `expected "get" after "(", found "b"`},
		{`get t where a in (get u)`, 18, 1, 19, `get`, `a get inside "in" yields one column: a field, a path or an aggregate`},
		{`get t where a and count(*)`, 18, 1, 19, `count`, `the aggregate "count" does not stand in where`},
		{`get t where sum(distinct a)`, 25, 1, 26, `a`, `expected ")" after "distinct", found "a"`},
		{"get t count\n limit 2", 13, 2, 2, `limit`, `count and limit do not stand in one get`},
		{`get t near a $1 facet b match c $2`, 16, 1, 17, `facet`, `near and facet do not stand in one get`},
		{`get t facet a.b, a.b`, 17, 1, 18, `a.b`, `a second facet of "a.b"`},
		{`get t facet a top 0`, 18, 1, 19, `0`, `"0" is less than 1`},
		{`get t facet a ranges [1, 1]`, 25, 1, 26, `1`, `each bound of ranges is above the one before`},
		{`get t lookup u on a lookup t on b`, 27, 1, 28, `t`, `the collection "t" comes twice in a chain of lookups`},
		{"get çam\nwhere ışık !", 19, 2, 12, `!`, `unexpected character "!"`},
		{"get çam\nwhere ışık = \"é", 21, 2, 14, `"é`, `unterminated string "é`},
		{"get t where 'a\nb' \\", 18, 2, 4, `\`, `unexpected character "\\"`},
		{"get t where a = 'b\nc' d", 22, 2, 4, `d`, `unexpected "d" after 'b c'`},
		{`get t where a = 1_`, 16, 1, 17, `1_`, `a "_" that is not between two digits: "1_"`},
		{`get t where a = 1e`, 16, 1, 17, `1e`, `an exponent without digits: "1e"`},
		{`get t where a = 1e999`, 16, 1, 17, `1e999`, `a number beyond the range of a float: "1e999"`},
		{`put t {a: 9223372036854775808}`, 10, 1, 11, `9223372036854775808`, `an integer beyond 64 bits: "9223372036854775808"`},
		{`get t where a = $`, 16, 1, 17, `$`, `a parameter without a number: "$"`},
		{`get t where a = $0`, 16, 1, 17, `$0`, `parameters count from $1, found "$0"`},
		{`put t {a: [b]}`, 11, 1, 12, `b`, `expected a constant after "[", found "b"`},
		{`put t {a: {b: 1, c: 2, b: 3}}`, 23, 1, 24, `b`, `the key "b" comes twice in an object`},
		{`create collection c (a.b int)`, 21, 1, 22, `a.b`, `expected a field without dots, found "a.b"`},
		{`create collection c (a point)`, 23, 1, 24, `point`, `expected a type after "a", found "point"`},
		{`create collection c (a int @tree)`, 28, 1, 29, `tree`, `expected a kind of index after "@", found "tree"`},
		{`create collection c (a int @hash @unique)`, 33, 1, 34, `@`, `a second index on the field "a"`},
		{`alter collection t rename to u`, 26, 1, 27, `to`, `expected a field after "rename", found "to"`},
		{`alter collection t rename field to u.v`, 35, 1, 36, `u.v`, `expected a field without dots, found "u.v"`},
		{`create table t (a int)`, 7, 1, 8, `table`, `expected "collection" or "index" after "create", found "table"`},
		{"get t where a = \xff", 16, 1, 17, ``, `the text is not valid UTF-8`},
		{"get \ufffd\xff", 5, 1, 6, ``, `the text is not valid UTF-8`},
		{`get t where x` + strings.Repeat("é", 100) + ` x`, 114, 1, 115, `x`, `unexpected "x" after "x` + strings.Repeat("é", 23) + `…"`},
		{`get t where ` + strings.Repeat("é", 100) + ` x`, 113, 1, 114, `x`, `unexpected "x" after "` + strings.Repeat("é", 24) + `…"`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := ql.Parse(tt.text)
			var e *ql.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, &ql.Error{Offset: tt.offset, Line: tt.line, Column: tt.column, Msg: tt.msg, Near: tt.near}, e)
		})
	}
}

func TestErrorIsAQueryError(t *testing.T) {
	_, err := ql.Parse("get item where kind =")
	require.EqualError(t, err, `query error: line 1, column 22: expected a value after "=", found end of text`)
	require.ErrorIs(t, err, &fault.Error{Kind: fault.Query})
	require.NotErrorIs(t, err, &fault.Error{Kind: fault.Type})
	require.Equal(t, fault.Query, fault.KindOf(err))
	require.EqualError(t, errors.Unwrap(err), err.Error())
}

func TestErrorsOfExpressions(t *testing.T) {
	for _, text := range []string{``, `a =`, `a; b`, `a where b`, `a as b`, `(a`, `a)`, "\xc3"} {
		e, err := ql.ParseExpr(text)
		require.ErrorIs(t, err, &fault.Error{Kind: fault.Query}, text)
		require.Nil(t, e, text)
	}
	_, err := ql.ParseExpr("a = 1 limit 2")
	require.EqualError(t, err, `query error: line 1, column 7: unexpected "limit" after "1"`)
}

func TestErrorsOfScripts(t *testing.T) {
	_, err := ql.ParseScript("get t;\nget u like v")
	require.EqualError(t, err, `query error: line 2, column 7: unexpected "like" after "u"`)
	_, err = ql.ParseScript("\xc3")
	require.EqualError(t, err, `query error: line 1, column 1: the text is not valid UTF-8`)
}
