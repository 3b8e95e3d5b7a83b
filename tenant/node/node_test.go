package node_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/tenant/node"
)

// secretA is the admin token of the tests.
var secretA = serve.NewSecret("a")

type client struct {
	t    *testing.T
	url  string
	dir  string
	node *node.Node
}

func start(t *testing.T, opts node.Options) *client {
	t.Helper()
	dir := t.TempDir()
	n, err := node.Open(dir, opts)
	require.NoError(t, err)
	srv := httptest.NewServer(n)
	t.Cleanup(func() {
		require.NoError(t, n.Close())
		srv.Close()
	})
	return &client{t, srv.URL, dir, n}
}

func (c *client) do(method, path, token, body string) (int, string) {
	c.t.Helper()
	req, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	require.NoError(c.t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return res.StatusCode, string(b)
}

// want asks and compares status and body; an empty body is not compared.
func (c *client) want(status int, body, method, path, token, send string) {
	c.t.Helper()
	gotStatus, gotBody := c.do(method, path, token, send)
	require.Equal(c.t, status, gotStatus, "%s %s: %s", method, path, gotBody)
	if body != "" {
		require.Equal(c.t, body, gotBody)
	}
}

func (c *client) query(tenant, text string) (int, string) {
	b, err := json.Marshal(map[string]string{"query": text})
	require.NoError(c.t, err)
	return c.do("POST", "/t/"+tenant+"/query", "", string(b))
}

func TestTenantsComeAndGo(t *testing.T) {
	c := start(t, node.Options{AdminToken: serve.NewSecret("a")})
	c.want(201, `{"created":"acme"}`, "PUT", "/_admin/tenants/acme", "a", "")
	require.FileExists(t, filepath.Join(c.dir, "acme.fenec"))
	c.want(409, "", "PUT", "/_admin/tenants/acme", "a", "")
	for _, name := range []string{"Acme", "a.b", strings.Repeat("x", 65), "a%2Fb"} {
		c.want(400, "", "PUT", "/_admin/tenants/"+name, "a", "")
	}
	long := strings.Repeat("x", 64)
	c.want(201, "", "PUT", "/_admin/tenants/a-b_9", "a", "")
	c.want(201, "", "PUT", "/_admin/tenants/"+long, "a", "")
	c.want(200, `["a-b_9","acme","`+long+`"]`, "GET", "/_admin/tenants", "a", "")
	c.want(204, "", "DELETE", "/_admin/tenants/acme", "a", "")
	c.want(404, "", "DELETE", "/_admin/tenants/acme", "a", "")
	c.want(404, "", "GET", "/t/acme/", "", "")
	found, err := filepath.Glob(filepath.Join(c.dir, "acme*"))
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestUnknownTenantsLeaveNothing(t *testing.T) {
	c := start(t, node.Options{AdminToken: serve.NewSecret("a")})
	c.want(404, "", "GET", "/t/nope/", "", "")
	c.want(404, "", "POST", "/t/nope/query", "", `{"query":"get x"}`)
	c.want(400, "", "GET", "/t/Bad/", "", "")
	c.want(404, "", "GET", "/notes", "", "")
	none, err := filepath.Glob(filepath.Join(c.dir, "[a-z]*"))
	require.NoError(t, err)
	require.Empty(t, none)
	_, stats := c.do("GET", "/_admin/stats", "a", "")
	require.Contains(t, stats, `{"tenants":0,"disk":0,"memory":0,"open":0,"boot":"`)
}

func TestTenantsAreApart(t *testing.T) {
	c := start(t, node.Options{AdminToken: serve.NewSecret("a")})
	for _, name := range []string{"acme", "beta"} {
		c.want(201, "", "PUT", "/_admin/tenants/"+name, "a", "")
		status, body := c.query(name, "create collection notes (a int)")
		require.Equal(t, 200, status, body)
	}
	_, body := c.query("acme", "put notes {a: 1}")
	require.Equal(t, `{"affected":1}`, body)
	_, body = c.query("beta", "get notes")
	require.Equal(t, `[]`, body)
	_, _ = c.query("beta", "put notes {a: 2}")
	_, body = c.query("beta", "get notes")
	require.Equal(t, `[{"id":1,"a":2}]`, body)
	status, body := c.do("GET", "//t//acme//collections", "", "")
	require.Equal(t, 200, status)
	require.Contains(t, body, `"name":"notes"`)
}

func TestTokens(t *testing.T) {
	c := start(t, node.Options{Surface: serve.Options{Token: serve.NewSecret("d")}, AdminToken: serve.NewSecret("a")})
	c.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	for _, token := range []string{"", "d", "x"} {
		c.want(401, "", "PUT", "/_admin/tenants/beta", token, "")
	}
	for _, token := range []string{"", "a", "x"} {
		c.want(401, "", "GET", "/t/acme/", token, "")
		c.want(401, "", "GET", "/t/nope/", token, "")
	}
	c.want(200, "", "GET", "/t/acme/", "d", "")
	c.want(200, `{"ok":true}`, "GET", "/_health", "", "")
	c.want(404, "", "GET", "/_admin/x", "a", "")
	off := start(t, node.Options{})
	off.want(404, "", "PUT", "/_admin/tenants/acme", "a", "")
}

func TestStatsAndSizes(t *testing.T) {
	c := start(t, node.Options{AdminToken: serve.NewSecret("a")})
	c.want(201, "", "PUT", "/_admin/tenants/acme", "a", "")
	_, body := c.do("GET", "/_admin/stats", "a", "")
	var st struct{ Tenants, Disk, Memory, Open int64 }
	require.NoError(t, json.Unmarshal([]byte(body), &st))
	require.EqualValues(t, 1, st.Tenants)
	require.EqualValues(t, 1, st.Open)
	require.Positive(t, st.Disk)
	require.Positive(t, st.Memory)
	var sizes map[string]int64
	_, body = c.do("GET", "/_admin/sizes", "a", "")
	require.NoError(t, json.Unmarshal([]byte(body), &sizes))
	require.Equal(t, map[string]int64{"acme": st.Disk}, sizes)
}
