package router_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

// deadAddr is an address that nobody listens on.
func deadAddr(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func nodeBody(addr, token string) string { return fmt.Sprintf(`{"addr":%q,"token":%q}`, addr, token) }

func TestNodes(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		n1, n2 := newNode(t), newNode(t)

		status, body := g.call("GET", "/_shard/nodes", "")
		require.Equal(t, 200, status)
		require.Equal(t, "[]", body)

		status, body = g.call("PUT", "/_shard/nodes/n1", nodeBody(n1.addr(), n1.token))
		require.Equal(t, 201, status, body)
		require.JSONEq(t, `{"node":"n1","unreplicated":[]}`, body)
		require.Equal(t, []string{"GET /_admin/stats"}, n1.asked)

		status, body = g.call("GET", "/_shard/nodes", "")
		require.Equal(t, 200, status)
		require.Equal(t, fmt.Sprintf(`[{"name":"n1","addr":%q}]`, n1.addr()), body)

		status, _ = g.call("PUT", "/_shard/nodes/n1", nodeBody(n2.addr(), n2.token))
		require.Equal(t, 201, status)
		_, body = g.call("GET", "/_shard/nodes", "")
		require.Equal(t, fmt.Sprintf(`[{"name":"n1","addr":%q}]`, n2.addr()), body, "a new address, not a second row")

		status, _ = g.call("DELETE", "/_shard/nodes/n1", "")
		require.Equal(t, 204, status)
		status, _ = g.call("DELETE", "/_shard/nodes/n1", "")
		require.Equal(t, 404, status)
	})
}

func TestNodeRefused(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{UpstreamTimeout: time.Second})
	n := newNode(t)
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	t.Cleanup(html.Close)
	for _, c := range []struct {
		name, path, body string
		status           int
	}{
		{"wrong token", "n1", nodeBody(n.addr(), "guess"), 502},
		{"dead address", "n1", nodeBody(deadAddr(t), n.token), 502},
		{"no node at all", "n1", nodeBody(html.Listener.Addr().String(), n.token), 502},
		{"no address", "n1", `{"token":"x"}`, 400},
		{"no token", "n1", fmt.Sprintf(`{"addr":%q}`, n.addr()), 400},
		{"null token", "n1", fmt.Sprintf(`{"addr":%q,"token":null}`, n.addr()), 400},
		{"no body", "n1", "", 400},
		{"bad name", "N1", nodeBody(n.addr(), n.token), 400},
		{"bad name, encoded", "a%2Fb", nodeBody(n.addr(), n.token), 400},
		{"address without a port", "n1", nodeBody("localhost", n.token), 400},
		{"address that splits a header", "n1", `{"addr":"a\r\nb:1","token":"x"}`, 400},
		{"token that splits a header", "n1", fmt.Sprintf(`{"addr":%q,"token":"a\r\nb"}`, n.addr()), 400},
		{"not an object", "n1", `["addr"]`, 400},
		{"not flat", "n1", `{"addr":{"host":"x"}}`, 400},
		{"not a text", "n1", `{"addr":1}`, 400},
		{"cut short", "n1", `{"addr":"x`, 400},
		{"something behind", "n1", nodeBody(n.addr(), n.token) + "x", 400},
		{"member twice", "n1", `{"addr":"a:1","addr":"b:1","token":"x"}`, 400},
		{"unknown member", "n1", `{"addr":"a:1","token":"x","shadow":"n2"}`, 400},
		{"not UTF-8", "n1", "{\"addr\":\"\xff:1\",\"token\":\"x\"}", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := g.call("PUT", "/_shard/nodes/"+c.path, c.body)
			require.Equal(t, c.status, status, body)
			require.Contains(t, body, `"error"`)
			require.Empty(t, g.rt.Directory().Nodes())
		})
	}
}

