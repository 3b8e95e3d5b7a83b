//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFailoverOfProcesses has a router of its own process fail over nodes of theirs, while
// all is written and listened to: nodes are killed, halted past their lease, and cut off from
// the router, from each other or from both. One thing goes wrong at a time, and the next one
// once every tenant has a replica that has caught up. Then no write that the router has
// answered may be lost, nothing written twice, no number given twice, no tenant written on
// two nodes, and nothing kept from a subscriber or told twice.
func TestFailoverOfProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("processes are killed and started many times")
	}
	unset(t)
	c := newProcCluster(t, proxied, nil)
	c.create(6)
	l := c.load()
	r := rand.New(rand.NewPCG(seedOfFaults(), 1))
	faults, failovers := allFaults[:3], 0
	if os.Getenv("FENEC_LONG") != "" {
		faults, failovers = allFaults, 50
	}
	for round := 0; round < len(faults) || c.failovers() < failovers; round++ {
		f := faults[round%len(faults)]
		if round >= len(faults) {
			f = faults[r.IntN(len(faults))]
		}
		c.suffer(l, round, f, r)
	}
	l.end()
	l.judge()
}

// seedOfFaults is 1, or what the environment says.
func seedOfFaults() uint64 {
	seed := uint64(1)
	_, _ = fmt.Sscan(os.Getenv("FENEC_SEED"), &seed)
	return seed
}

// fault is something that goes wrong with a node.
type fault struct {
	name string
	over bool // the node is failed over for it
	do   func(c *procCluster, n *procNode)
}

// allFaults begin with those that tell most.
var allFaults = []fault{
	{"killed", true, func(c *procCluster, n *procNode) {
		n.kill()
		c.awaitFailover(n)
		n.start()
	}},
	{"halted past its lease", true, func(c *procCluster, n *procNode) {
		n.halt()
		c.awaitFailover(n)
		n.resume()
	}},
	{"cut off", true, func(c *procCluster, n *procNode) { c.isolate(n, held) }},
	{"cut off, its connections broken", true, func(c *procCluster, n *procNode) { c.isolate(n, broken) }},
	{"cut off from the router", true, func(c *procCluster, n *procNode) {
		n.link.set(fromRouter, held)
		c.awaitFailover(n)
		n.link.set(fromRouter, whole)
	}},
	{"killed while the router is gone", true, func(c *procCluster, n *procNode) {
		c.killRouter()
		n.kill()
		began := time.Now()
		c.startRouter()
		c.awaitFailover(n)
		require.GreaterOrEqual(c.t, time.Since(began), c.term*11/10, "a router before it may have granted just before it ended")
		n.start()
	}},
	{"killed and back at once", false, func(c *procCluster, n *procNode) {
		n.kill()
		n.start()
	}},
	{"halted for a moment", false, func(c *procCluster, n *procNode) {
		n.halt()
		<-time.After(c.term / 4)
		n.resume()
	}},
	{"cut off from the nodes", false, func(c *procCluster, n *procNode) {
		n.link.set(fromNodes, held)
		<-time.After(c.term)
		n.link.set(fromNodes, whole)
	}},
	{"router killed", false, func(c *procCluster, n *procNode) {
		c.killRouter()
		c.startRouter()
	}},
}

// isolate cuts a node off from all others until it is failed over. What it sends to replicas
// goes through for as long as answers do, and a little longer: on one cable the one does not
// overtake the other, as it may in a proxy.
func (c *procCluster) isolate(n *procNode, how int) {
	n.link.set(fromRouter, how)
	<-time.After(c.term / 5)
	n.link.set(fromNodes, how)
	c.awaitFailover(n)
	n.link.set(fromNodes, whole)
	n.link.set(fromRouter, whole)
}

// suffer has a node that is written have a fault, and waits until all is well again.
func (c *procCluster) suffer(l *procLoad, round int, f fault, r *rand.Rand) {
	c.t.Helper()
	n := c.busyNode(r)
	before, began := c.failovers(), time.Now()
	c.says("round %d: %s is %s", round, n.name, f.name)
	f.do(c, n)
	c.settle()
	over := c.failovers() - before
	c.rounds[f.name]++
	c.says("round %d: well again after %v, %d failovers", round, time.Since(began).Round(time.Millisecond), over)
	if f.over {
		require.GreaterOrEqual(c.t, over, 1)
	} else if over > 0 {
		c.surprises++ // this machine halts processes by itself
		l.excuse(began, time.Now())
	}
	l.check()
}
