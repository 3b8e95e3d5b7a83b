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

func TestSchemaOfKinds(t *testing.T) {
	require.Equal(t, `{"name":"kinds","fields":[`+
		`{"name":"a","type":"text","index":"sorted","required":false,"collate":"tr"},`+
		`{"name":"b","type":"[text]","index":null,"required":false,"collate":"und"},`+
		`{"name":"d","type":"timestamp","index":"ttl(36h)","required":false},`+
		`{"name":"e","type":"geo","index":"geo","required":false},`+
		`{"name":"f","type":"sparse<30000>","index":null,"required":false},`+
		`{"name":"g","type":"json","index":null,"required":false},`+
		`{"name":"h","type":"[geo]","index":null,"required":false},`+
		`{"name":"i","type":"int","index":"sorted","required":false}],`+
		`"paths":[{"path":"g.a","index":"hash"},{"path":"g.b.c","index":"unique"},{"path":"g.ışık","index":"sorted"}]}`,
		string(everyKind(t).AppendSchemaJSON(nil)))
}

// A period is told in the largest unit that it is a whole number of.
func TestSchemaPeriod(t *testing.T) {
	for period, want := range map[string]string{
		"1ms": "1ms", "1500ms": "1500ms", "2000ms": "2s", "90s": "90s", "1800s": "30m", "60m": "1h", "25h": "25h", "48h": "2d", "30d": "30d",
	} {
		_, col := create(t, new(catalog.Catalog), `create collection c (at timestamp @ttl(`+period+`))`)
		require.Equal(t, "ttl("+want+")", col.TTL().String(), period)
	}
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
