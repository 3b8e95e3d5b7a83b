package ql_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

// unplace sets the positions inside v to zero, so that trees can be compared.
func unplace(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			unplace(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			unplace(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[ql.Pos]() {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			unplace(v.Field(i))
		}
	}
}

// parse parses a statement and drops its positions.
func parse(t testing.TB, text string) ql.Statement {
	t.Helper()
	s, err := ql.Parse(text)
	require.NoError(t, err, text)
	unplace(reflect.ValueOf(s))
	return s
}

// parseExpr parses an expression and drops its positions.
func parseExpr(t testing.TB, text string) ql.Expr {
	t.Helper()
	e, err := ql.ParseExpr(text)
	require.NoError(t, err, text)
	unplace(reflect.ValueOf(e))
	return e
}

// Short forms of trees.
func name(s string) ql.Name          { return ql.Name{Text: s} }
func field(s string) *ql.Path        { return &ql.Path{Field: s} }
func integer(n int64) *ql.Literal    { return &ql.Literal{Kind: ql.Int, Int: n} }
func decimal(f float64) *ql.Literal  { return &ql.Literal{Kind: ql.Float, Float: f} }
func text(s string) *ql.Literal      { return &ql.Literal{Kind: ql.Text, Text: s} }
func boolean(b bool) *ql.Literal     { return &ql.Literal{Kind: ql.Bool, Bool: b} }
func null() *ql.Literal              { return &ql.Literal{} }
func list(items ...ql.Expr) *ql.List { return &ql.List{Items: items} }
func not(x ql.Expr) *ql.Unary        { return &ql.Unary{Op: ql.OpNot, X: x} }
func neg(x ql.Expr) *ql.Unary        { return &ql.Unary{Op: ql.OpNeg, X: x} }
func call(name string, args ...ql.Expr) *ql.Call {
	return &ql.Call{Name: name, Args: args}
}
func op(left ql.Expr, op ql.Op, right ql.Expr) *ql.Binary {
	return &ql.Binary{Op: op, Left: left, Right: right}
}
func pair(f string, v ql.Expr) ql.Pair { return ql.Pair{Path: *field(f), Value: v} }

func TestPositions(t *testing.T) {
	s, err := ql.Parse("get çam\n  where  lower(ışık.a) = $1 and\tbucket(x, 1d) > \"ü\n\"  order by é desc")
	require.NoError(t, err)
	g := s.(*ql.Get)
	require.Equal(t, ql.Pos{Line: 1, Column: 5}, g.From.Pos)
	require.Equal(t, ql.Pos{Line: 3, Column: 13}, g.Order[0].Path.Pos)

	var at []string
	ql.Walk(g.Where, func(e ql.Expr) bool {
		switch e := e.(type) {
		case *ql.Call:
			at = append(at, e.Name+" "+e.Pos.String())
		case *ql.Path:
			at = append(at, e.String()+" "+e.Pos.String())
		case *ql.Param:
			at = append(at, "$ "+e.Pos.String())
		case *ql.Duration:
			at = append(at, e.Unit+" "+e.Pos.String())
		}
		return true
	})
	require.Equal(t, []string{
		"lower line 2, column 10", "ışık.a line 2, column 16", "$ line 2, column 26",
		"bucket line 2, column 33", "x line 2, column 40", "d line 2, column 43",
	}, at)
}

func TestPositionsOfDeclarations(t *testing.T) {
	s, err := ql.Parse("create collection t (\n a [int] @hash)")
	require.NoError(t, err)
	f := s.(*ql.CreateCollection).Fields[0]
	require.Equal(t, ql.Pos{Line: 2, Column: 2}, f.Name.Pos)
	require.Equal(t, ql.Pos{Line: 2, Column: 4}, f.Type.Pos)
	require.Equal(t, ql.Pos{Line: 2, Column: 5}, f.Type.Elem.Pos)
	require.Equal(t, ql.Pos{Line: 2, Column: 10}, f.Index.Pos)
}
