package router_test

import (
	"context"
	"testing"
	"time"

	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

// TestPlanRoute asks for a plan where one node is too full, one is drained, one silent,
// and a placer keeps a tenant where it is.
func TestPlanRoute(t *testing.T) {
	const mib = 1 << 20
	stays := placerFunc(func(_ context.Context, tenant string, among []router.Candidate) (string, error) {
		if tenant == "stays" {
			return "", router.ErrNoCapacity
		}
		return among[0].Node, nil
	})
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{Placer: stays, UpstreamTimeout: time.Second})
		n1, n2, n3 := newNode(t), newNode(t), newNode(t)
		n1.tenants = map[string]int64{"stays": 130 * mib, "goes": 128 * mib, "off": 100 * mib, "copy": 900 * mib}
		n3.tenants = map[string]int64{"leaves": 64 * mib}
		g.place("n1", n1.addr(), "stays", "goes", "off")
		g.place("n2", n2.addr())
		g.place("n3", n3.addr(), "leaves", "lost")
		g.place("n4", deadAddr(t), "unknown")
		require.NoError(t, g.rt.Directory().SetAttrs("n3", router.Attrs{Draining: true}))
		require.NoError(t, g.rt.Directory().SetAttrs("n1", router.Attrs{MaxBytes: 100 * mib}))
		n1.disk = 90 * mib
		status, body := g.call("PUT", "/_shard/tenants/off/status", `{"status":"degraded"}`)
		require.Equal(t, 200, status, body)

		status, body = g.call("GET", "/_shard/plan", "")
		require.Equal(t, 200, status)
		require.JSONEq(t, `{
			"moves": [
				{"tenant":"leaves","from":"n3","to":"n2","bytes":67108864,"seconds":1,"why":"draining"},
				{"tenant":"lost","from":"n3","to":"n2","bytes":0,"seconds":0,"why":"draining"},
				{"tenant":"goes","from":"n1","to":"n2","bytes":134217728,"seconds":2,"why":"balance"}],
			"stuck": [],
			"silent": ["n4"],
			"bytes_per_second": 67108864,
			"measured": false}`, body)
		_, again := g.call("POST", "/_shard/rebalance", `{}`)
		require.Equal(t, body, again)

		require.NoError(t, g.rt.Directory().SetAttrs("n2", router.Attrs{Role: router.RoleDedicated}))
		require.NoError(t, g.rt.Directory().SetAttrs("n1", router.Attrs{Role: router.RoleDedicated}))
		_, body = g.call("GET", "/_shard/plan", "")
		require.Contains(t, body, `"moves":[],"stuck":[{"tenant":"leaves","why":"no node takes another tenant"},{"tenant":"lost"`)

		for _, c := range []struct{ method, path string }{{"POST", "plan"}, {"PUT", "rebalance"}, {"GET", "plan/n1"}, {"GET", "nodes/n1/attrs"}} {
			status, _ := g.call(c.method, "/_shard/"+c.path, "")
			require.Equal(t, 404, status)
		}
	})
}
