package ql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/ql"
)

func TestParseTypes(t *testing.T) {
	kinds := map[ql.TypeKind][]string{
		ql.TypeBool:      {"bool"},
		ql.TypeInt:       {"int"},
		ql.TypeFloat:     {"float"},
		ql.TypeText:      {"text", "string", "TEXT"},
		ql.TypeBytes:     {"bytes", "blob"},
		ql.TypeTimestamp: {"timestamp", "timestamptz"},
		ql.TypeJSON:      {"json", "jsonb"},
		ql.TypeVector:    {"vector<3>", "vec<3>", "vec<3,f32>"},
		ql.TypeList:      {"[text]", "[ [vec<3>] ]"},
		ql.TypeSparse:    {"sparse<3>", "sparsevec<3>"},
		ql.TypeGeo:       {"geo"},
	}
	for kind, words := range kinds {
		for _, w := range words {
			s, err := ql.Parse("create collection t (a " + w + ")")
			require.NoError(t, err, w)
			require.Equal(t, kind, s.(*ql.CreateCollection).Fields[0].Type.Kind, w)
		}
	}
}
