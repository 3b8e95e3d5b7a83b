package serve_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
)

// described is a description of the FenecQL form.
func described(text string, migrations ...string) string {
	b, err := json.Marshal(map[string]any{"format": 1, "fenecql": text, "migrations": migrations})
	if err != nil {
		panic(err)
	}
	return string(b)
}

const (
	tasksDeclared = `create collection tasks (key text @unique, state text @hash, n int)`
	tasksMore     = `create collection tasks (key text @unique, state text @hash, n int, due timestamp @sorted)`
	tasksRenamed  = `create collection tasks (key text @unique, state text @hash, m int)`
)

func TestSchemaIsDescribed(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	r := c.do("GET", "/_schema", "")
	require.Equal(t, 200, r.status)
	require.Equal(t, `{"format":1,"collections":[{"name":"tasks","fields":[{"name":"key","type":"text","index":{"kind":"unique"}},`+
		`{"name":"state","type":"text","index":{"kind":"hash"}},{"name":"n","type":"int"}]}]}`, r.body)
	require.Empty(t, r.header.Get("Fenec-Seq"))
	require.Equal(t, `{"format":1,"fenecql":"`+tasksDeclared+`"}`, c.do("GET", "/_schema?as=fenecql", "").body)
	require.Equal(t, 400, c.do("GET", "/_schema?as=sql", "").status)
	head := c.do("HEAD", "/_schema", "")
	require.Equal(t, 200, head.status)
	require.Empty(t, head.body)

	for _, as := range []string{"", "?as=fenecql"} {
		r = c.do("POST", "/_schema/plan", c.do("GET", "/_schema"+as, "").body)
		require.Equal(t, 200, r.status)
		require.Equal(t, `{"kind":"schema","applied":false,"ran":false,"migrations":[],"statements":[],"refusals":[]}`, r.body)
	}
	for _, path := range []string{"/_schema/x", "/_schema/plan", "/_schema/plan/x", "/_schema/apply"} {
		require.Equal(t, 404, c.do("GET", path, "").status, path)
	}
	require.Equal(t, 404, c.do("POST", "/_schema", "{}").status)
	require.Equal(t, 404, c.do("PUT", "/_schema/apply", "{}").status)
	for _, path := range []string{"/_schema/plan", "/_schema/plan?mode=follow", "/_schema/apply"} {
		require.Equal(t, 400, c.do("POST", path, `{"format":7}`).status, path)
		require.Equal(t, 400, c.do("POST", path, ``).status, path)
		require.Contains(t, c.do("POST", path, `{"format":1,"tables":[]}`).body, `unknown key \"tables\"`, path)
	}
	require.Equal(t, 400, c.do("POST", "/_schema/plan?mode=lead", described(tasksDeclared)).status)
}

func TestSchemaIsApplied(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	one := `"statements":["alter collection tasks add field due timestamp @sorted"],"refusals":[]}`
	r := c.do("POST", "/_schema/plan", described(tasksMore))
	require.Equal(t, `{"kind":"schema","applied":false,"ran":false,"migrations":[],`+one, r.body)
	require.Empty(t, r.header.Get("Fenec-Seq"))
	require.NotContains(t, c.do("GET", "/_schema", "").body, "due")

	r = c.do("POST", "/_schema/apply", described(tasksMore))
	require.Equal(t, 200, r.status)
	require.Equal(t, `{"kind":"schema","applied":true,"ran":false,"migrations":[],`+one, r.body)
	require.Equal(t, "4", r.header.Get("Fenec-Seq"))
	require.Contains(t, c.do("GET", "/_schema", "").body, "due")

	r = c.do("POST", "/_schema/apply", described(tasksMore))
	require.Equal(t, 200, r.status)
	require.Equal(t, `{"kind":"schema","applied":false,"ran":false,"migrations":[],"statements":[],"refusals":[]}`, r.body)
	require.Equal(t, "4", r.header.Get("Fenec-Seq"))
}

