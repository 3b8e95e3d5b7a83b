package descr_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/fault"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/descr"
)

func TestReadRefuses(t *testing.T) {
	field := func(members string) string {
		return `{"format":1,"collections":[{"name":"c","fields":[{"name":"f",` + members + `}]}]}`
	}
	for _, tc := range []struct{ body, why string }{
		{``, "json: unexpected end"},
		{`[]`, "want an object"},
		{`{}`, `want "format": 1`},
		{`{"format":7}`, `want "format": 1`},
		{`{"format":"1"}`, "format: want a whole number"},
		{`{"format":1}`, `want either "collections" or "fenecql"`},
		{`{"format":1,"collections":null}`, `want either "collections" or "fenecql"`},
		{`{"format":1,"collections":[],"fenecql":""}`, `want either "collections" or "fenecql"`},
		{`{"format":1,"collections":[],"colections":1}`, `unknown key "colections"`},
		{`{"format":1,"collections":{}}`, "collections: want a list"},
		{`{"format":1,"collections":[7]}`, "collections[0]: want an object"},
		{`{"format":1,"collections":[{"fields":[]}]}`, "collections[0]: name: want a text, got null"},
		{`{"format":1,"collections":[{"name":"c","fields":[]}]}`, "needs a field"},
		{`{"format":1,"collections":[{"name":"c"}]}`, "needs a field"},
		{`{"format":1,"collections":[{"name":"_c","fields":[]}]}`, "the server's own"},
		{`{"format":1,"collections":[{"name":"c d","fields":[]}]}`, "the name of a collection"},
		{`{"format":1,"collections":[{"name":"c (x int) create collection d","fields":[]}]}`, "the name of a collection"},
		{`{"format":1,"collections":[{"name":"c","fields":[{"name":"f","type":"int"}]},{"name":"c","fields":[{"name":"f","type":"int"}]}]}`, "there already"},
		{field(`"type":"int","idx":1`), `collections[0].fields[0]: unknown key "idx"`},
		{field(`"kind":"int"`), "unknown key"},
		{field(`"index":null`), "type: want a text"},
		{field(`"type":"number"`), `type: want a type, got "number"`},
		{field(`"type":"int, g text"`), "want a type"},
		{field(`"type":"int required"`), "want a type"},
		{field(`"type":"int @hash"`), "want a type"},
		{field(`"type":"vector<0>"`), "components"},
		{field(`"type":"[json]"`), "list of json"},
		{field(`"type":"int","required":1`), "required: want true or false"},
		{field(`"type":"text","collate":"de"`), "unknown collation"},
		{field(`"type":"int","collate":"tr"`), "collate is for text"},
		{field(`"type":"int","index":"hash"`), "index: want an object"},
		{field(`"type":"int","index":{}`), "kind: want a text"},
		{field(`"type":"int","index":{"kind":"btree"}`), "the kind of an index"},
		{field(`"type":"int","index":{"kind":"hash","m":1}`), `index: unknown key "m"`},
		{field(`"type":"text","index":{"kind":"geo"}`), "@geo is for geo"},
		{field(`"type":"timestamp","index":{"kind":"ttl"}`), "ms: want"},
		{field(`"type":"timestamp","index":{"kind":"ttl","ms":0}`), "ms: want a whole number from 1 on"},
		{field(`"type":"timestamp","index":{"kind":"ttl","ms":9223372036854775807}`), "period"},
		{field(`"type":"text","index":{"kind":"text","k1":-1}`), "k1"},
		{field(`"type":"text","index":{"kind":"text","k1":"x"}`), "k1: want a number"},
		{field(`"type":"text","index":{"kind":"text","prefix":65}`), "prefix"},
		{field(`"type":"vector<2>","index":{"kind":"hnsw","metric":"manhattan"}`), "manhattan"},
		{field(`"type":"vector<2>","index":{"kind":"hnsw","m":0}`), "m: want a whole number from 1 on"},
		{field(`"type":"vector<2>","index":{"kind":"hnsw","quant":"pq"}`), "pq"},
		{field(`"type":"json","paths":[{"path":"a b","index":{"kind":"hash"}}]`), "path: want a path"},
		{field(`"type":"json","paths":[{"path":"a) @hash create index on c (f.b","index":{"kind":"hash"}}]`), "path: want a path"},
		{field(`"type":"json","paths":[{"path":"a"}]`), "index: want an object"},
		{field(`"type":"json","paths":[{"path":"a","index":{"kind":"ttl","ms":5}}]`), "path"},
		{field(`"type":"int","paths":[{"path":"a","index":{"kind":"hash"}}]`), "leads into json"},
		{field(`"type":"json","paths":[{"path":"a","index":{"kind":"hash"}},{"path":"a","index":{"kind":"hash"}}]`), "an index already"},
		{`{"format":1,"fenecql":7}`, "fenecql: want a text"},
		{`{"format":1,"fenecql":"create colection c (f int)"}`, "line 1, column 8"},
		{`{"format":1,"fenecql":"create collection c (f int) drop collection c"}`, `got "drop collection c"`},
		{`{"format":1,"fenecql":"create collection _c (f int)"}`, "the server's own"},
		{`{"format":1,"fenecql":"create index on d (f) @hash"}`, `no collection "d"`},
		{`{"format":1,"fenecql":"create collection c (f int) create collection if not exists c (g int)"}`, "there already"},
		{`{"format":1,"collections":[],"migrations":{}}`, "migrations: want a list"},
		{`{"format":1,"collections":[],"migrations":["get c"]}`, "migration 1: want statements that change"},
		{`{"format":1,"collections":[],"migrations":["compact"]}`, "migration 1: want statements that change"},
		{`{"format":1,"collections":[],"migrations":["del c","set c {a: $1}"]}`, "migration 2: there are no values for parameters"},
		{`{"format":1,"collections":[],"migrations":[""]}`, "migration 1"},
		{`{"format":1,"collections":[],"migrations":[7]}`, "migration 1: want an object"},
		{`{"format":1,"collections":[],"migrations":[{"rebild":{}}]}`, `unknown key "rebild"`},
		{`{"format":1,"collections":[],"migrations":[{"rebuild":{"collection":"c"}}]}`, "field: want a text"},
	} {
		_, err := descr.Read(t.Context(), []byte(tc.body))
		require.Error(t, err, tc.body)
		require.Equal(t, fault.Query, fault.KindOf(err), "%s: %v", tc.body, err)
		require.Contains(t, err.Error(), tc.why, tc.body)
	}
}

