package router_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

func TestQuota(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{UpstreamTimeout: time.Second})
		n := newNode(t)
		n.tenants["acme"] = 4096
		g.place("n1", n.addr(), "acme", "lost")

		status, body := g.call("GET", "/_shard/tenants/acme/quota", "")
		require.Equal(t, 200, status)
		require.Equal(t, `{}`, body)
		status, body = g.call("PUT", "/_shard/tenants/acme/quota", `{"rows":1000,"bytes":null}`)
		require.Equal(t, 200, status, body)
		require.Equal(t, `{"tenant":"acme","quota":{"rows":1000},"sent":["n1"],"unsent":[]}`, body)
		require.Equal(t, `{"rows":1000}`, n.parts.quotas["acme"])
		_, body = g.call("GET", "/_shard/tenants/acme/quota", "")
		require.Equal(t, `{"rows":1000}`, body)
		status, body = g.call("GET", "/_shard/tenants/acme/usage", "")
		require.Equal(t, 200, status)
		require.Equal(t, `{"bytes":4096,"quota":{"rows":1000}}`, body)
		_, body = g.call("PUT", "/_shard/tenants/acme/quota", `{"streams":2}`)
		require.Equal(t, `{"tenant":"acme","quota":{"streams":2},"sent":["n1"],"unsent":[]}`, body, "the old one is replaced whole")
		_, body = g.call("PUT", "/_shard/tenants/acme/quota", `{}`)
		require.Equal(t, `{"tenant":"acme","quota":{},"sent":["n1"],"unsent":[]}`, body)
		require.Equal(t, `{}`, n.parts.quotas["acme"])
		require.Zero(t, g.rt.Directory().Quota("acme"))

		for _, c := range []struct {
			method, path, body string
			status             int
		}{
			{"PUT", "acme/quota", ``, 400},
			{"PUT", "acme/quota", `{"rows":0}`, 400},
			{"PUT", "acme/quota", `{"cows":1}`, 400},
			{"PUT", "acme/quota", "{\"rows\":1}x", 400},
			{"PUT", "nobody/quota", `{}`, 404},
			{"PUT", "Acme/quota", `{}`, 400},
			{"GET", "nobody/quota", ``, 404},
			{"GET", "Acme/quota", ``, 400},
			{"GET", "nobody/usage", ``, 404},
			{"GET", "lost/usage", ``, 404},
			{"DELETE", "acme/quota", ``, 404},
			{"GET", "acme/size", ``, 404},
		} {
			status, body := g.call(c.method, "/_shard/tenants/"+c.path, c.body)
			require.Equal(t, c.status, status, "%s %s: %s", c.method, c.path, body)
		}
		n.set(func() { n.parts.refuse, n.parts.says = 500, `{"error":"out of order"}` })
		status, body = g.call("GET", "/_shard/tenants/acme/usage", "")
		require.Equal(t, 502, status)
		require.Contains(t, body, "out of order")
	})
}

// TestQuotaIsSentLater sets quotas while the node is down, one of them to none, and has
// another router over the same directory send them.
func TestQuotaIsSentLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := router.OpenDirectory(path)
	require.NoError(t, err)
	n := newNode(t)
	n.tenants["acme"], n.tenants["beta"], n.tenants["gamma"] = 1, 1, 1
	t.Run("before", func(t *testing.T) {
		g := startRouter(t, ownFace, router.Options{Directory: d, UpstreamTimeout: time.Second})
		g.place("n1", n.addr(), "acme", "beta", "gamma")
		for _, name := range []string{"beta", "gamma"} {
			status, _ := g.call("PUT", "/_shard/tenants/"+name+"/quota", `{"rows":1}`)
			require.Equal(t, 200, status)
		}
		n.set(func() { n.parts.refuse = 503 })
		status, body := g.call("PUT", "/_shard/tenants/acme/quota", `{"rows":7}`)
		require.Equal(t, 200, status)
		require.Equal(t, `{"tenant":"acme","quota":{"rows":7},"sent":[],"unsent":["n1"]}`, body)
		_, body = g.call("PUT", "/_shard/tenants/beta/quota", `{}`)
		require.Equal(t, `{"tenant":"beta","quota":{},"sent":[],"unsent":["n1"]}`, body)
		require.Contains(t, g.log.String(), "sent again later")
	})
	require.NoError(t, d.Close())

	n.set(func() { n.parts.refuse = 0; n.asked = nil })
	d = openDirectory(t, path)
	require.Equal(t, quota.Limits{Rows: 7}, d.Quota("acme"))
	startRouter(t, ownFace, router.Options{Directory: d})
	require.Eventually(t, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.parts.quotas["acme"] == `{"rows":7}` && n.parts.quotas["beta"] == `{}`
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, `{"rows":1}`, n.parts.quotas["gamma"])
	n.mu.Lock()
	defer n.mu.Unlock()
	require.NotContains(t, n.asked, "PUT /_admin/tenants/gamma/quota", "what the node has already is not sent")
}