func TestSchemaIsRefused(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	r := c.do("POST", "/_schema/apply", described(tasksRenamed+"\ncreate collection more (x int)"))
	require.Equal(t, 409, r.status)
	var out struct {
		Applied  bool
		Error    *string
		Refusals []struct{ Kind, Collection, Field, Message, Fix string }
	}
	require.NoError(t, json.Unmarshal([]byte(r.body), &out))
	require.False(t, out.Applied)
	require.Nil(t, out.Error)
	require.Len(t, out.Refusals, 1)
	require.Equal(t, "field_not_declared", out.Refusals[0].Kind)
	require.Equal(t, "n", out.Refusals[0].Field)
	require.Equal(t, `{"format":1,"fenecql":"`+tasksDeclared+`"}`, c.do("GET", "/_schema?as=fenecql", "").body)
	require.EqualValues(t, 3, c.db.Seq())

	// What the documents stand against is no refusal, and undoes the rest as well.
	_, err := c.db.Query(t.Context(), `set tasks {state: "open"}`)
	require.NoError(t, err)
	_, err = c.db.Query(t.Context(), `put tasks {n: 2}`)
	require.NoError(t, err)
	r = c.do("POST", "/_schema/apply", described(`create collection more (x int)
		create collection tasks (key text @unique, state text @hash, n int @unique)`))
	require.Equal(t, 400, r.status, r.body)
	require.Contains(t, r.body, "duplicate")
	require.NotContains(t, c.do("GET", "/_schema", "").body, "more")
}

func TestSchemaMigrates(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	first := "alter collection tasks rename field n to m"
	r := c.do("POST", "/_schema/plan", described(tasksRenamed, first))
	require.Equal(t, `{"kind":"schema","applied":false,"ran":false,"migrations":[1],"statements":[],"refusals":[]}`, r.body)
	require.Equal(t, 404, c.query("get _migrations").status)

	r = c.do("POST", "/_schema/apply", described(tasksRenamed, first))
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, `{"kind":"schema","applied":true,"ran":true,"migrations":[1],"statements":[],"refusals":[]}`, r.body)
	require.Equal(t, `[{"n":1,"text":"`+first+`"}]`, c.query("get _migrations select n, text").body)
	require.Equal(t, `[{"m":1},{"m":2}]`, c.query("get tasks select m").body)

	r = c.do("POST", "/_schema/apply", described(tasksRenamed, first))
	require.Equal(t, `{"kind":"schema","applied":false,"ran":false,"migrations":[],"statements":[],"refusals":[]}`, r.body)
	r = c.do("POST", "/_schema/apply", described(tasksRenamed, "del tasks"))
	require.Equal(t, 400, r.status)
	require.Contains(t, r.body, "migration 1 was done as another one")

	// One that fails where it is run undoes those before it.
	r = c.do("POST", "/_schema/apply", described(tasksRenamed, first, `set tasks {m: 7}`, `put tasks {key: "k1"}`))
	require.Equal(t, 400, r.status, r.body)
	require.Equal(t, `[{"m":1},{"m":2}]`, c.query("get tasks select m").body)
	require.Equal(t, `[{"count":1}]`, c.query("get _migrations count").body)
}

func TestSchemaRebuildsAField(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	body := `{"format":1,"fenecql":"create collection tasks (key text @unique, state text, n float @sorted)","migrations":[
		{"rebuild":{"collection":"tasks","field":"n"}},{"rebuild":{"field":"state","collection":"tasks"}}]}`
	r := c.do("POST", "/_schema/apply", body)
	require.Equal(t, 200, r.status, r.body)
	require.Contains(t, r.body, `"applied":true,"ran":true,"migrations":[1,2]`)
	require.Equal(t, `[{"key":"k1","state":"open","n":1},{"key":"k2","state":"done","n":2}]`, c.query("get tasks select key, state, n").body)
	require.Contains(t, c.do("GET", "/_schema", "").body, `{"name":"n","type":"float","index":{"kind":"sorted"}},{"name":"state","type":"text"}`)
	require.Contains(t, c.query("get _migrations select text where n = 2").body, `{\"rebuild\":{\"collection\":\"tasks\",\"field\":\"state\"}}`)

	// Values that the new type does not take undo all of it.
	r = c.do("POST", "/_schema/apply", `{"format":1,"fenecql":"create collection tasks (key int, state text, n float @sorted)","migrations":[
		{"rebuild":{"collection":"tasks","field":"n"}},{"rebuild":{"collection":"tasks","field":"state"}},{"rebuild":{"collection":"tasks","field":"key"}}]}`)
	require.Equal(t, 400, r.status, r.body)
	require.Equal(t, `[{"key":"k1"},{"key":"k2"}]`, c.query("get tasks select key").body)
}