// What is null is as if it were not there, as clients write it that fill a struct.
func TestReadNulls(t *testing.T) {
	d := read(t, `{"format":1,"fenecql":null,"migrations":null,"collections":[{"name":"c","fields":[
		{"name":"f","type":"string","required":null,"collate":null,"index":{"kind":"text","k1":null,"chars":null},"paths":null}]}]}`)
	p, err := d.Plan(schemaOf(t, ""), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"create collection c (f text @text(k1=0.9, b=0.4))"}, p.Statements)
}

func TestReadEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := descr.Read(ctx, []byte(`{"format":1,"fenecql":"create collection c (f int)"}`))
	require.ErrorIs(t, err, context.Canceled)
}

// FuzzRead holds that no description panics, and that one that is read can be
// planned, done and written, and is then the same.
func FuzzRead(f *testing.F) {
	s := schemaOf(f, everything)
	f.Add(s.AppendJSON(nil))
	f.Add(s.AppendText(nil))
	f.Add([]byte(`{"format":1,"collections":[{"name":"c","fields":[{"name":"f","type":"int","index":{"kind":"hash"}}]}],"migrations":["del c",{"rebuild":{"collection":"c","field":"f"}}]}`))
	f.Add([]byte(`{"format":1,"fenecql":"create collection c (f json)\ncreate index on c (f.a) @unique","migrations":[]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := descr.Read(t.Context(), body)
		if err != nil {
			require.NotZero(t, fault.KindOf(err), "%v", err)
			return
		}
		if _, err := d.Plan(s, nil); err != nil {
			require.Equal(t, fault.Query, fault.KindOf(err), "%v", err)
		}
		p, err := d.Plan(schemaOf(t, ""), nil)
		require.NoError(t, err)
		require.Empty(t, p.Refusals)
		script := ""
		for _, st := range p.Statements {
			script += st + "\n"
		}
		made := schemaOf(t, script)
		for _, body := range [][]byte{made.AppendJSON(nil), made.AppendText(nil)} {
			p, err := read(t, string(body)).Plan(made, nil)
			require.NoError(t, err)
			require.Equal(t, &descr.Plan{}, p)
		}
	})
}
