package router

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/quota"
)

// E1, E5: what is created on a node is created on its standby, and what is deleted there
// is deleted on it.
func TestStandbyFollows(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	require.JSONEq(t, `{"node":"n1","unreplicated":[]}`, c.pair(addr, "n1", "n2"))
	body := c.create(addr, "acme", "n1")
	require.JSONEq(t, `{"tenant":"acme","node":"n1"}`, body)
	c.follows("acme", "n2", "n1")
	require.Empty(t, spareStates(rt, "acme"))
	status, body := shardCall(t, addr, "GET", "nodes", "")
	require.Equal(t, 200, status)
	require.Contains(t, body, `"standby":"n2"`)
	status, body = shardCall(t, addr, "PUT", "tenants/acme/quota", `{"rows":7}`)
	require.Equal(t, 200, status, body)
	require.JSONEq(t, `{"tenant":"acme","quota":{"rows":7},"sent":["n1","n2"],"unsent":[]}`, body)
	require.JSONEq(t, `{"rows":7}`, c.file("n2", "acme").quota)
	status, _ = shardCall(t, addr, "DELETE", "tenants/acme", "")
	require.Equal(t, 204, status)
	require.Nil(t, c.file("n1", "acme"))
	require.Nil(t, c.file("n2", "acme"))
	require.Empty(t, rt.directory.Strays())
}

// E2: a pair that is recorded late makes up for the tenants that are there.
func TestPairMakesUp(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{})
	for _, name := range []string{"a", "b", "c"} {
		c.create(addr, name, "n1")
	}
	c.create(addr, "elsewhere", "n3")
	require.JSONEq(t, `{"node":"n1","unreplicated":[]}`, c.pair(addr, "n1", "n2"))
	for _, name := range []string{"a", "b", "c"} {
		c.follows(name, "n2", "n1")
		require.Empty(t, spareStates(rt, name))
	}
	require.Nil(t, c.file("n2", "elsewhere"))

	c.change("n2", func(n *copyNode) { delete(n.tenants, "b") })
	require.JSONEq(t, `{"node":"n1","unreplicated":[]}`, c.pair(addr, "n1", "n2"))
	c.follows("b", "n2", "n1")
}

// E3: a standby that is down does not keep a tenant from being created, and makes up for it
// when it is back.
func TestStandbyDownAtCreate(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	c.change("n2", func(n *copyNode) { n.down = true })
	body := c.create(addr, "acme", "n1")
	require.Contains(t, body, `"replica":"node n2 did not answer`)
	require.Equal(t, map[string]spareState{"n2": spareWanted}, spareStates(rt, "acme"))
	c.change("n2", func(n *copyNode) { n.down = false })
	idle(t, rt)
	c.follows("acme", "n2", "n1")
	require.Empty(t, spareStates(rt, "acme"))
}

// E4: a standby that follows no node has copies of nothing, and is not failed over to.
func TestStandbyThatFollowsNobody(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	status, body := c.put(addr, "n1", `,"standby":"n2"`)
	require.Equal(t, 201, status, body)
	require.JSONEq(t, `{"node":"n1","unreplicated":["acme"]}`, body)
	require.Nil(t, c.file("n2", "acme"), "an empty one could be taken for the tenant")
	require.Equal(t, map[string]spareState{"n2": spareWanted}, spareStates(rt, "acme"))
	done, err := rt.FailOver(t.Context(), "n1", false)
	require.NoError(t, err)
	require.Equal(t, []Unmoved{{"acme", "no replica"}}, done.Failed)
	require.True(t, rt.directory.IsStandby("n2"))
}

// E6: a delete that the node refuses leaves both alone.
func TestDeleteRefusedWithAStandby(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	_, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	c.create(addr, "acme", "n1")
	c.change("n1", func(n *copyNode) { n.fault = refusesOn("DELETE", "acme", "", 409) })
	status, _ := shardCall(t, addr, "DELETE", "tenants/acme", "")
	require.Equal(t, 409, status)
	require.True(t, c.write("n1", "acme"))
	c.follows("acme", "n2", "n1")
}

// refusesOn refuses requests for a part of a tenant.
func refusesOn(method, tenant, part string, status int) func(string, string) int {
	return func(m, path string) int {
		if m == method && path == tenantTarget(tenant, part) {
			return status
		}
		return 0
	}
}

