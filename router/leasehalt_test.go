package router

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/quota"
)

// Of two routers that run at once, the one whose directory was taken over stops when a
// node tells it so.
func TestSupersededRouterStops(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.pass(testTerm)
		d, err := newDirectory(c.directory.store)
		require.NoError(t, err)
		second := newLeasing(d, testTerm, c.logf)
		c.promote()
		c.promote()
		second.clock, second.grant, second.failOver, second.repair = c.now, c.grant, c.failOver, c.repair
		second.begin()
		defer second.close()
		c.until(c.directory.superseded)
		require.Equal(t, 1, c.logged(ErrSuperseded.Error()))
		n1, _ := c.directory.Node("n1")
		sent := len(c.sent("n1"))
		require.ErrorIs(t, c.directory.Place("e", n1), ErrSuperseded)
		c.pass(3 * testTerm)
		require.Greater(t, len(c.sent("n1")), sent, "the other goes on")
		require.True(t, c.writes("a", "n1")())
		require.False(t, d.superseded())
		require.Empty(t, c.failovers)
		_, err = c.leasing.handOver(context.Background(), "n1", []string{"a"}, true)
		require.ErrorIs(t, err, ErrSuperseded)
	})
}

// A router whose directory was taken over reads and forwards, and changes nothing.
func TestHaltedRouter(t *testing.T) {
	var changes []string
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			changes = append(changes, r.Method+" "+r.URL.Path)
		}
		w.Write([]byte(`{"disk":1,"tenants":[]}`))
	}))
	defer node.Close()
	rt, err := New(Options{})
	require.NoError(t, err)
	defer rt.Shutdown(context.Background())
	n := Node{Name: "n1", Addr: node.Listener.Addr().String(), Token: NewToken("x")}
	require.NoError(t, rt.Directory().PutNode(n))
	require.NoError(t, rt.Directory().Place("acme", n))
	require.True(t, rt.directory.supersede())
	require.False(t, rt.directory.supersede(), "it has been before")
	for _, c := range []struct {
		method, target string
		status         int
	}{
		{"GET", "/_shard/nodes", 200},
		{"GET", "/_shard/tenants?bytes", 200},
		{"GET", "/t/acme/notes", 200},
		{"GET", "/_ready", 503},
		{"GET", "/_health", 200},
		{"PUT", "/_shard/tenants/beta", 409},
		{"DELETE", "/_shard/tenants/acme", 409},
		{"POST", "/_shard/tenants/acme/move", 409},
	} {
		w := httptest.NewRecorder()
		rt.ServeHTTP(w, httptest.NewRequest(c.method, c.target, nil))
		require.Equal(t, c.status, w.Code, "%s %s: %s", c.method, c.target, w.Body)
		if c.status == 409 {
			require.Contains(t, w.Body.String(), `"code":"`+problem.LeaseSuperseded.Code+`"`)
		}
	}
	for name, change := range map[string]func() error{
		"create": func() error { return rt.admin.create(t.Context(), n, "beta") },
		"purge":  func() error { return rt.admin.purge(t.Context(), n, "acme") },
		"quota":  func() error { return rt.admin.setQuota(t.Context(), n, "acme", quota.Limits{Rows: 1}) },
		"image":  func() error { _, err := rt.admin.transfer(t.Context(), n, n, "acme"); return err },
	} {
		require.ErrorIs(t, change(), ErrSuperseded, name)
	}
	require.Empty(t, changes)
}
