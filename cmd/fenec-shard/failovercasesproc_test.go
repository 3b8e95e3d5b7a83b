//go:build unix

package main

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// directly writes to a tenant on a node past the router and returns the status.
func (c *procCluster) directly(n *procNode, tenant string) int {
	status, _, _ := call("POST", "http://"+n.direct+"/t/"+tenant+"/log", procTokens, `{"n":1}`)
	return status
}

// routed writes to a tenant through the router and returns the status.
func (c *procCluster) routed(tenant string) int {
	status, _, _ := call("POST", "http://"+c.routerAt+"/t/"+tenant+"/log", procTokens, `{"n":1}`)
	return status
}

// L13: a node that writes without leases is not failed over, however long it is cut off, and
// writes on.
func TestUnleasedProcess(t *testing.T) {
	unset(t)
	c := newProcCluster(t, proxied, func(*procNode) []string { return nil })
	c.create(3)
	before, n1 := c.places(), c.nodes[0]
	n1.link.set(fromRouter, held)
	n1.link.set(fromNodes, held)
	for end := time.Now().Add(3 * c.term); time.Now().Before(end); <-time.After(c.term / 10) {
		require.Equal(t, http.StatusCreated, c.directly(n1, "t0"))
	}
	require.Equal(t, before, c.places())
	n1.link.set(fromNodes, whole)
	n1.link.set(fromRouter, whole)
	require.Zero(t, c.failovers())
	c.eventually(func() bool { return c.routed("t0") == http.StatusCreated }, "it is there again")
}

// L11, L12 and L26: of a pair under leases, the node that is cut off has stopped writing
// before its standby begins, the pair ends, and the node follows when it is back.
func TestPairOfProcesses(t *testing.T) {
	unset(t)
	c := newProcCluster(t, proxied, func(n *procNode) []string {
		if n.name == "n2" {
			return []string{"--lease", "--replica-of", "http://" + n.c.nodes[0].addr}
		}
		return []string{"--lease"}
	})
	n1, n2 := c.nodes[0], c.nodes[1]
	status, answer := c.shard("PUT", "nodes/n1", fmt.Sprintf(`{"addr":%q,"token":%q,"standby":"n2"}`, n1.addr, procTokens))
	require.Equal(t, 201, status, answer)
	for _, name := range []string{"t0", "t1"} {
		status, answer = c.shard("PUT", "tenants/"+name, `{"node":"n1","schema":{"format":1,"collections":[{"name":"log","fields":[{"name":"n","type":"int"}]}]}}`)
		require.Equal(t, 201, status, answer)
		require.Equal(t, http.StatusCreated, c.routed(name))
	}
	require.NotEqual(t, http.StatusCreated, c.directly(n2, "t0"))

	n1.link.set(fromRouter, held)
	<-time.After(c.term / 5)
	n1.link.set(fromNodes, held)
	for c.directly(n1, "t0") == http.StatusCreated {
		require.NotEqual(t, http.StatusCreated, c.directly(n2, "t0"), "two nodes write")
	}
	c.awaitFailover(n1)
	c.eventually(func() bool { return c.routed("t0") == http.StatusCreated && c.routed("t1") == http.StatusCreated }, "writes go on")
	require.Equal(t, http.StatusCreated, c.directly(n2, "t0"))
	require.NotEqual(t, http.StatusCreated, c.directly(n1, "t0"))
	_, nodes := c.shard("GET", "nodes", "")
	require.NotContains(t, nodes, `"standby"`)

	n1.link.set(fromNodes, whole)
	n1.link.set(fromRouter, whole)
	c.settle()
	for _, p := range c.places() {
		require.Equal(t, "n2", p.Node)
		require.Equal(t, "n1", p.Replica)
		require.NotEqual(t, http.StatusCreated, c.directly(n1, p.Name))
	}
}
