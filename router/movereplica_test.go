package router

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// M21: a replica elsewhere follows the tenant to its new node, and takes no image.
func TestMoveWithAReplica(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	replicate(t, rt, "acme", "n3")
	images := c.file("n3", "acme").images
	status, body := moveCall(t, addr, "n2")
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"source_removed":true,"replica_on":"n3"`)
	c.follows("acme", "n3", "n2")
	require.Equal(t, c.nodes["n2"].Addr, c.file("n3", "acme").from)
	require.Equal(t, images, c.file("n3", "acme").images)
	require.Equal(t, map[string]spareState{"n3": spareFollows}, spareStates(rt, "acme"))
	require.Nil(t, c.file("n1", "acme"))
}

// replicate gives a tenant a replica on a node.
func replicate(t *testing.T, rt *Router, tenant, node string) {
	t.Helper()
	release, err := rt.directory.Claim(tenant)
	require.NoError(t, err)
	defer release()
	p, _ := rt.directory.find([]byte(tenant))
	f := rt.copier.newFollowing(tenant, p)
	require.NoError(t, f.look(t.Context()))
	require.NoError(t, f.replica(t.Context(), node, false))
}

// M22: a tenant that moves onto the node of its replica gets another elsewhere.
func TestMoveOntoTheReplica(t *testing.T) {
	for name, x := range map[string]struct {
		nodes []string
		want  string
	}{
		"two nodes":   {[]string{"n1", "n2"}, "n1"},
		"three nodes": {[]string{"n1", "n2", "n3"}, "n3"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCopyCluster(t, x.nodes...)
			rt, addr := c.router(Options{})
			c.create(addr, "acme", "n1")
			replicate(t, rt, "acme", "n2")
			status, body := moveCall(t, addr, "n2")
			require.Equal(t, 200, status, body)
			require.Contains(t, body, `"replica_on":"`+x.want+`"`)
			require.True(t, c.write("n2", "acme"))
			c.follows("acme", x.want, "n2")
			require.Equal(t, map[string]spareState{x.want: spareFollows}, spareStates(rt, "acme"))
			require.Empty(t, rt.directory.Strays())
		})
	}
}

// A move onto the node of the replica that fails gives the replica back.
func TestMoveOntoTheReplicaFails(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	replicate(t, rt, "acme", "n2")
	c.change("n2", func(n *copyNode) { n.fault = refusesOn("PUT", "acme", "/file", 413) })
	status, _ := moveCall(t, addr, "n2")
	require.Equal(t, 413, status)
	idle(t, rt)
	require.True(t, c.write("n1", "acme"))
	c.follows("acme", "n2", "n1")
	require.Equal(t, map[string]spareState{"n2": spareFollows}, spareStates(rt, "acme"))
}

// M23: a replica that cannot follow is given up, and another takes its place if one can.
func TestMoveWithADeadReplica(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3", "n4")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	replicate(t, rt, "acme", "n3")
	c.change("n3", func(n *copyNode) { n.down = true })
	c.change("n1", func(n *copyNode) { n.fault = refusesOn("POST", "acme", "/follow", 409) })
	status, body := moveCall(t, addr, "n2")
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"replica_on":"n4"`)
	require.Equal(t, []Stray{{Tenant: "acme", Node: "n3"}}, rt.directory.Strays())
	c.change("n3", func(n *copyNode) { n.down = false })
	rt.reconciler.kick()
	idle(t, rt)
	require.Nil(t, c.file("n3", "acme"))
	c.follows("acme", "n4", "n2")

	for _, node := range []string{"n1", "n2", "n3", "n4"} {
		c.change(node, func(n *copyNode) { n.fault = refusesOn("POST", "acme", "/follow", 409) })
	}
	status, body = moveCall(t, addr, "n3")
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"unreplicated":"node n`)
	require.Empty(t, spareStates(rt, "acme"))
}

