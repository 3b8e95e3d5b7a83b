package router

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// followers returns the nodes with replicas of a tenant.
func followers(rt *Router, tenant string) []string {
	at, _ := rt.directory.Tenant(tenant)
	return at.Replicas
}

// The replicas on a drained node are placed elsewhere when its tenants are gone, and those
// of pairs stay.
func TestDrainMovesReplicas(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3", "n4")
	rt, addr := c.router(Options{})
	for i := range 10 {
		name := fmt.Sprintf("t%d", i)
		c.create(addr, name, "n1")
		replicate(t, rt, name, "n2")
	}
	replicate(t, rt, "t3", "n3") // which is enough
	c.create(addr, "own", "n2")
	release, err := rt.directory.Claim("t4")
	require.NoError(t, err)
	require.NoError(t, rt.Drain("n2"))
	eventually(t, func() bool { r := drainOf(t, addr, "n2"); return r.Left == 0 && r.Replicas == 1 && r.Moving == 0 })
	require.Equal(t, []Unmoved{{"t4", "its replica: " + ErrInProgress.Error()}}, drainOf(t, addr, "n2").Failed)
	require.Equal(t, []string{"n2"}, followers(rt, "t4"))
	release()
	require.NoError(t, rt.Drain("n2")) // which tries again at once
	eventually(t, func() bool { r := drainOf(t, addr, "n2"); return r.Replicas == 0 && r.Moving == 0 })
	for i := range 10 {
		name := fmt.Sprintf("t%d", i)
		on := followers(rt, name)
		require.Len(t, on, 1)
		require.NotEqual(t, "n2", on[0])
		c.follows(name, on[0], "n1")
		require.Nil(t, c.file("n2", name))
	}
	require.Equal(t, []string{"n3"}, followers(rt, "t3"))
	require.Empty(t, rt.directory.Strays())
	require.NoError(t, rt.directory.DeleteNode("n2"))
}

// A replica leaves once the other one has everything.
func TestDrainWaitsForTheOtherReplica(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	replicate(t, rt, "acme", "n2")
	asked := make(chan struct{})
	looks := 0
	c.change("n3", func(n *copyNode) {
		n.fault = func(method, path string) int {
			if f := n.tenants["acme"]; f != nil && method == "GET" && path == tenantTarget("acme", "") {
				if looks++; looks == 1 {
					close(asked)
				}
				return 500
			}
			return 0
		}
	})
	require.NoError(t, rt.Drain("n2"))
	<-asked
	require.Equal(t, []string{"n2", "n3"}, followers(rt, "acme"))
	require.NotNil(t, c.file("n2", "acme"))
	release, err := rt.directory.Claim("acme")
	require.NoError(t, err, "it is not held meanwhile")
	release()
	c.change("n3", func(n *copyNode) { n.fault = nil })
	eventually(t, func() bool { return drainOf(t, addr, "n2").Replicas == 0 })
	require.Equal(t, []string{"n3"}, followers(rt, "acme"))
	eventually(t, func() bool { return c.file("n2", "acme") == nil })
}

// Where no other node takes it the replica stays; a router that is started anew goes on,
// and the copy on a node that does not answer is cleared away when it does.
func TestDrainOfReplicasGoesOn(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	replicate(t, rt, "acme", "n2")
	require.NoError(t, rt.Drain("n2"))
	eventually(t, func() bool { return len(drainOf(t, addr, "n2").Failed) == 1 })
	require.Equal(t, drainReport{"n2", 0, 1, 0, []Unmoved{{"acme", "its replica: no other node"}}}, drainOf(t, addr, "n2"))
	rt.fleet.endDrain("n2")

	n3 := newCopyCluster(t, "n3").nodes["n3"]
	c.mu.Lock()
	n3.c = c
	c.nodes["n3"] = n3
	c.mu.Unlock()
	require.NoError(t, rt.directory.PutNode(n3.Node))
	c.change("n2", func(n *copyNode) { n.down = true })
	rt.resumeDrains()
	eventually(t, func() bool { return drainOf(t, addr, "n2").Replicas == 0 })
	c.follows("acme", "n3", "n1")
	require.Equal(t, []Stray{{Tenant: "acme", Node: "n2"}}, rt.directory.Strays())
	c.change("n2", func(n *copyNode) { n.down = false })
	idle(t, rt)
	require.Nil(t, c.file("n2", "acme"))
	require.Equal(t, []string{"n3"}, followers(rt, "acme"))
}

// The copies of a pair are no replicas that a drain would move.
func TestDrainLeavesThePair(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	c.create(addr, "acme", "n1")
	require.NoError(t, rt.directory.setSpare("acme", "n2", spareWanted))
	require.NoError(t, rt.Drain("n2"))
	eventually(t, func() bool {
		rt.fleet.mu.Lock()
		defer rt.fleet.mu.Unlock()
		return !rt.fleet.drains["n2"].working
	})
	require.NotNil(t, c.file("n2", "acme"))
	require.Empty(t, followers(rt, "acme"))
}
