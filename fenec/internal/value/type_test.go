package value_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/internal/value"
)

func TestTypeString(t *testing.T) {
	tests := map[string]value.Type{
		"bool":           value.TypeBool,
		"int":            value.TypeInt,
		"float":          value.TypeFloat,
		"text":           value.TypeText,
		"bytes":          value.TypeBytes,
		"timestamp":      value.TypeTimestamp,
		"json":           value.TypeJSON,
		"geo":            value.TypeGeo,
		"sparse<9>":      value.SparseType(9),
		"vector<4>":      value.VectorType(4, false),
		"vector<4, f16>": value.VectorType(4, true),
		"[text]":         value.ListType(value.TypeText),
		"[[int]]":        value.ListType(value.ListType(value.TypeInt)),
		"[vector<2>]":    value.ListType(value.VectorType(2, false)),
		"no type":        {},
	}
	for want, typ := range tests {
		require.Equal(t, want, typ.String())
	}
}

func TestTypeParts(t *testing.T) {
	nested := value.ListType(value.ListType(value.TypeInt))
	require.True(t, nested.IsList())
	require.Equal(t, value.BaseInt, nested.Base())
	require.Equal(t, value.ListType(value.TypeInt), nested.Elem())
	require.Equal(t, value.TypeInt, nested.Elem().Elem())
	require.Equal(t, value.TypeInt, value.TypeInt.Elem())
	require.False(t, nested.Is(value.BaseInt))
	require.True(t, value.TypeInt.Is(value.BaseInt))
	require.Equal(t, 7, value.VectorType(7, true).Dim())
	require.Equal(t, 7, value.SparseType(7).Dim())
	require.True(t, value.VectorType(7, true).F16())
	require.False(t, value.VectorType(7, false) == value.VectorType(7, true))
}

func TestTypeCheck(t *testing.T) {
	deep := value.TypeInt
	for range 300 {
		deep = value.ListType(deep)
	}
	tests := []struct {
		typ  value.Type
		want fault.Kind
	}{
		{value.TypeJSON, 0},
		{value.ListType(value.VectorType(2, true)), 0},
		{value.VectorType(value.MaxDim, false), 0},
		{value.SparseType(1), 0},
		{value.SparseType(value.MaxSparseDim), 0},
		{value.ListType(value.TypeGeo), 0},
		{value.VectorType(0, false), fault.Query},
		{value.SparseType(0), fault.Query},
		{value.SparseType(value.MaxSparseDim + 1), fault.Query},
		{value.VectorType(-1, false), fault.Query},
		{value.VectorType(value.MaxDim+1, false), fault.Query},
		{value.ListType(value.TypeJSON), fault.Type},
		{value.ListType(value.ListType(value.TypeJSON)), fault.Type},
		{deep, fault.Query},
		{value.Type{}, fault.Query},
		{value.ListType(value.Type{}), fault.Query},
	}
	for _, test := range tests {
		err := test.typ.Check()
		if test.want == 0 {
			require.NoError(t, err, test.typ)
			continue
		}
		requireFault(t, test.want, err, test.typ)
	}
}
