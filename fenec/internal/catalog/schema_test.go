package catalog_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
)

func TestSchemaJSON(t *testing.T) {
	c, books := create(t, new(catalog.Catalog),
		`create collection books (title text required, pages int @hash, vec vec<3, f16>, tags [string])`)
	c, _ = create(t, c, `create collection b (at timestamptz @sorted)`)
	want := `{"name":"books","fields":[` +
		`{"name":"title","type":"text","index":null,"required":true},` +
		`{"name":"pages","type":"int","index":"hash","required":false},` +
		`{"name":"vec","type":"vector<3, f16>","index":null,"required":false},` +
		`{"name":"tags","type":"[text]","index":null,"required":false}]}`
	require.Equal(t, want, string(books.AppendSchemaJSON(nil)))
	all := string(catalog.AppendSchemasJSON(nil, c.Collections()))
	require.Equal(t, "["+want+`,{"name":"b","fields":[{"name":"at","type":"timestamp","index":"sorted","required":false}]}]`, all)
	require.Equal(t, "[]", string(catalog.AppendSchemasJSON(nil, nil)))
}

// TestSchemaDeclares declares a collection again from its schema.
func TestSchemaDeclares(t *testing.T) {
	_, col := create(t, new(catalog.Catalog), everyType)
	var schema struct {
		Name   string
		Fields []struct {
			Name, Type string
			Index      *string
			Required   bool
		}
	}
	require.NoError(t, json.Unmarshal(col.AppendSchemaJSON(nil), &schema))
	text := "create collection " + schema.Name + " ("
	for _, f := range schema.Fields {
		text += f.Name + " " + f.Type
		if f.Required {
			text += " required"
		}
		if f.Index != nil {
			text += " @" + *f.Index
		}
		text += ", "
	}
	_, again := create(t, new(catalog.Catalog), text+")")
	require.Equal(t, col, again)
}
