package router

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// requireMakable waits until nothing is left of the tenant, and makes it.
func requireMakable(t *testing.T, rt *Router, addr string, n *localNode) {
	t.Helper()
	require.Eventually(t, func() bool { return len(rt.directory.Strays()) == 0 }, 10*time.Second, time.Millisecond)
	require.False(t, n.holds(t, "acme"))
	status, body := shardCall(t, addr, "PUT", "tenants/acme", "")
	require.Equal(t, 201, status, body)
	require.Empty(t, rt.directory.Strays())
	require.True(t, n.holds(t, "acme"))
}

// A router that ends between the node's file and the tenant's place leaves neither.
func TestRouterEndsInACreate(t *testing.T) {
	n := startLocalNode(t, "n1")
	d, err := OpenDirectory("")
	require.NoError(t, err)
	require.NoError(t, d.PutNode(n.Node))
	require.NoError(t, d.expect(Stray{Tenant: "acme", Node: "n1"}))
	require.NoError(t, newAdmin(time.Minute).create(t.Context(), n.Node, "acme"))
	rt, addr := routerOver(t, Options{Directory: d})
	requireMakable(t, rt, addr, n)
}

// A node whose answer is lost has made a file that nobody waits for.
func TestCreateWithoutAnAnswer(t *testing.T) {
	n := startLocalNode(t, "n1")
	rt, addr := routerOver(t, Options{}, n)
	made := make(chan int, 1)
	n.failing(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut {
			return false
		}
		lost := httptest.NewRecorder()
		n.node.ServeHTTP(lost, r)
		made <- lost.Code
		panic(http.ErrAbortHandler)
	})
	status, body := shardCall(t, addr, "PUT", "tenants/acme", "")
	require.Equal(t, 502, status, body)
	require.Equal(t, 201, <-made)
	n.failing(nil)
	requireMakable(t, rt, addr, n)
}

// A file that the router has not had made is never cleared away, not even if it came in
// the very moment.
func TestCreateOverAFile(t *testing.T) {
	for name, fault := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"that was there": nil,
		"that has come just now": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet && r.URL.Path == "/_admin/tenants/acme" {
				w.WriteHeader(404)
				return true
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := startLocalNode(t, "n1")
			rt, addr := routerOver(t, Options{}, n)
			require.NoError(t, rt.admin.create(t.Context(), n.Node, "acme"))
			n.failing(fault)
			status, body := shardCall(t, addr, "PUT", "tenants/acme", "")
			require.Equal(t, 409, status, body)
			require.Empty(t, rt.directory.Strays())
			require.Empty(t, rt.directory.Tenants())
			require.True(t, n.holds(t, "acme"))
		})
	}
}
