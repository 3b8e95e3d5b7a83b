package descr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/descr"
)

// everything declares one of each type and index.
const everything = `create collection a (t text required collate tr @text(k1=1.2, b=0.75, prefix=8, prefix_min=2, chars), n int @unique,
		f float @sorted, b bool @hash, raw bytes, at timestamp @ttl(36h), j json, g geo @geo, l [text] collate und, ll [[int]],
		v vector<3> @hnsw(l2, m=8, ef_construction=99, ef_search=40, quant=int8), h vector<2, f16> @hnsw(cosine, quant=bit), s sparse<9> @inverted)
	create index on a (j.lang) @hash
	create index on a (j.deep.rank) @sorted
	create collection field (field int)
	create collection gelir (tutar float, açıklama text @text)`

// schemaOf returns the schema of a database after these statements.
func schemaOf(t testing.TB, text string) *descr.Schema {
	t.Helper()
	s, err := descr.Of(definitions(t, text))
	require.NoError(t, err)
	return s
}

func definitions(t testing.TB, text string) []*catalog.Collection {
	t.Helper()
	if text == "" {
		return nil
	}
	script, err := ql.ParseScript(text)
	require.NoError(t, err)
	cat := new(catalog.Catalog)
	for _, st := range script {
		switch st := st.(type) {
		case *ql.CreateCollection:
			cat, _, err = cat.Create(st)
		case *ql.AlterCollection:
			cat, _, _, err = cat.Alter(st)
		case *ql.CreateIndex:
			cat, _, _, _, err = cat.CreateIndex(st)
		}
		require.NoError(t, err)
	}
	return cat.Collections()
}

func read(t testing.TB, body string) *descr.Description {
	t.Helper()
	d, err := descr.Read(t.Context(), []byte(body))
	require.NoError(t, err, body)
	return d
}

func TestForms(t *testing.T) {
	s := schemaOf(t, `create collection todos (title text required, gone int, done bool @hash, meta json, at timestamp @ttl(2d))
		alter collection todos drop field gone
		create index on todos (meta.lang) @sorted
		create collection _own (x int)`)
	require.Equal(t, `{"format":1,"collections":[{"name":"todos","fields":[{"name":"title","type":"text","required":true},`+
		`{"name":"done","type":"bool","index":{"kind":"hash"}},`+
		`{"name":"meta","type":"json","paths":[{"path":"lang","index":{"kind":"sorted"}}]},`+
		`{"name":"at","type":"timestamp","index":{"kind":"ttl","ms":172800000}}]}]}`, string(s.AppendJSON(nil)))
	require.Equal(t, `{"format":1,"fenecql":"create collection todos (title text required, done bool @hash, meta json, at timestamp @ttl(2d))`+
		`\ncreate index on todos (meta.lang) @sorted"}`, string(s.AppendText(nil)))
	require.Equal(t, `{"format":1,"collections":[]}`, string(schemaOf(t, "").AppendJSON(nil)))
	require.Equal(t, `{"format":1,"fenecql":""}`, string(schemaOf(t, "").AppendText(nil)))
}

// TestReadBack holds that what is written in either form is read as the same.
func TestReadBack(t *testing.T) {
	for _, text := range []string{"", everything} {
		s := schemaOf(t, text)
		for _, body := range [][]byte{s.AppendJSON(nil), s.AppendText(nil)} {
			d := read(t, string(body))
			p, err := d.Plan(s, nil)
			require.NoError(t, err)
			require.Equal(t, &descr.Plan{}, p, string(body))
			require.Empty(t, d.Follow(s).Refusals)

			// An empty database gets all of it.
			p, err = d.Plan(schemaOf(t, ""), nil)
			require.NoError(t, err)
			require.Empty(t, p.Refusals)
			script := ""
			for _, st := range p.Statements {
				script += st + "\n"
			}
			require.Equal(t, string(s.AppendJSON(nil)), string(schemaOf(t, script).AppendJSON(nil)))
		}
	}
}

// An index in the building is one that is there.
func TestBuilding(t *testing.T) {
	cat := new(catalog.Catalog)
	for _, def := range definitions(t, "create collection a (n int)") {
		var err error
		cat, err = cat.Add(def)
		require.NoError(t, err)
	}
	st, err := ql.Parse("create index on a (n) @hash")
	require.NoError(t, err)
	cat, _, _, _, err = cat.BeginIndex(st.(*ql.CreateIndex))
	require.NoError(t, err)
	s, err := descr.Of(cat.Collections())
	require.NoError(t, err)
	p, err := read(t, string(s.AppendJSON(nil))).Plan(s, nil)
	require.NoError(t, err)
	require.Equal(t, &descr.Plan{}, p)
	require.Contains(t, string(s.AppendJSON(nil)), `"index":{"kind":"hash"}`)
}
