package router

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/tenant/node"
)

// lostTenant makes a tenant on n1, with a copy on n2 that the directory knows nothing of.
func lostTenant(t *testing.T, opts Options) (c *copyCluster, rt *Router, addr string) {
	c = newCopyCluster(t, "n1", "n2", "n3")
	rt, addr = c.router(opts)
	c.create(addr, "acme", "n1")
	replicate(t, rt, "acme", "n2")
	require.NoError(t, rt.directory.setSpare("acme", "n2", ""))
	return c, rt, addr
}

// A tenant whose node is gone for good is placed where somebody says that it is, and what
// the node has of it follows should it be back after all.
func TestAdoptByForce(t *testing.T) {
	c, rt, addr := lostTenant(t, Options{})
	status, body := shardCall(t, addr, "PUT", "tenants/acme/quota", `{"rows":5}`)
	require.Equal(t, 200, status, body)
	c.change("n1", func(n *copyNode) { n.down = true })
	c.change("n2", func(n *copyNode) { n.tenants["acme"].incomplete = true })
	status, body = shardCall(t, addr, "POST", "tenants/acme/adopt", `{"node":"n2"}`)
	require.Equal(t, 409, status)
	require.Contains(t, body, "tenant exists")
	status, body = shardCall(t, addr, "POST", "tenants/acme/adopt", `{"node":"n2","force":true}`)
	require.Equal(t, 200, status, body)
	require.JSONEq(t, `{"tenant":"acme","node":"n2","seq":1,"frozen":false,"role":"primary","quota":{"rows":5}}`, body)
	at, _ := rt.directory.Tenant("acme")
	require.Equal(t, Tenant{Name: "acme", Node: "n2", State: StateActive, Epoch: 2}, at)
	require.Equal(t, map[string]spareState{"n1": spareLeft}, spareStates(rt, "acme"))
	require.Equal(t, `{"rows":5}`, c.file("n2", "acme").quota)
	require.True(t, c.write("n2", "acme"))
	status, body = shardCall(t, addr, "POST", "tenants/acme/adopt", `{"node":"n2","force":true}`)
	require.Equal(t, 409, status)
	require.Contains(t, body, "already on node n2")

	c.change("n1", func(n *copyNode) { n.down = false })
	require.Empty(t, rt.Unplaced(t.Context()).Files)
	require.Equal(t, []Replicated{{"acme", "n1"}}, rt.Repair(t.Context()).Replicated)
	c.follows("acme", "n1", "n2")
}

// The replicas that are recorded follow where the tenant is now.
func TestAdoptByForceTurnsReplicas(t *testing.T) {
	c, rt, _ := lostTenant(t, Options{})
	replicate(t, rt, "acme", "n3")
	c.change("n1", func(n *copyNode) { n.down = true })
	_, err := rt.Adopt(t.Context(), "acme", "n2", true)
	require.NoError(t, err)
	idle(t, rt)
	c.follows("acme", "n3", "n2")
}

// A node that answers has its tenants taken only if it has not got them any more.
func TestAdoptByForceFromANodeThatAnswers(t *testing.T) {
	c, rt, _ := lostTenant(t, Options{})
	_, err := rt.Adopt(t.Context(), "acme", "n2", true)
	require.ErrorIs(t, err, ErrNotLost)
	require.True(t, c.file("n2", "acme").following)
	c.change("n1", func(n *copyNode) { n.fault = refusesOn("GET", "acme", "", 503) })
	_, err = rt.Adopt(t.Context(), "acme", "n2", true)
	require.ErrorContains(t, err, "node n1 answered 503", "its database does not open, but it is there")
	c.change("n1", func(n *copyNode) { n.fault = nil; delete(n.tenants, "acme") })
	_, err = rt.Adopt(t.Context(), "acme", "n2", true)
	require.NoError(t, err)
	require.True(t, c.write("n2", "acme"))
}

func TestAdoptByForceRefused(t *testing.T) {
	for name, x := range map[string]struct {
		tenant, body string
		status       int
		says         string
		before       func(rt *Router)
	}{
		"no node":        {"acme", `{"force":true}`, 400, "is required with", nil},
		"unknown node":   {"acme", `{"node":"n9","force":true}`, 404, "unknown node", nil},
		"no copy":        {"acme", `{"node":"n3","force":true}`, 404, "node n3: there is no file of it", nil},
		"unknown tenant": {"beta", `{"node":"n2","force":true}`, 404, "node n2: there is no file of it", nil},
		"in use":         {"acme", `{"node":"n2","force":true}`, 409, "in progress", func(rt *Router) { rt.directory.Claim("acme") }},
		"not a word":     {"acme", `{"node":"n2","force":"yes"}`, 400, "force", nil},
		"a stray": {"acme", `{"node":"n2","force":true}`, 409, "cleared away", func(rt *Router) {
			rt.directory.expect(Stray{Tenant: "acme", Node: "n2"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c, rt, addr := lostTenant(t, Options{})
			c.change("n1", func(n *copyNode) { n.down = true })
			if x.before != nil {
				x.before(rt)
			}
			status, body := shardCall(t, addr, "POST", "tenants/"+x.tenant+"/adopt", x.body)
			require.Equal(t, x.status, status, body)
			require.Contains(t, body, x.says)
			at, _ := rt.directory.Tenant("acme")
			require.Equal(t, "n1", at.Node)
			require.True(t, c.file("n2", "acme").following)
		})
	}
}

// A tenant that the directory does not know is adopted by force, too, though its copy may
// lack something.
func TestAdoptAnIncompleteCopy(t *testing.T) {
	c, rt, _ := lostTenant(t, Options{})
	c.change("n1", func(n *copyNode) { n.down = true })
	c.change("n2", func(n *copyNode) { n.tenants["acme"].incomplete = true })
	require.NoError(t, rt.directory.Forget("acme"))
	_, err := rt.Adopt(t.Context(), "acme", "n2", false)
	require.ErrorContains(t, err, "has not caught up")
	_, err = rt.Adopt(t.Context(), "acme", "n2", true)
	require.NoError(t, err)
	require.True(t, c.write("n2", "acme"))
}

// Under leases the node is granted the tenant that it has adopted.
func TestAdoptByForceUnderLeases(t *testing.T) {
	leased := func(o *node.Options) { o.Lease = true }
	n1, n2 := startLocalNode(t, "n1", leased), startLocalNode(t, "n2", leased)
	rt, addr := routerOver(t, Options{AutoFailover: 10 * time.Minute}, n1, n2)
	acmeOn(t, addr, "n1")
	_, err := rt.admin.transfer(t.Context(), n1.Node, n2.Node, "acme")
	require.NoError(t, err)
	n1.stop()
	status, body := shardCall(t, addr, "POST", "tenants/acme/adopt", `{"node":"n2","force":true}`)
	require.Equal(t, 200, status, body)
	require.Contains(t, mustRun(t, addr, "acme", "put docs {n: 11}", "get docs count"), `"count":11`)
}
