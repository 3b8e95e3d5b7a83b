package router_test

import (
	"testing"

	"github.com/fenec-go/fenecdb/router"
	"github.com/stretchr/testify/require"
)

func TestAttrs(t *testing.T) {
	faces(t, func(t *testing.T, f face) {
		g := startRouter(t, f, router.Options{})
		g.place("n1", "a:1")
		g.place("n2", "b:1")
		n2 := `{"name":"n2","addr":"b:1"}`
		for _, c := range []struct{ body, shown string }{
			{`{"role":"dedicated","max_tenants":3,"max_bytes":4,"labels":{"zone":"a"}}`,
				`{"name":"n1","addr":"a:1","role":"dedicated","max_tenants":3,"max_bytes":4,"labels":{"zone":"a"}}`},
			{`{"max_bytes":9007199254740993}`, `{"name":"n1","addr":"a:1","max_bytes":9007199254740993}`},
			{`{"role":"shared","max_tenants":0,"labels":{}}`, `{"name":"n1","addr":"a:1"}`},
			{``, `{"name":"n1","addr":"a:1"}`},
		} {
			status, body := g.call("PUT", "/_shard/nodes/n1/attrs", c.body)
			require.Equal(t, 200, status, body)
			require.Equal(t, c.shown, body)
			_, body = g.call("GET", "/_shard/nodes", "")
			require.Equal(t, "["+c.shown+","+n2+"]", body)
		}

		require.NoError(t, g.rt.Directory().SetAttrs("n1", router.Attrs{Draining: true}))
		status, body := g.call("PUT", "/_shard/nodes/n1/attrs", `{"max_tenants":1}`)
		require.Equal(t, 200, status, body)
		require.Equal(t, `{"name":"n1","addr":"a:1","max_tenants":1,"draining":true}`, body, "draining has its own routes")

		for _, c := range []struct {
			node, body string
			status     int
		}{
			{"n3", `{}`, 404},
			{"N1", `{}`, 400},
			{"n1", `{"role":"main"}`, 400},
			{"n1", `{"role":7}`, 400},
			{"n1", `{"max_tenants":-1}`, 400},
			{"n1", `{"max_tenants":"1"}`, 400},
			{"n1", `{"max_tenants":9223372036854775808}`, 400},
			{"n1", `{"labels":{"zone":1}}`, 400},
			{"n1", `{"draining":true}`, 400},
			{"n1", `{"drain":true}`, 400},
		} {
			status, body := g.call("PUT", "/_shard/nodes/"+c.node+"/attrs", c.body)
			require.Equal(t, c.status, status, "%s: %s", c.body, body)
		}
		require.Equal(t, router.Attrs{Role: router.RoleShared, MaxTenants: 1, Draining: true}, g.rt.Directory().Attrs("n1"))
	})
}