// M24: the standby of the new node gets a copy, and that of the old one has none any more.
func TestMoveBetweenPairs(t *testing.T) {
	c := newCopyCluster(t, "n1", "n1s", "n2", "n2s")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n1s")
	c.pair(addr, "n2", "n2s")
	c.create(addr, "acme", "n1")
	status, body := moveCall(t, addr, "n2")
	require.Equal(t, 200, status, body)
	require.NotContains(t, body, "replica")
	idle(t, rt)
	c.follows("acme", "n2s", "n2")
	require.Nil(t, c.file("n1s", "acme"))
	require.Empty(t, spareStates(rt, "acme"))

	c.change("n1s", func(n *copyNode) { n.down = true })
	status, body = moveCall(t, addr, "n1")
	require.Equal(t, 200, status, body)
	require.Equal(t, map[string]spareState{"n1s": spareWanted}, spareStates(rt, "acme"))
	c.change("n1s", func(n *copyNode) { n.down = false })
	idle(t, rt)
	c.follows("acme", "n1s", "n1")
	require.Nil(t, c.file("n2s", "acme"))
}

// With --replicas, a tenant that had no replica gets one as it moves.
func TestMoveGivesAReplica(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{Replicas: true})
	c.create(addr, "acme", "n1")
	require.NoError(t, rt.directory.setSpare("acme", "n2", ""))
	c.change("n2", func(n *copyNode) { delete(n.tenants, "acme") })
	status, body := moveCall(t, addr, "n2")
	require.Equal(t, 200, status, body)
	require.Contains(t, body, `"replica_on":"n1"`)
	c.follows("acme", "n1", "n2")
}

// A move whose router stops for good at any step is taken up by the next one: the tenant
// is writable in one place, and all its copies follow that.
func TestMoveStoppedAtEveryStep(t *testing.T) {
	for name, x := range map[string]struct {
		before func(c *copyCluster, rt *Router, addr string)
		after  func(at string) []string // nodes with copies that follow the one the tenant is on
	}{
		"replica elsewhere": {func(c *copyCluster, rt *Router, _ string) { replicate(c.t.(*testing.T), rt, "acme", "n3") },
			func(string) []string { return []string{"n3"} }},
		"replica on the target": {func(c *copyCluster, rt *Router, _ string) { replicate(c.t.(*testing.T), rt, "acme", "n2") },
			func(at string) []string { return map[string][]string{"n1": {"n2"}, "n2": {"n3"}}[at] }},
		"pairs": {func(c *copyCluster, _ *Router, addr string) { c.pair(addr, "n1", "n3"); c.pair(addr, "n2", "n4") },
			func(at string) []string { return map[string][]string{"n1": {"n3"}, "n2": {"n4"}}[at] }},
	} {
		t.Run(name, func(t *testing.T) {
			at := 0
			for stoppedMove(t, at, x.before, x.after) {
				at++
			}
			require.Greater(t, at, len(moveSteps))
		})
	}
}

// stoppedMove moves a tenant by a router that can do nothing any more from the given step
// on, starts another, and checks what comes of it. It reports false if there was no such
// step.
func stoppedMove(t *testing.T, at int, before func(*copyCluster, *Router, string), after func(string) []string) bool {
	path := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := OpenDirectory(path)
	require.NoError(t, err)
	c := newCopyCluster(t, "n1", "n2", "n3", "n4")
	armed, last, steps := false, "", 0
	opts := Options{Directory: d}
	opts.step = func(name string) {
		if !armed {
			return
		}
		if steps == at {
			d.supersede()
			last = name
		}
		steps++
	}
	rt, addr := c.router(opts)
	c.create(addr, "acme", "n1")
	before(c, rt, addr)
	idle(t, rt)
	armed = true
	moveCall(t, addr, "n2")
	require.NoError(t, rt.Shutdown(t.Context()))
	armed = false
	d = reopened(t, d, path)
	next, _ := routerOver(t, Options{Directory: d})
	idle(t, next)
	where, _ := d.Tenant("acme")
	what := fmt.Sprintf("stopped at step %d, %s; it is on %s", at, last, where.Node)
	require.True(t, c.write(where.Node, "acme"), what)
	var holders []string
	for _, node := range after(where.Node) {
		holders = append(holders, node)
		f := c.file(node, "acme")
		require.NotNil(t, f, "%s: no copy on %s", what, node)
		c.follows("acme", node, where.Node)
	}
	for name, n := range c.nodes {
		if name != where.Node && c.file(name, "acme") != nil {
			require.Contains(t, holders, n.Name, what)
		}
	}
	require.Empty(t, d.Strays(), what)
	return last != ""
}
