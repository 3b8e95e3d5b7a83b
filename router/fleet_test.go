package router

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTenantOnRealNodes takes a tenant from its creation to its deletion, with nodes
// that are served in this process.
func TestTenantOnRealNodes(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	call := func(want int, method, path, body string) string {
		t.Helper()
		status, answer := shardCall(t, addr, method, path, body)
		require.Equal(t, want, status, answer)
		return answer
	}

	body := call(201, "PUT", "tenants/acme", `{
		"node": "n1",
		"schema": {"format": 1, "fenecql": "create collection notes (title text)"},
		"quota": {"rows": 2}
	}`)
	require.JSONEq(t, `{"tenant":"acme","node":"n1","schema":{"kind":"schema","applied":true,"ran":false,"migrations":[],
		"statements":["create collection notes (title text)"],"refusals":[]}}`, body)
	mustRun(t, addr, "acme", `put notes {title: "one"}`, `put notes {title: "two"}`)
	status, body := statement(t, addr, "acme", `put notes {title: "three"}`)
	require.Equal(t, 413, status)
	require.Contains(t, body, `"quota":"rows","limit":2`)
	require.Equal(t, `{"rows":2}`, call(200, "GET", "tenants/acme/quota", ""))
	require.Contains(t, call(200, "GET", "tenants/acme/usage", ""), `"rows":2,`)

	call(200, "POST", "tenants/acme/move", `{"to":"n2"}`)
	status, _ = statement(t, addr, "acme", `put notes {title: "three"}`)
	require.Equal(t, 413, status, "the quota went with it")
	require.Equal(t, `{"tenant":"acme","quota":{"rows":3},"sent":["n2"],"unsent":[]}`,
		call(200, "PUT", "tenants/acme/quota", `{"rows":3}`))
	mustRun(t, addr, "acme", `put notes {title: "three"}`)

	for name, schema := range map[string]string{
		"unreadable": `{"format":1,"fenecql":"create collection"}`,
		"unknown":    `{"format":99}`,
	} {
		answer := call(400, "PUT", "tenants/"+name, `{"node":"n1","schema":`+schema+`}`)
		require.Contains(t, answer, `"error"`)
		require.False(t, n1.holds(t, name))
		_, ok := rt.Directory().Tenant(name)
		require.False(t, ok)
	}

	call(204, "DELETE", "tenants/acme", "")
	require.False(t, n2.holds(t, "acme"))
	require.Zero(t, rt.Directory().Quota("acme"))
	call(201, "PUT", "tenants/acme", `{"node":"n2"}`)
	mustRun(t, addr, "acme", "create collection notes (title text)", `put notes {title: "1"}`, `put notes {title: "2"}`,
		`put notes {title: "3"}`, `put notes {title: "4"}`)
}

// TestStraysOfATenant leaves copies behind, by a move and by a create that went wrong,
// and then needs their names.
func TestStraysOfATenant(t *testing.T) {
	n1, n2 := startLocalNode(t, "n1"), startLocalNode(t, "n2")
	rt, addr := routerOver(t, Options{}, n1, n2)
	keep := func(n *localNode, kept bool) {
		n.failing(func(w http.ResponseWriter, r *http.Request) bool {
			refuse := kept && (r.Method == "DELETE" || strings.HasSuffix(r.URL.Path, "/freeze") && r.ContentLength > 0)
			if refuse {
				w.WriteHeader(503)
			}
			return refuse
		})
	}
	call := func(want int, method, path, body string) {
		t.Helper()
		var status int
		var answer string
		eventually(t, func() bool {
			status, answer = shardCall(t, addr, method, path, body)
			return !strings.Contains(answer, "in progress") // the reconciler tries the stray, too
		})
		require.Equal(t, want, status, answer)
	}
	keep(n1, true)
	call(400, "PUT", "tenants/acme", `{"node":"n1","schema":{"format":99}}`)
	require.True(t, n1.holds(t, "acme"))
	require.Equal(t, []Stray{{Tenant: "acme", Node: "n1"}}, rt.Directory().Strays())
	call(502, "PUT", "tenants/acme", `{"node":"n1"}`)
	require.Equal(t, []Stray{{Tenant: "acme", Node: "n1"}}, rt.Directory().Strays())
	call(201, "PUT", "tenants/acme", `{"node":"n2"}`)
	require.Equal(t, []Stray{{Tenant: "acme", Node: "n1"}}, rt.Directory().Strays(), "on another node it is in nobody's way")

	call(204, "DELETE", "tenants/acme", "")
	require.Equal(t, []Stray{{Tenant: "acme", Node: "n1"}}, rt.Directory().Strays(), "which is left for later")
	call(201, "PUT", "tenants/acme", `{"node":"n2"}`)
	keep(n1, false)
	call(204, "DELETE", "tenants/acme", "")
	require.Empty(t, rt.Directory().Strays())
	require.False(t, n1.holds(t, "acme"))
	require.False(t, n2.holds(t, "acme"))
	call(201, "PUT", "tenants/acme", `{"node":"n1"}`)
	require.True(t, n1.holds(t, "acme"))
}
