package ql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/ql"
)

func TestParseAlter(t *testing.T) {
	add := func(field string) ql.AlterCollection {
		return ql.AlterCollection{Kind: ql.AlterAdd, Add: &ql.FieldDef{Name: name(field), Type: ql.TypeDef{Kind: ql.TypeInt}}}
	}
	drop := func(field string) ql.AlterCollection {
		return ql.AlterCollection{Kind: ql.AlterDrop, Field: name(field)}
	}
	rename := func(field, to string) ql.AlterCollection {
		return ql.AlterCollection{Kind: ql.AlterRename, Field: name(field), To: name(to)}
	}
	index := func(field string, x *ql.IndexDef) ql.AlterCollection {
		return ql.AlterCollection{Kind: ql.AlterIndex, Field: name(field), Index: x}
	}
	week := &ql.IndexDef{Kind: ql.IndexTTL, TTL: &ql.Duration{N: 7, Unit: "d"}}
	tests := []struct {
		text string
		want ql.AlterCollection
	}{
		{`add a int`, add("a")},
		{`add field a int`, add("a")},
		{`add field int`, add("field")},
		{`add field field int`, add("field")},
		{`add field text [int] collate tr required @hash`, ql.AlterCollection{Kind: ql.AlterAdd, Add: &ql.FieldDef{
			Name: name("text"), Type: ql.TypeDef{Kind: ql.TypeList, Elem: &ql.TypeDef{Kind: ql.TypeInt}},
			Required: true, Collate: "tr", Index: &ql.IndexDef{Kind: ql.IndexHash}}}},
		{`drop a`, drop("a")},
		{`drop field a`, drop("a")},
		{`drop field`, drop("field")},
		{`rename a to b`, rename("a", "b")},
		{`rename field a to b`, rename("a", "b")},
		{`rename field to b`, rename("field", "b")},
		{`rename field to to`, rename("field", "to")},
		{`rename field to to b`, rename("to", "b")},
		{`rename to to to`, rename("to", "to")},
		{`alter a @sorted`, index("a", &ql.IndexDef{Kind: ql.IndexSorted})},
		{`alter field a @ttl(7d)`, index("a", week)},
		{`alter field @ttl(7d)`, index("field", week)},
	}
	for _, tt := range tests {
		tt.want.Name = name("t")
		s := parse(t, "alter collection t "+tt.text)
		require.Equal(t, &tt.want, s, tt.text)
		requireSamePrinted(t, s)
	}
}

func TestRefusedAlter(t *testing.T) {
	for _, text := range []string{
		``, `add`, `add a`, `add a.b int`, `add a int, b int`, `drop`, `drop a, b`, `drop a.b`, `rename a`, `rename a b`, `rename a to`,
		`rename a to b.c`, `alter a`, `alter a int`, `alter a @hash`, `alter a @text`, `alter a @ttl`, `alter a @ttl(0d)`, `alter a sorted`,
		`modify a int`, `change a b int`, `to u`, `rename to u`,
	} {
		_, err := ql.Parse("alter collection t " + text)
		require.ErrorIs(t, err, &fault.Error{Kind: fault.Query}, text)
	}
}