// A copy that could not be deleted is deleted when its node is back.
func TestDeleteWithAStandbyDown(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	c.create(addr, "acme", "n1")
	c.change("n2", func(n *copyNode) { n.down = true })
	status, _ := shardCall(t, addr, "DELETE", "tenants/acme", "")
	require.Equal(t, 204, status)
	require.NotNil(t, c.file("n2", "acme"))
	c.change("n2", func(n *copyNode) { n.down = false })
	idle(t, rt)
	require.Nil(t, c.file("n2", "acme"))
}

// E17: no tenant is placed on a standby, or moved to one.
func TestNothingIsPlacedOnAStandby(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	for _, name := range []string{"a", "b", "c", "d"} {
		status, body := shardCall(t, addr, "PUT", "tenants/"+name, "")
		require.Equal(t, 201, status, body)
		require.NotContains(t, body, `"node":"n2"`)
	}
	status, body := shardCall(t, addr, "PUT", "tenants/e", `{"node":"n2"}`)
	require.Equal(t, 409, status)
	require.Contains(t, body, "standby")
	status, body = shardCall(t, addr, "POST", "tenants/a/move", `{"to":"n2"}`)
	require.Equal(t, 409, status)
	require.Contains(t, body, "standby")
	loads, _ := rt.loads(t.Context())
	p := newPlanner(loads, rt.allows(t.Context()), 1)
	require.False(t, p.mayTake(&loads[1], sizedTenant{}))
	require.True(t, p.mayTake(&loads[2], sizedTenant{}))
}

// What PUT says of a standby: absent leaves the pair, null and "" end it.
func TestPairMember(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	for _, x := range []struct {
		members string
		status  int
		standby string
	}{
		{`,"standby":"n1"`, 400, ""},
		{`,"standby":"n9"`, 404, ""},
		{`,"standby":"N9"`, 400, ""},
		{`,"standby":7`, 400, ""},
		{`,"standby":"n2"`, 201, "n2"},
		{``, 201, "n2"},
		{`,"standby":null`, 201, ""},
		{`,"standby":"n2"`, 201, "n2"},
		{`,"standby":""`, 201, ""},
		{`,"standby":null`, 201, ""},
	} {
		status, body := c.put(addr, "n1", x.members)
		require.Equal(t, x.status, status, "%s: %s", x.members, body)
		standby, _ := rt.directory.Standby("n1")
		require.Equal(t, x.standby, standby, x.members)
		require.Equal(t, x.standby != "", rt.directory.IsStandby("n2"), x.members)
	}
}

// The copies of a pair that ends are left alone, and cleared away with their tenants.
func TestPairEnds(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	c.create(addr, "acme", "n1")
	status, body := c.put(addr, "n1", `,"standby":null`)
	require.Equal(t, 201, status, body)
	require.Equal(t, map[string]spareState{"n2": spareLeft}, spareStates(rt, "acme"))
	require.NotNil(t, c.file("n2", "acme"))
	require.Empty(t, rt.Unplaced(t.Context()).Files)
	status, _ = shardCall(t, addr, "DELETE", "tenants/acme", "")
	require.Equal(t, 204, status)
	require.Nil(t, c.file("n2", "acme"))
}

// A node that is forgotten takes its pairs with it, on both sides, and what it had copies
// of is known to have none there.
func TestDeletedNodeEndsItsPairs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := OpenDirectory(path)
	require.NoError(t, err)
	for _, name := range []string{"n1", "n2", "n3"} {
		require.NoError(t, d.PutNode(Node{name, "a:" + name[1:], NewToken("x")}))
	}
	require.NoError(t, d.setPair("n1", "n2"))
	require.NoError(t, d.setPair("n3", "n1"))
	n1, _ := d.Node("n1")
	require.NoError(t, d.placeAs("acme", n1, 0, quota.Limits{}))
	require.ErrorIs(t, d.DeleteNode("n1"), ErrNodeInUse)
	require.NoError(t, d.DeleteNode("n2"))
	for range 2 {
		_, paired := d.Standby("n1")
		require.False(t, paired)
		p, _ := d.find([]byte("acme"))
		require.Empty(t, p.spares)
		require.True(t, d.IsStandby("n1"))
		d = reopened(t, d, path)
	}
	require.NoError(t, d.Forget("acme"))
	require.NoError(t, d.DeleteNode("n1"))
	require.Empty(t, *d.pairs.Load())
}
