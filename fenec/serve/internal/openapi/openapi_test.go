package openapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/catalog"
	"github.com/fenec-go/fenecdb/fenec/ql"
	"github.com/fenec-go/fenecdb/fenec/serve/internal/openapi"
)

func definitions(t *testing.T, text string) []*catalog.Collection {
	t.Helper()
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

const shop = `create collection item (name text required @text, gone int, limit int, n int, f float, b bool, raw bytes, at timestamp,
		j json, g geo, tags [text], grid [[int]], v vector<3>, h vector<2, f16>, s sparse<9>)
	alter collection item drop field gone
	create index on item (j.lang) @hash
	create collection query (x int)
	create collection collections (x int)
	create collection all_item (x int)
	create collection güneş (x int)
	create collection _own (x int)`

// node is a part of a document that was read back.
type node = map[string]any

func parse(t *testing.T, body []byte) node {
	t.Helper()
	var d node
	require.NoError(t, json.Unmarshal(body, &d))
	return d
}

func at(t *testing.T, d node, path ...string) node {
	t.Helper()
	for i, key := range path {
		next, ok := d[key].(node)
		require.True(t, ok, "no %s", strings.Join(path[:i+1], " "))
		d = next
	}
	return d
}

func TestDocumentHolds(t *testing.T) {
	for _, o := range []openapi.Options{{Version: "1"}, {Version: "1", Secured: true}, {Version: "1", ReadOnly: true}} {
		for _, text := range []string{shop, "create collection a (x int)"} {
			body, err := openapi.Document(definitions(t, text), o)
			require.NoError(t, err)
			d := parse(t, body)
			require.Empty(t, check(d))
			_, secured := d["security"]
			require.Equal(t, o.Secured, secured)
			again, err := openapi.Document(definitions(t, text), o)
			require.NoError(t, err)
			require.Equal(t, string(body), string(again))
		}
	}
}

func TestDocumentOfCollections(t *testing.T) {
	body, err := openapi.Document(definitions(t, shop), openapi.Options{Version: "1.2"})
	require.NoError(t, err)
	d := parse(t, body)
	require.Equal(t, "3.1.0", d["openapi"])
	require.Equal(t, "1.2", at(t, d, "info")["version"])
	for path, methods := range map[string]string{
		"/item": "delete get patch post put", "/item/all": "delete patch put", "/item/near": "post", "/item/changes": "get",
		"/g%C3%BCne%C5%9F": "delete get patch post put", "/query": "delete get patch post put", "/collections": "delete get patch post put",
		"/batch": "post", "/": "get",
	} {
		require.Equal(t, methods, strings.Join(keys(at(t, d, "paths", path)), " "), path)
	}
	require.NotContains(t, string(body), "_own")
	require.NotContains(t, at(t, d, "paths"), "/query/near")
	require.Equal(t, "query", at(t, d, "paths", "/query", "post")["operationId"])
	require.Equal(t, "read_query", at(t, d, "paths", "/query", "get")["operationId"])
	require.Equal(t, "collections", at(t, d, "paths", "/collections", "get")["operationId"])

	var filters []string
	for _, p := range at(t, d, "paths", "/item", "get")["parameters"].([]any) {
		if name, ok := p.(node)["name"]; ok {
			filters = append(filters, name.(string))
		}
	}
	require.Equal(t, []string{"id", "name", "n", "f", "b", "raw", "at", "j", "tags", "j.lang"}, filters)

	document := at(t, d, "components", "schemas", "document.item")
	require.Equal(t, []any{"name"}, document["required"])
	for field, want := range map[string]string{
		"name": `{"type":["string","null"]}`, "n": `{"format":"int64","type":["integer","null"]}`,
		"f": `{"format":"double","type":["number","null"]}`, "b": `{"type":["boolean","null"]}`,
		"v":    `{"items":{"format":"float","type":"number"},"maxItems":3,"minItems":3,"type":["array","null"]}`,
		"h":    `{"items":{"format":"float","type":"number"},"maxItems":2,"minItems":2,"type":["array","null"]}`,
		"tags": `{"items":{"type":"string"},"type":["array","null"]}`,
		"grid": `{"items":{"items":{"format":"int64","type":"integer"},"type":"array"},"type":["array","null"]}`,
		"j":    `{"description":"any JSON"}`,
	} {
		got, err := json.Marshal(at(t, document, "properties")[field])
		require.NoError(t, err)
		require.Equal(t, want, string(got), field)
	}
	require.Equal(t, node{"format": "date-time", "type": []any{"string", "null"}}, at(t, d, "components", "schemas", "row.item", "properties", "at"))
	require.Contains(t, at(t, document, "properties"), "id")
	require.NotContains(t, at(t, document, "properties"), "gone")
	require.NotContains(t, at(t, d, "components", "schemas", "change.item", "properties"), "id")

	near := at(t, d, "paths", "/item/near", "post", "requestBody", "content", "application/json", "schema", "properties")
	require.Equal(t, []any{"g", "v", "h", "s"}, at(t, near, "field")["enum"])
	require.Equal(t, []any{"name"}, at(t, near, "match_field")["enum"])
}

func TestReadOnlyDocument(t *testing.T) {
	body, err := openapi.Document(definitions(t, shop), openapi.Options{ReadOnly: true})
	require.NoError(t, err)
	d := parse(t, body)
	require.Equal(t, []string{"get"}, keys(at(t, d, "paths", "/item")))
	require.Equal(t, []string{"post"}, keys(at(t, d, "paths", "/item/near")))
	require.NotContains(t, at(t, d, "paths"), "/item/all")
}

func keys(m node) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// The checker is told apart from what it lets through.
func TestCheck(t *testing.T) {
	for _, tc := range []struct{ from, to, want string }{
		{`"openapi":"3.1.0"`, `"openapi":"2.0"`, "openapi"},
		{`"title":"FenecDB",`, ``, "title"},
		{`#/components/schemas/error`, `#/components/schemas/eror`, "resolves to nothing"},
		{`"operationId":"read_a"`, `"operationId":"query"`, "twice"},
		{`"in":"query"`, `"in":"body"`, "parameter"},
		{`"description":"what was wrong",`, ``, "response"},
		{`"type":"boolean"`, `"type":"bool"`, "type"},
		{`"required":true`, `"required":"yes"`, "requestBody"},
		{`"/batch"`, `"batch"`, "begin"},
	} {
		body, err := openapi.Document(definitions(t, "create collection a (x int, b bool)"), openapi.Options{Version: "1"})
		require.NoError(t, err)
		require.Contains(t, string(body), tc.from)
		problems := check(parse(t, []byte(strings.ReplaceAll(string(body), tc.from, tc.to))))
		require.Contains(t, strings.Join(problems, "\n"), tc.want, tc.from)
	}
}

// checker collects what is wrong with a document as OpenAPI 3.1 has it.
type checker struct {
	root     node
	ids      map[string]bool
	problems []string
}

func check(d node) []string {
	c := &checker{root: d, ids: map[string]bool{}}
	c.document()
	return c.problems
}

func (c *checker) wrong(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) node(parent node, key, where string) node {
	n, ok := parent[key].(node)
	if !ok {
		c.wrong("%s: want an object %q", where, key)
	}
	return n
}

func (c *checker) text(parent node, key, where string) string {
	s, ok := parent[key].(string)
	if !ok || s == "" {
		c.wrong("%s: want a text %q", where, key)
	}
	return s
}

func (c *checker) document() {
	if v := c.text(c.root, "openapi", "document"); !strings.HasPrefix(v, "3.1.") {
		c.wrong("openapi: version %q", v)
	}
	about := c.node(c.root, "info", "document")
	c.text(about, "title", "info")
	c.text(about, "version", "info")
	for path, item := range c.node(c.root, "paths", "document") {
		if !strings.HasPrefix(path, "/") {
			c.wrong("%s: a path has to begin with a slash", path)
		}
		for method, o := range item.(node) {
			c.operation(path+" "+method, method, o.(node))
		}
	}
	parts := c.node(c.root, "components", "document")
	for kind, check := range map[string]func(string, node){
		"schemas": c.schema, "parameters": c.parameter, "responses": c.response, "securitySchemes": c.scheme,
	} {
		list, _ := parts[kind].(node)
		for name, part := range list {
			if !regexp.MustCompile(`^[a-zA-Z0-9._-]+$`).MatchString(name) {
				c.wrong("components: the name %q", name)
			}
			check(kind+" "+name, part.(node))
		}
	}
	security, _ := c.root["security"].([]any)
	for _, s := range security {
		for name := range s.(node) {
			c.node(c.node(parts, "securitySchemes", "components"), name, "security")
		}
	}
}

func (c *checker) operation(where, method string, o node) {
	if !slices.Contains([]string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}, method) {
		c.wrong("%s: no method", where)
	}
	id := c.text(o, "operationId", where)
	if c.ids[id] {
		c.wrong("%s: operationId %q is there twice", where, id)
	}
	c.ids[id] = true
	seen := map[string]bool{}
	parameters, _ := o["parameters"].([]any)
	for _, p := range parameters {
		p := c.resolve(where, p.(node))
		c.parameter(where, p)
		key := fmt.Sprint(p["in"], p["name"])
		if seen[key] {
			c.wrong("%s: parameter %s is there twice", where, key)
		}
		seen[key] = true
	}
	if b, ok := o["requestBody"].(node); ok {
		if _, ok := b["required"].(bool); !ok {
			c.wrong("%s: requestBody: required is no bool", where)
		}
		c.content(where+" requestBody", b)
	}
	responses := c.node(o, "responses", where)
	if len(responses) == 0 {
		c.wrong("%s: no response", where)
	}
	for status, r := range responses {
		if !regexp.MustCompile(`^([1-5]\d\d|default)$`).MatchString(status) {
			c.wrong("%s: status %q", where, status)
		}
		c.response(where+" "+status, c.resolve(where, r.(node)))
	}
}