func TestSchemaOfAnEmptyDatabase(t *testing.T) {
	c := start(t, serve.Options{})
	require.Equal(t, `{"format":1,"collections":[]}`, c.do("GET", "/_schema", "").body)
	r := c.do("POST", "/_schema/apply", described(tasksRenamed, "alter collection tasks rename field n to m"))
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, `{"kind":"schema","applied":true,"ran":false,"migrations":[1],"statements":["`+tasksRenamed+`"],"refusals":[]}`, r.body)
	require.Equal(t, `[{"n":1}]`, c.query("get _migrations select n").body)
	require.NotContains(t, c.do("GET", "/_schema", "").body, "_migrations")
}

func TestSchemaIsFollowed(t *testing.T) {
	c := start(t, serve.Options{}, tasks...)
	r := c.do("POST", "/_schema/plan?mode=follow", described(`create collection tasks (key text, gone int)`, "del tasks"))
	require.Equal(t, 200, r.status)
	require.Regexp(t, `^\{"kind":"schema","applied":false,"ran":false,"migrations":\[\],"statements":\[\],"refusals":\[\{"kind":"field_missing","collection":"tasks","field":"gone",[^{}]*\}\]\}$`, r.body)
}

func TestSchemaOfAReadOnlyServer(t *testing.T) {
	c := start(t, serve.Options{ReadOnly: true}, tasks...)
	require.Equal(t, 403, c.do("POST", "/_schema/apply", described(tasksMore)).status)
	require.Equal(t, 200, c.do("POST", "/_schema/plan", described(tasksMore)).status)
	require.Equal(t, 200, c.do("GET", "/_schema", "").status)
}

func TestSchemaOfAToken(t *testing.T) {
	tokens := openTokens(t, "an uninteresting secret of forty bytes..", "tasks read\nlog insert")
	c := start(t, serve.Options{Token: serve.NewSecret("root"), Tokens: tokens}, append(tasks,
		"create collection log (what text)", "create collection hidden (x int)")...)
	as := "Authorization: Bearer " + mint(t, tokens, `"sub":"ada"`)
	require.Equal(t, 401, c.do("GET", "/_schema", "").status)
	require.Equal(t, `{"format":1,"fenecql":"`+tasksDeclared+`"}`, c.do("GET", "/_schema?as=fenecql", "", as).body)
	require.Equal(t, 403, c.do("POST", "/_schema/plan", described(tasksDeclared), as).status)
	require.Equal(t, 403, c.do("POST", "/_schema/apply", described(tasksDeclared), as).status)
	r := c.do("POST", "/_schema/plan?mode=follow", described(tasksDeclared+"create collection log (what text) create collection hidden (x int)"), as)
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, 2, bytes.Count([]byte(r.body), []byte("collection_missing")))
	require.Equal(t, 200, c.do("POST", "/_schema/apply", described(tasksMore), "Authorization: Bearer root").status)
}

func TestSchemaIsAudited(t *testing.T) {
	var audit bytes.Buffer
	c := start(t, serve.Options{AuditLog: &audit}, tasks...)
	require.Equal(t, http.StatusOK, c.do("POST", "/_schema/plan", described(tasksMore)).status)
	require.Empty(t, audit.String())
	require.Equal(t, http.StatusOK, c.do("POST", "/_schema/apply", described(tasksMore, "del tasks")).status)
	require.Equal(t, 1, bytes.Count(audit.Bytes(), []byte{'\n'}), audit.String())
	require.Contains(t, audit.String(), `"failed":false`)
}