func TestCreateTenant(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		n1, n2 := newNode(t), newNode(t)
		g.place("n1", n1.addr())
		g.place("n2", n2.addr())

		status, body := g.call("PUT", "/_shard/tenants/acme", `{"node":"n2"}`)
		require.Equal(t, 201, status, body)
		require.JSONEq(t, `{"tenant":"acme","node":"n2"}`, body)
		require.True(t, n2.has("acme"))
		require.False(t, n1.has("acme"))
		where, ok := g.rt.Directory().Tenant("acme")
		require.True(t, ok)
		require.Equal(t, placed("acme", "n2", router.StateActive, 1), where)

		status, body = g.call("GET", "/_shard/tenants", "")
		require.Equal(t, 200, status)
		require.Equal(t, `[{"name":"acme","node":"n2","state":"active","epoch":1}]`, body)
		_, body = g.call("GET", "/_shard/tenants?bytes", "")
		require.Equal(t, `[{"name":"acme","node":"n2","state":"active","epoch":1,"bytes":4096}]`, body)

		status, _ = g.call("GET", "/t/acme/notes", "")
		require.Equal(t, 200, status)
	})
}

func TestCreateTenantRefused(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{UpstreamTimeout: time.Second})
	n1 := newNode(t)
	g.place("n1", n1.addr(), "taken")
	g.place("down", deadAddr(t))
	n1.set(func() { n1.tenants["stray"] = 1 })
	for _, c := range []struct {
		name, tenant, body string
		status             int
	}{
		{"exists", "taken", `{"node":"n1"}`, 409},
		{"bad name", "Acme", `{"node":"n1"}`, 400},
		{"name too long", strings.Repeat("a", 65), `{"node":"n1"}`, 400},
		{"slash in the name", "a%2Fb", `{"node":"n1"}`, 400},
		{"unknown node", "acme", `{"node":"n9"}`, 404},
		{"the node has a file of that name", "stray", `{"node":"n1"}`, 409},
		{"the node is down", "acme", `{"node":"down"}`, 502},
		{"unknown member", "acme", `{"quota":1}`, 400},
		{"not an object", "acme", `"n1"`, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := g.call("PUT", "/_shard/tenants/"+c.tenant, c.body)
			require.Equal(t, c.status, status, body)
			require.Len(t, g.rt.Directory().Tenants(), 1)
		})
	}
	require.True(t, n1.has("stray"), "a file that was there before stays")
}

func TestCreateViaNode(t *testing.T) {
	for _, c := range []struct{ node, want int }{
		{400, 400}, {403, 403}, {409, 409}, {429, 429}, {500, 502}, {503, 502}, {200, 502}, {301, 502},
	} {
		g := startRouter(t, ownFace, router.Options{})
		n := newNode(t)
		n.refuse = c.node
		g.place("n1", n.addr())
		status, body := g.call("PUT", "/_shard/tenants/acme", "")
		require.Equal(t, c.want, status, "the node answers %d", c.node)
		require.Contains(t, body, "n1")
		require.Empty(t, g.rt.Directory().Tenants())
	}
}

// TestRedirectsAreNotFollowed has a node point elsewhere: the token must not go
// there.
func TestRedirectsAreNotFollowed(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("followed") }))
	t.Cleanup(elsewhere.Close)
	n := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(n.Close)
	g.place("n1", n.Listener.Addr().String())
	status, _ := g.call("PUT", "/_shard/tenants/acme", `{"node":"n1"}`)
	require.Equal(t, 502, status)
}

func TestPlacement(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{UpstreamTimeout: time.Second})
	status, _ := g.call("PUT", "/_shard/tenants/acme", "")
	require.Equal(t, 409, status, "no node is recorded")

	g.place("n3", deadAddr(t))
	status, head, body := g.callHead("PUT", "/_shard/tenants/acme", "")
	require.Equal(t, 503, status, "no node answers")
	require.Equal(t, "1", head.Get("Retry-After"))
	require.Contains(t, body, `"retry_after":1`)

	n1, n2 := newNode(t), newNode(t)
	g.place("n2", n2.addr())
	g.place("n1", n1.addr())
	placed := func(tenant string) string {
		status, body := g.call("PUT", "/_shard/tenants/"+tenant, "")
		require.Equal(t, 201, status, body)
		where, _ := g.rt.Directory().Tenant(tenant)
		return where.Node
	}
	require.Equal(t, "n1", placed("even"), "equal disks: the first by name")
	n1.set(func() { n1.disk = 10 })
	require.Equal(t, "n2", placed("small"), "the emptier one")
	n2.set(func() { n2.disk = 11 })
	require.Equal(t, "n1", placed("large"))
}