// resolve follows a reference within the document.
func (c *checker) resolve(where string, n node) node {
	ref, ok := n["$ref"].(string)
	if !ok {
		return n
	}
	target := c.root
	for _, key := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		next, ok := target[key].(node)
		if !ok {
			c.wrong("%s: %s resolves to nothing", where, ref)
			return node{}
		}
		target = next
	}
	return target
}

func (c *checker) parameter(where string, p node) {
	c.text(p, "name", where+" parameter")
	if in := p["in"]; in != "query" && in != "header" && in != "path" && in != "cookie" {
		c.wrong("%s: parameter in %v", where, in)
	}
	c.schema(where+" parameter", c.node(p, "schema", where+" parameter"))
}

func (c *checker) response(where string, r node) {
	c.text(r, "description", where+" response")
	if _, ok := r["content"]; ok {
		c.content(where, r)
	}
}

func (c *checker) content(where string, n node) {
	for kind, m := range c.node(n, "content", where) {
		if strings.Count(kind, "/") != 1 {
			c.wrong("%s: media type %q", where, kind)
		}
		c.schema(where, c.node(m.(node), "schema", where))
	}
}

func (c *checker) scheme(where string, s node) {
	c.text(s, "type", where)
	c.text(s, "scheme", where)
}

func (c *checker) schema(where string, s node) {
	c.resolve(where, s)
	types, _ := s["type"].([]any)
	if one, ok := s["type"]; ok && types == nil {
		types = []any{one}
	}
	for _, name := range types {
		if !slices.Contains([]any{"null", "boolean", "object", "array", "number", "integer", "string"}, name) {
			c.wrong("%s: type %v", where, name)
		}
	}
	if items, ok := s["items"].(node); ok {
		c.schema(where+" items", items)
	}
	properties, _ := s["properties"].(node)
	for name, p := range properties {
		c.schema(where+" "+name, p.(node))
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if _, ok := properties[name.(string)]; !ok {
			c.wrong("%s: required %v is no property", where, name)
		}
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		list, ok := s[key].([]any)
		if ok && len(list) == 0 {
			c.wrong("%s: %s of nothing", where, key)
		}
		for _, one := range list {
			c.schema(where+" "+key, one.(node))
		}
	}
}
