package router

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A replica that was promoted past the router, or told to follow elsewhere, follows again
// once somebody asks for repairs, or its node is back.
func TestRepairOfAstrayReplicas(t *testing.T) {
	for name, repair := range map[string]func(*Router) Repaired{
		"by hand":            func(rt *Router) Repaired { return rt.Repair(t.Context()) },
		"its node came back": func(rt *Router) Repaired { return rt.repairReturned(t.Context(), "n2") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCopyCluster(t, "n1", "n2", "n3")
			rt, addr := c.router(Options{})
			for _, tenant := range []string{"promoted", "elsewhere", "well"} {
				c.create(addr, tenant, "n1")
				replicate(t, rt, tenant, "n2")
			}
			c.change("n2", func(n *copyNode) {
				status, _ := n.promote("promoted", n.tenants["promoted"], false)
				require.Equal(t, 200, status)
				n.tenants["elsewhere"].from = c.nodes["n3"].Addr
			})
			require.True(t, c.write("n2", "promoted"))
			require.Equal(t, Repaired{[]Replicated{{"elsewhere", "n2"}, {"promoted", "n2"}}, []Unmoved{}}, repair(rt))
			for _, tenant := range []string{"promoted", "elsewhere", "well"} {
				c.follows(tenant, "n2", "n1")
				require.Equal(t, map[string]spareState{"n2": spareFollows}, spareStates(rt, tenant))
			}
			require.Empty(t, repair(rt).Replicated)
		})
	}
}

// The same of the copies of a pair; and a node that does not tell which of its copies
// follow is left alone.
func TestRepairOfAnAstrayPair(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	c.create(addr, "acme", "n1")
	c.change("n2", func(n *copyNode) {
		status, _ := n.promote("acme", n.tenants["acme"], false)
		require.Equal(t, 200, status)
		n.fault = func(_, path string) int {
			if path == "/_admin/following" {
				return 404
			}
			return 0
		}
	})
	require.Empty(t, rt.Repair(t.Context()).Replicated)
	c.change("n2", func(n *copyNode) { n.fault = nil })
	require.Equal(t, Repaired{[]Replicated{{"acme", "n2"}}, []Unmoved{}}, rt.Repair(t.Context()))
	c.follows("acme", "n2", "n1")
	require.Empty(t, spareStates(rt, "acme"))
}

// What cannot be followed is left as it is.
func TestAstrayReplicaOfALostNode(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	replicate(t, rt, "acme", "n2")
	c.change("n2", func(n *copyNode) {
		status, _ := n.promote("acme", n.tenants["acme"], false)
		require.Equal(t, 200, status)
	})
	c.change("n1", func(n *copyNode) { n.down = true })
	require.Len(t, rt.Repair(t.Context()).Failed, 1)
	require.False(t, c.file("n2", "acme").following)
}