func TestDeleteTenant(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{UpstreamTimeout: time.Second})
		n := newNode(t)
		g.place("n1", n.addr(), "acme", "lost", "busy")
		g.place("down", deadAddr(t), "beta")
		n.set(func() { n.tenants["acme"], n.tenants["busy"] = 1, 1 })

		remove := func(tenant string) int {
			status, _ := g.call("DELETE", "/_shard/tenants/"+tenant, "")
			return status
		}
		listed := func(tenant string) bool { _, ok := g.rt.Directory().Tenant(tenant); return ok }

		require.Equal(t, 204, remove("acme"))
		require.False(t, n.has("acme"))
		require.False(t, listed("acme"))
		require.Equal(t, "DELETE /_admin/tenants/acme", n.asked[len(n.asked)-1], "into the trash, not purged")
		status, body := g.call("GET", "/t/acme/notes", "")
		require.Equal(t, 404, status)
		require.Contains(t, body, `"code":"unknown-tenant"`)

		require.Equal(t, 404, remove("acme"))
		require.Equal(t, 400, remove("Acme"))
		require.Equal(t, 204, remove("lost"), "the node has lost the file")
		require.False(t, listed("lost"))
		for _, status := range []int{409, 503} {
			n.set(func() { n.refuse = status })
			require.Equal(t, status, remove("busy"))
			require.True(t, listed("busy"))
			require.True(t, n.has("busy"))
		}
		require.Equal(t, 502, remove("beta"), "the node is down")
		require.True(t, listed("beta"))
	})
}

func TestDeleteNodeInUse(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	n := newNode(t)
	g.place("n1", n.addr(), "acme")
	status, _ := g.call("DELETE", "/_shard/nodes/n1", "")
	require.Equal(t, 409, status)
	require.NoError(t, g.rt.Directory().Forget("acme"))
	status, _ = g.call("DELETE", "/_shard/nodes/n1", "")
	require.Equal(t, 204, status)
}

func TestOneOperationPerTenant(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	arrived, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(arrived) })
		<-release
		w.WriteHeader(map[string]int{"GET": 404, "PUT": 201}[r.Method])
	}))
	t.Cleanup(gate.Close)
	g.place("n1", gate.Listener.Addr().String(), "other")

	first := make(chan int)
	go func() {
		status, _ := g.call("PUT", "/_shard/tenants/acme", `{"node":"n1"}`)
		first <- status
	}()
	<-arrived
	for _, method := range []string{"PUT", "DELETE"} {
		status, body := g.call(method, "/_shard/tenants/acme", "")
		require.Equal(t, 409, status)
		require.Contains(t, body, "in progress")
	}
	close(release)
	require.Equal(t, 201, <-first)
	_, ok := g.rt.Directory().Tenant("acme")
	require.True(t, ok)
}

func TestTwoCreatesAtOnce(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{})
	n := newNode(t)
	g.place("n1", n.addr())
	results := make(chan int)
	for range 2 {
		go func() {
			status, _ := g.call("PUT", "/_shard/tenants/acme", "")
			results <- status
		}()
	}
	require.ElementsMatch(t, []int{201, 409}, []int{<-results, <-results})
}

func TestRouterToken(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{Token: router.NewToken("secret")})
		n := newNode(t)
		g.place("n1", n.addr(), "acme")
		for _, header := range []string{"X: y", "Authorization: Bearer guess", "Authorization: Bearer ", "Authorization: secret", "Authorization: Bearer admin-secret"} {
			for _, target := range []string{"/_shard/nodes", "/_shard/tenants", "/_shard/nowhere"} {
				status, head, body := g.callHead("GET", target, "", header)
				require.Equal(t, 401, status, header)
				require.Equal(t, "Bearer", head.Get("WWW-Authenticate"))
				require.NotContains(t, body, "secret")
			}
		}
		status, _ := g.call("GET", "/_shard/nodes", "", "Authorization: Bearer secret")
		require.Equal(t, 200, status)
		status, _ = g.call("GET", "/t/acme/notes", "")
		require.Equal(t, 200, status, "tenants' requests need no token of the router's")
		status, _ = g.call("GET", "/_health", "")
		require.Equal(t, 200, status)
	})
}

