package router

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// E14, E24: a node that is back after it was failed over has its copies follow, which takes
// an image only of what it had written that nobody else had.
func TestRepairAfterFailover(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{Replicas: true})
	for i := range 10 {
		c.create(addr, fmt.Sprintf("t%d", i), "n1")
	}
	c.change("n1", func(n *copyNode) {
		n.down = true
		n.tenants["t3"].seq++ // which was never sent
	})
	_, err := rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	for i := range 10 {
		at, _ := rt.directory.Tenant(fmt.Sprintf("t%d", i))
		require.True(t, c.write(at.Node, at.Name))
	}
	c.change("n1", func(n *copyNode) { n.down = false })
	idle(t, rt)
	require.False(t, c.file("n1", "t0").following, "until somebody says so")
	status, body := shardCall(t, addr, "POST", "replicas", "")
	require.Equal(t, 200, status, body)
	for i := range 10 {
		name := fmt.Sprintf("t%d", i)
		at, _ := rt.directory.Tenant(name)
		require.Contains(t, body, fmt.Sprintf(`{"tenant":%q,"replica":"n1"}`, name))
		c.follows(name, "n1", at.Node)
		require.Equal(t, map[string]spareState{"n1": spareFollows}, spareStates(rt, name))
		want := 0
		if name == "t3" {
			want = 1
		}
		require.Equal(t, want, c.file("n1", name).images, name)
	}
	require.False(t, c.write("n1", "t0"))
	status, body = shardCall(t, addr, "POST", "replicas", "")
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"replicated":[],"failed":[]}`, body)
}

// L26: the node of a pair that has ended has its copies follow by a repair.
func TestRepairAfterFailoverOfAPair(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	c.create(addr, "acme", "n1")
	_, err := rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	done := rt.Repair(t.Context())
	require.Equal(t, Repaired{[]Replicated{{"acme", "n1"}}, []Unmoved{}}, done)
	c.follows("acme", "n1", "n2")
}

// E14: the reversed pair has the old primary's files follow.
func TestReversedPair(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	c.create(addr, "acme", "n1")
	_, err := rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	require.True(t, c.write("n2", "acme"))
	require.JSONEq(t, `{"node":"n2","unreplicated":[]}`, c.pair(addr, "n2", "n1"))
	c.follows("acme", "n1", "n2")
	require.Zero(t, c.file("n1", "acme").images)
	require.Empty(t, spareStates(rt, "acme"))
	require.False(t, c.write("n1", "acme"))
}

// E25, E26: a tenant whose own node is down fails, one that moves is left alone, and the
// others go to nodes that answer.
func TestRepairInPart(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{})
	c.create(addr, "a", "n1")
	c.create(addr, "b", "n2")
	c.create(addr, "moves", "n1")
	c.create(addr, "busy", "n1")
	release, err := rt.directory.Claim("busy")
	require.NoError(t, err)
	defer release()
	hold, err := rt.directory.Claim("moves")
	require.NoError(t, err)
	defer hold()
	require.NoError(t, rt.directory.beginMove("moves", "n3"))
	c.change("n2", func(n *copyNode) { n.down = true })
	status, body := shardCall(t, addr, "POST", "replicas", "")
	require.Equal(t, 502, status)
	require.Contains(t, body, `"replicated":[{"tenant":"a","replica":"n3"}]`)
	require.Contains(t, body, `{"tenant":"b","why":"node n2 did not answer`)
	require.Contains(t, body, `{"tenant":"busy","why":"another operation`)
	require.NotContains(t, body, "moves")

	c.change("n3", func(n *copyNode) { n.down = true })
	require.NoError(t, rt.directory.setSpare("a", "n3", ""))
	_, body = shardCall(t, addr, "POST", "replicas", "")
	require.Contains(t, body, `{"tenant":"a","why":"node n`)
}

// A repair for one node gives replicas to it only, of what it has copies of.
func TestRepairOfOneNode(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{})
	c.create(addr, "a", "n2")
	c.create(addr, "b", "n2")
	require.NoError(t, rt.admin.create(t.Context(), c.nodes["n1"].Node, "a"))
	done := rt.repairReturned(t.Context(), "n1")
	require.Equal(t, Repaired{[]Replicated{{"a", "n1"}}, []Unmoved{}}, done)
	c.follows("a", "n1", "n2")
	require.Empty(t, spareStates(rt, "b"))
}

// A copy that does not follow, and was there before, is left as it is.
func TestRepairRefused(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	require.NoError(t, rt.admin.create(t.Context(), c.nodes["n2"].Node, "acme"))
	c.change("n2", func(n *copyNode) { n.fault = refusesOn("POST", "acme", "/follow", 409) })
	status, _ := shardCall(t, addr, "POST", "replicas", "")
	require.Equal(t, 502, status)
	require.NotNil(t, c.file("n2", "acme"))
	require.Equal(t, map[string]spareState{"n2": spareLeft}, spareStates(rt, "acme"))
}

// A node that turns out to be the tenant's own, under another name, is not made to follow
// itself.
func TestCopyOnTheSameServer(t *testing.T) {
	c := newCopyCluster(t, "n1")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	twin := c.nodes["n1"].Node
	twin.Name = "twin"
	require.NoError(t, rt.directory.PutNode(twin))
	done := rt.Repair(t.Context())
	require.Len(t, done.Failed, 1)
	require.Contains(t, done.Failed[0].Why, "same server")
	require.True(t, c.write("n1", "acme"))
	require.Empty(t, spareStates(rt, "acme"))
}

// A copy that is to be cleared away is not made to follow: it may have what nobody else
// has.
func TestStrayTakesNoReplica(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	require.NoError(t, rt.admin.create(t.Context(), c.nodes["n2"].Node, "acme"))
	require.NoError(t, rt.directory.endMove("acme", &Stray{Tenant: "acme", Node: "n2"}))
	done := rt.Repair(t.Context())
	require.Equal(t, []Replicated{{"acme", "n3"}}, done.Replicated)
	require.False(t, c.file("n2", "acme").following)
}
