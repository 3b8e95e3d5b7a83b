package router

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSpreadChooses(t *testing.T) {
	any := func(string) bool { return true }
	none := func(string) bool { return false }
	is := func(node string) func(string) bool { return func(n string) bool { return n == node } }
	s := &spread{
		free:  []string{"n1", "n2", "n3", "n4"},
		held:  map[string]int{"n1": 9, "n2": 5, "n3": 2, "n4": 2},
		parts: map[[2]string]int{{"n1", "n3"}: 1, {"n1", "n4"}: 1, {"n2", "n1"}: 1, {"n2", "n3"}: 1, {"n2", "n4"}: 1},
	}
	for _, c := range []struct {
		name, primary string
		may, prefer   func(string) bool
		want          string
	}{
		{"fewest of the primary's", "n1", any, none, "n2"},
		{"then fewest held, then the first by name", "n2", any, none, "n3"},
		{"a preferred one first", "n1", any, is("n4"), "n4"},
		{"among those that may", "n1", is("n4"), is("n2"), "n4"},
		{"never the primary", "n1", is("n1"), any, ""},
		{"none", "n1", none, any, ""},
	} {
		got, ok := s.choose(c.primary, c.may, c.prefer)
		require.Equal(t, c.want, got, c.name)
		require.Equal(t, c.want != "", ok, c.name)
	}
}

// E18, E20: each tenant has a replica on another node, if there is one.
func TestCreateReplicates(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{Replicas: true})
	require.JSONEq(t, `{"tenant":"acme","node":"n1","replica_on":"n2"}`, c.create(addr, "acme", "n1"))
	c.follows("acme", "n2", "n1")
	require.Equal(t, c.nodes["n1"].Addr, c.file("n2", "acme").from)
	at, _ := rt.directory.Tenant("acme")
	require.Equal(t, []string{"n2"}, at.Replicas)
	status, body := shardCall(t, addr, "GET", "tenants", "")
	require.Equal(t, 200, status)
	require.JSONEq(t, `[{"name":"acme","node":"n1","state":"active","epoch":1,"replica":"n2"}]`, body)
	_, metrics := answerOf(t, mustRequest(t, "GET", "http://"+addr+"/_metrics"))
	require.Contains(t, metrics, `fenec_router_replicas{node="n2"} 1`)
	require.Contains(t, metrics, `fenec_router_replicas{node="n3"} 0`)

	alone := newCopyCluster(t, "n1")
	_, addr = alone.router(Options{Replicas: true})
	require.JSONEq(t, `{"tenant":"acme","node":"n1","unreplicated":"no other node"}`, alone.create(addr, "acme", "n1"))
}

// E19: the replicas of each node's tenants are spread evenly over the others.
func TestReplicasAreSpread(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{Replicas: true})
	for i := range 10 {
		for _, node := range []string{"n1", "n2", "n3"} {
			c.create(addr, fmt.Sprintf("%s-%d", node, i), node)
		}
	}
	require.Equal(t, map[string]int{"n1": 10, "n2": 10, "n3": 10}, rt.directory.replicated())
	s := rt.directory.newSpread()
	for _, from := range []string{"n1", "n2", "n3"} {
		for _, to := range []string{"n1", "n2", "n3"} {
			if from != to {
				require.Equal(t, 5, s.parts[[2]string{from, to}], "%s on %s", from, to)
			}
		}
	}
}

// Nodes of pairs, dedicated ones and those that are being drained have no replicas, and
// the tenants of a node that has a standby get none.
func TestWhoTakesReplicas(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3", "n4", "n5", "n6")
	rt, addr := c.router(Options{Replicas: true})
	c.pair(addr, "n2", "n3")
	require.NoError(t, rt.directory.SetAttrs("n4", Attrs{Role: RoleDedicated}))
	require.NoError(t, rt.directory.SetAttrs("n5", Attrs{Draining: true}))
	require.Contains(t, c.create(addr, "acme", "n1"), `"replica_on":"n6"`)
	require.JSONEq(t, `{"tenant":"beta","node":"n2"}`, c.create(addr, "beta", "n2"))
	c.follows("beta", "n3", "n2")
}

// A replica that one node does not take goes to the next; what the first has made of it is
// removed.
func TestReplicaElsewhere(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3", "n4")
	rt, addr := c.router(Options{Replicas: true})
	c.change("n2", func(n *copyNode) { n.fault = refusesOn("POST", "acme", "/follow", 409) })
	c.change("n3", func(n *copyNode) { n.down = true })
	require.JSONEq(t, `{"tenant":"acme","node":"n1","replica_on":"n4"}`, c.create(addr, "acme", "n1"))
	require.Nil(t, c.file("n2", "acme"))
	c.follows("acme", "n4", "n1")
	c.change("n3", func(n *copyNode) { n.down = false })
	idle(t, rt)
	require.Nil(t, c.file("n3", "acme"))
	require.Equal(t, map[string]spareState{"n4": spareFollows, "n3": spareLeft}, spareStates(rt, "acme"))

	for _, node := range []string{"n2", "n3", "n4"} {
		c.change(node, func(n *copyNode) { n.fault = refusesOn("POST", "beta", "/follow", 409) })
	}
	require.Contains(t, c.create(addr, "beta", "n1"), `"unreplicated":"node n4 answered 409`)
	require.Empty(t, spareStates(rt, "beta"))
}

// A replica is deleted with its tenant, and told its quota with it.
func TestReplicaGoesAlong(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{Replicas: true})
	status, body := shardCall(t, addr, "PUT", "tenants/acme", `{"node":"n1","quota":{"rows":3}}`)
	require.Equal(t, 201, status, body)
	require.JSONEq(t, `{"rows":3}`, c.file("n2", "acme").quota)
	c.change("n2", func(n *copyNode) { n.down = true })
	status, body = shardCall(t, addr, "PUT", "tenants/acme/quota", `{}`)
	require.Equal(t, 200, status, body)
	require.JSONEq(t, `{"tenant":"acme","quota":{},"sent":["n1"],"unsent":["n2"]}`, body)
	c.change("n2", func(n *copyNode) { n.down = false })
	require.Eventually(t, func() bool { return c.file("n2", "acme").quota == "{}" }, 20*time.Second, time.Millisecond)
	idle(t, rt)
	require.Empty(t, rt.directory.limited())
	status, _ = shardCall(t, addr, "DELETE", "tenants/acme", "")
	require.Equal(t, 204, status)
	require.Nil(t, c.file("n2", "acme"))
	require.Empty(t, rt.directory.Strays())
}

// A node that is recorded at a new address is followed there.
func TestReplicasFollowTheNewAddress(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{Replicas: true})
	c.create(addr, "acme", "n1")
	c.change("n1", func(n *copyNode) { n.down = true })
	c.change("n3", func(n *copyNode) { n.tenants = c.nodes["n1"].tenants })
	moved := c.nodes["n3"].Node
	moved.Name = "n1"
	require.NoError(t, rt.keepNode(moved))
	idle(t, rt)
	require.Equal(t, moved.Addr, c.file("n2", "acme").from)
	require.Equal(t, map[string]spareState{"n2": spareFollows}, spareStates(rt, "acme"))
}