func TestSizesWithANodeDown(t *testing.T) {
	g := startRouter(t, ownFace, router.Options{UpstreamTimeout: time.Second})
	n := newNode(t)
	n.tenants["acme"] = 1234
	g.place("n1", n.addr(), "acme", "lost")
	g.place("n2", deadAddr(t), "beta")
	status, body := g.call("GET", "/_shard/tenants?bytes", "")
	require.Equal(t, 200, status)
	require.JSONEq(t, `[
		{"name":"acme","node":"n1","state":"active","epoch":1,"bytes":1234},
		{"name":"beta","node":"n2","state":"active","epoch":1},
		{"name":"lost","node":"n1","state":"active","epoch":1}]`, body)
}

func TestUnknownPaths(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		for _, c := range []struct {
			method, target string
			status         int
		}{
			{"GET", "/elsewhere", 404},
			{"GET", "/", 404},
			{"GET", "/t", 404},
			{"GET", "/t/", 404},
			{"GET", "/t/nobody/notes", 404},
			{"GET", "/t/Bad/notes", 400},
			{"GET", "/t/../notes", 400},
			{"GET", "/t/a%2Fb/notes", 400},
			{"GET", "/_shard", 404},
			{"POST", "/_shard/nodes", 404},
			{"GET", "/_shard/nodes/n1", 404},
			{"PUT", "/_shard/tenants/a/b", 404},
			{"POST", "/_metrics", 405},
			{"GET", "/_ready", 200},
			{"HEAD", "/_ready", 200},
			{"POST", "/_ready", 404},
			{"GET", "/_health/x", 404},
			{"GET", "/_replication", 404},
			{"GET", "/_health", 200},
			{"HEAD", "/_health", 200},
			{"GET", "//_health/", 200},
			{"POST", "/_health", 404},
			{"OPTIONS", "*", 404},
		} {
			if f == httpFace && c.target == "*" {
				continue // net/http answers it
			}
			status, head, body := g.callHead(c.method, c.target, "")
			require.Equal(t, c.status, status, "%s %s: %s", c.method, c.target, body)
			require.Len(t, head.Values("X-Request-Id"), 1)
			if c.method != "HEAD" {
				require.Equal(t, "application/json; charset=utf-8", head.Get("Content-Type"))
				require.Equal(t, fmt.Sprint(len(body)), head.Get("Content-Length"))
			}
		}
		_, body := g.call("GET", "/_health", "")
		require.Equal(t, `{"ok":true}`, body)
	})
}

func TestTokensAreNotPrinted(t *testing.T) {
	n := router.Node{Name: "n1", Addr: "a:1", Token: router.NewToken("hush")}
	hidden := struct {
		token router.Token
		node  *router.Node
		nodes []router.Node
		any   any
	}{router.NewToken("hush"), &n, []router.Node{n}, n.Token}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		require.NotContains(t, fmt.Sprintf(verb, n), "hush", verb)
		require.NotContains(t, fmt.Sprintf(verb, n.Token), "hush", verb)
		require.NotContains(t, fmt.Sprintf(verb, &n.Token), "hush", verb)
		require.NotContains(t, fmt.Sprintf(verb, hidden), "hush", verb)
		require.NotContains(t, fmt.Sprintf(verb, &hidden), "hush", verb)
	}
	require.Equal(t, "[redacted]", n.Token.String())
	require.Empty(t, router.Token{}.String())
	text, err := json.Marshal(n)
	require.NoError(t, err)
	require.JSONEq(t, `{"Name":"n1","Addr":"a:1","Token":"[redacted]"}`, string(text))
	require.True(t, n.Token.Opens("hush"))
	require.False(t, n.Token.Opens("hush "))
	require.False(t, router.Token{}.Opens(""))
}
