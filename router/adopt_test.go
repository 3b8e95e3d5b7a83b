package router

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/quota"
)

// failsAt answers requests of that method and path with a status, and breaks off with 0.
func failsAt(method, path string, status int) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || r.URL.Path != path {
			return false
		}
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		return true
	}
}

// silent answers nothing.
func silent(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

// A directory that was restored from a copy does not know a tenant.
func TestAdopt(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	limits := quota.Limits{Rows: 1000}
	_, err := rt.SetQuota(t.Context(), "acme", limits)
	require.NoError(t, err)
	require.NoError(t, rt.directory.Forget("acme"))

	status, body := shardCall(t, addr, "GET", "unplaced", "")
	require.Equal(t, 200, status)
	require.Regexp(t, `^{"files":\[{"tenant":"acme","node":"n1","bytes":\d{4,}}\],"silent":\[\]}$`, body)
	status, body = shardCall(t, addr, "POST", "tenants/acme/adopt", "")
	require.Equal(t, 200, status, body)
	require.Regexp(t, `^{"tenant":"acme","node":"n1","seq":\d+,"frozen":false,("role":"primary",)?"quota":{"rows":1000}}$`, body)
	require.Contains(t, mustRun(t, addr, "acme", "get docs count"), `"count":10`)
	require.Equal(t, limits, rt.directory.Quota("acme"))
	at, _ := rt.directory.Tenant("acme")
	require.EqualValues(t, 2, at.Epoch)
	requireSettled(t, rt, addr, n1, n2)

	_, body = shardCall(t, addr, "GET", "unplaced", "")
	require.Equal(t, `{"files":[],"silent":[]}`, body)
	status, body = shardCall(t, addr, "POST", "tenants/acme/adopt", `{"node":"n1"}`)
	require.Equal(t, 409, status)
	require.Contains(t, body, "tenant exists")
}

// Of several files nobody but the operator can tell which is the tenant.
func TestAdoptOneOfSeveral(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	require.NoError(t, rt.directory.Forget("acme"))
	require.NoError(t, rt.admin.create(t.Context(), n2.Node, "acme"))
	frozen, err := rt.admin.freeze(t.Context(), n1.Node, "acme", 0)
	require.NoError(t, err)

	_, err = rt.Adopt(t.Context(), "acme", "", false)
	var several *CopiesError
	require.ErrorAs(t, err, &several)
	require.Equal(t, []Copy{{"n1", frozen.Seq, true, several.Copies[0].Role}, {"n2", several.Copies[1].Seq, false, several.Copies[1].Role}}, several.Copies)
	status, body := shardCall(t, addr, "POST", "tenants/acme/adopt", "{}")
	require.Equal(t, 409, status)
	require.Regexp(t, `^{"error":"tenant acme: several nodes have it, name one: node n1 \(at \d+, frozen\), node n2 \(at \d+\)",`+
		`"copies":\[{"node":"n1","seq":\d+,"frozen":true(,"role":"primary")?},{"node":"n2","seq":\d+,"frozen":false(,"role":"primary")?}\]}$`, body)
	require.Empty(t, rt.directory.Tenants())

	status, body = shardCall(t, addr, "POST", "tenants/acme/adopt", `{"node":"n1"}`)
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"frozen":true`)
	status, _ = statement(t, addr, "acme", "put docs {n: 10}")
	require.Equal(t, 503, status)
	status, body = shardCall(t, addr, "POST", "tenants/acme/thaw", "")
	require.Equal(t, 200, status)
	require.Equal(t, `{"tenant":"acme","node":"n1","frozen":false}`, body)
	mustRun(t, addr, "acme", "put docs {n: 10}")
	_, body = shardCall(t, addr, "GET", "unplaced", "")
	require.Regexp(t, `^{"files":\[{"tenant":"acme","node":"n2","bytes":\d+,"placed":"n1"}\],"silent":\[\]}$`, body)
}

// says answers how a tenant stands on a node.
func says(text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.URL.Path != "/_admin/tenants/acme" {
			return false
		}
		_, err := io.WriteString(w, text)
		return err == nil
	}
}

// What follows another copy is not what is looked for, unless there is nothing else.
func TestAdoptBesideReplicas(t *testing.T) {
	const primary, replica = `{"seq":7,"role":"primary"}`, `{"seq":9,"role":"replica"}`
	for _, c := range []struct {
		name, on1, on2, body string
		status               int
		says                 string
		promoted             string // the node whose copy follows no more
	}{
		{"one leads", replica, primary, "", 200, `"node":"n2","seq":7,"frozen":false,"role":"primary"`, ""},
		{"none leads", replica, replica, "", 409, "node n1 (at 9, a replica), node n2 (at 9, a replica)", ""},
		{"both lead", primary, primary, "", 409, "node n1 (at 7), node n2 (at 7)", ""},
		{"a replica is named", replica, primary, `{"node":"n1"}`, 200, `"node":"n1","seq":9,"frozen":false,"role":"primary"`, "n1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
			rt, addr := routerOver(t, Options{}, n1, n2)
			promoted := make(chan string, 2)
			for n, text := range map[*localNode]string{n1: c.on1, n2: c.on2} {
				require.NoError(t, rt.admin.create(t.Context(), n.Node, "acme"))
				n.failing(func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path == "/_admin/tenants/acme/promote" {
						promoted <- n.Name
						return true
					}
					return says(text)(w, r)
				})
			}
			status, body := shardCall(t, addr, "POST", "tenants/acme/adopt", c.body)
			require.Equal(t, c.status, status, body)
			require.Contains(t, body, c.says)
			close(promoted)
			require.Equal(t, c.promoted, <-promoted)
		})
	}
}

func TestAdoptRefused(t *testing.T) {
	for _, c := range []struct {
		name, tenant, body string
		status             int
		says               string
		before             func(rt *Router, n1, n2 *localNode)
	}{
		{"bad name", "Acme", "", 400, "a name is", nil},
		{"bad body", "acme", `{"nodes":"n1"}`, 400, "unknown member", nil},
		{"bad node", "acme", `{"node":"N1"}`, 400, "a name is", nil},
		{"unknown node", "acme", `{"node":"n3"}`, 404, "node n3: unknown node", nil},
		{"not there", "acme", `{"node":"n2"}`, 404, "node n2: there is no file of it", nil},
		{"nowhere", "beta", "", 404, "tenant beta: there is no file of it", nil},
		{"in use", "acme", "", 409, "in progress", func(rt *Router, _, _ *localNode) { rt.directory.Claim("acme") }},
		{"a stray", "acme", `{"node":"n1"}`, 409, "cleared away", func(rt *Router, _, _ *localNode) {
			rt.directory.expect(Stray{Tenant: "acme", Node: "n1"})
		}},
		{"only a stray", "acme", "", 404, "no file", func(rt *Router, _, _ *localNode) {
			rt.directory.expect(Stray{Tenant: "acme", Node: "n1"})
		}},
		{"another node is silent", "acme", "", 503, "some nodes do not say whether they have it: node n2", func(_ *Router, _, n2 *localNode) { n2.failing(silent) }},
		{"the node is silent", "acme", `{"node":"n1"}`, 502, "node n1", func(_ *Router, n1, _ *localNode) { n1.failing(silent) }},
		{"the node does not tell the quota", "acme", `{"node":"n1"}`, 502, "node n1 answered 500", func(_ *Router, n1, _ *localNode) {
			n1.failing(failsAt("GET", "/_admin/tenants/acme/quota", 500))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
			rt, addr := routerOver(t, Options{}, n1, n2)
			require.NoError(t, rt.admin.create(t.Context(), n1.Node, "acme"))
			if c.before != nil {
				c.before(rt, n1, n2)
			}
			status, body := shardCall(t, addr, "POST", "tenants/"+c.tenant+"/adopt", c.body)
			require.Equal(t, c.status, status, body)
			require.Contains(t, body, c.says)
			require.Empty(t, rt.directory.Tenants())
			require.True(t, n1.holds(t, "acme"))
		})
	}
}

// A tenant on a node that is being drained is moved off once it is adopted.
func TestAdoptOnADrainedNode(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	require.NoError(t, rt.directory.Forget("acme"))
	require.NoError(t, rt.Drain("n1"))
	_, err := rt.Adopt(t.Context(), "acme", "", false)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return rt.directory.Placed("n2") == 1 }, 10*time.Second, time.Millisecond)
}

func TestUnplaced(t *testing.T) {
	n1, n2, n3 := startLocalNode(t, "n1"), startLocalNode(t, "n2"), startLocalNode(t, "n3")
	rt, addr := routerOver(t, Options{}, n1, n2, n3)
	n3.failing(silent)
	release, err := rt.directory.Claim("acme") // so that nothing ends the move
	require.NoError(t, err)
	defer release()
	for _, n := range []*localNode{n1, n2} {
		for _, name := range []string{"acme", "beta", "gamma"} {
			require.NoError(t, rt.admin.create(t.Context(), n.Node, name))
		}
	}
	require.NoError(t, rt.directory.Place("acme", n1.Node))
	require.NoError(t, rt.directory.beginMove("acme", "n2"))
	require.NoError(t, rt.directory.Place("beta", n1.Node))
	require.NoError(t, rt.directory.expect(Stray{Tenant: "gamma", Node: "n1"}))
	found := rt.Unplaced(t.Context())
	for i := range found.Files {
		require.Positive(t, found.Files[i].Bytes)
		found.Files[i].Bytes = 0
	}
	require.Equal(t, Unplaced{[]UnplacedFile{{"beta", "n2", 0, "n1"}, {"gamma", "n2", 0, ""}}, []string{"n3"}}, found)
	_, body := shardCall(t, addr, "GET", "strays", "")
	require.Equal(t, `[{"tenant":"gamma","node":"n1"}]`, body)
}

// What a move clears away while its node is asked is no news.
func TestUnplacedAsksAgain(t *testing.T) {
	n1 := startLocalNode(t, "n1")
	rt, _ := routerOver(t, Options{}, n1)
	asked := 0
	n1.failing(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/_admin/sizes" {
			return false
		}
		if asked++; asked > 1 {
			return false
		}
		_, err := io.WriteString(w, `{"acme":4096}`)
		return err == nil
	})
	require.Equal(t, Unplaced{[]UnplacedFile{}, []string{}}, rt.Unplaced(t.Context()))
	require.Equal(t, 2, asked)
}

func TestThawRefused(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	acmeOn(t, addr, "n1")
	thaw := func(tenant string) (int, string) { return shardCall(t, addr, "POST", "tenants/"+tenant+"/thaw", "") }
	status, body := thaw("nobody")
	require.Equal(t, 404, status)
	require.Contains(t, body, "unknown-tenant")
	status, _ = thaw("Acme")
	require.Equal(t, 400, status)

	// A move that nobody ends, as a node is silent.
	n2.failing(silent)
	require.NoError(t, rt.directory.beginMove("acme", "n2"))
	status, body = thaw("acme")
	require.Equal(t, 409, status)
	require.Contains(t, body, "in progress")
	require.NoError(t, rt.directory.endMove("acme", nil))
	release, err := rt.directory.Claim("acme")
	require.NoError(t, err)
	status, _ = thaw("acme")
	require.Equal(t, 409, status)
	release()
	n1.failing(silent)
	_, err = rt.Thaw(t.Context(), "acme")
	var node *NodeError
	require.True(t, errors.As(err, &node), err)
}
