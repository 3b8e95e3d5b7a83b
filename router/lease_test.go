package router

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/replication"
)

// L22, L23, and that rounds go on for ever.
func TestRenewals(t *testing.T) {
	inCluster(t, func(c *cluster) {
		require.True(t, c.writes("a", "n1")())
		for range 100 {
			c.pass(testTerm / 3)
			require.True(t, c.writes("a", "n1")())
			require.True(t, c.writes("b", "n2")())
		}
		require.Equal(t, 2, lists(c.sent("n1")), "one to learn the nonce, one that is taken")
		for _, g := range c.sent("n1")[2:] {
			require.Less(t, len(encode(g)), 80)
		}
		require.Empty(t, c.failovers)
	})
}

// L11, L12, L19 and L26: a node is cut off, and comes back.
func TestCutOffNodeIsFailedOver(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.pass(testTerm)
		c.with("n1", func(n *fenced) { n.cut = true })
		stopped := c.until(c.writes("a"))
		require.GreaterOrEqual(t, stopped, testTerm*2/3)
		require.LessOrEqual(t, stopped, testTerm)
		served := stopped + c.until(c.writes("a", "n2"))
		require.GreaterOrEqual(t, served, 660*time.Millisecond-testTerm/3)
		require.LessOrEqual(t, served, 660*time.Millisecond+testTerm/3)
		require.Equal(t, []string{"a"}, c.failovers[0].tenants)

		c.pass(5 * testTerm)
		require.Len(t, c.failovers, 1, "nothing is left on it")
		require.Empty(t, c.repairs)
		require.True(t, c.leasing.leases.Status("n1").Lost)

		c.with("n1", func(n *fenced) { n.cut = false })
		c.pass(testTerm)
		require.Equal(t, []string{"n1"}, c.repairs)
		require.ErrorIs(t, c.admits("n1", "a"), replication.ErrElsewhere, "the list names what is placed there")
		require.True(t, c.writes("a", "n2")())
		require.EqualValues(t, 1, c.leasing.failovers.done.Load())
		require.Zero(t, c.leasing.failovers.failed.Load())
		require.Equal(t, 1, c.logged("node n1 has lost its lease: failing over its 1 tenants"))
	})
}

// L13: a node that takes no leases stays where it is, and that is said once.
func TestNodeWithoutLeasesIsNotFailedOver(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.with("n1", func(n *fenced) { n.fence = nil })
		c.pass(2 * testTerm)
		c.with("n1", func(n *fenced) { n.cut = true })
		c.pass(3 * testTerm)
		require.Empty(t, c.failovers)
		require.Equal(t, 1, c.logged("node n1 takes no leases"))
	})
}

// L14: what a predecessor has granted just before it ended is waited out.
func TestRestartedRouterWaits(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.with("n1", func(n *fenced) { n.cut = true })
		c.pass(testTerm)
		c.begin()
		begun := c.now()
		c.until(c.writes("a", "n2"))
		require.Greater(t, c.failovers[0].at-begun, testTerm*11/10)
		require.LessOrEqual(t, c.failovers[0].at-begun, testTerm*11/10+testTerm/3)
	})
}

// L17: a node that takes requests and answers none delays no other.
func TestHangingNodeDelaysNoOther(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.with("n2", func(n *fenced) { n.hangs = true })
		for range 10 {
			c.pass(testTerm / 3)
			require.NoError(t, c.admits("n1", "a"))
			require.NoError(t, c.admits("n3", "c"))
		}
		require.Len(t, c.failovers, 1)
		require.Equal(t, "n2", c.failovers[0].node)
		require.True(t, c.writes("b", "n3")())
	})
}

// L18: the router counts from the last answer that it has had.
func TestLostAnswers(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.pass(testTerm)
		c.with("n1", func(n *fenced) { n.mute = true })
		c.until(c.writes("a"))
		c.until(c.writes("a", "n2"))
		require.Len(t, c.failovers, 1)
	})
}

// L20: what could not be failed over is tried again while the node stays lost, and what
// could is served meanwhile.
func TestFailoverIsTriedAgain(t *testing.T) {
	inCluster(t, func(c *cluster) {
		n1, _ := c.directory.Node("n1")
		require.NoError(t, c.directory.Place("d", n1))
		c.replicas["d"] = "n3"
		c.refuse["a"] = true
		c.with("n1", func(n *fenced) { n.cut = true })
		c.until(c.writes("d", "n3"))
		c.pass(testTerm)
		require.GreaterOrEqual(t, len(c.failovers), 3)
		require.Equal(t, []string{"a", "d"}, c.failovers[0].tenants)
		require.Equal(t, []string{"a"}, c.failovers[1].tenants)
		require.EqualValues(t, 1, c.leasing.failovers.failed.Load())
		require.Zero(t, c.leasing.failovers.done.Load())
		require.Equal(t, 1, c.logged("trying again"))
		c.mu.Lock()
		c.refuse["a"] = false
		c.mu.Unlock()
		c.until(c.writes("a", "n2"))
		require.EqualValues(t, 1, c.leasing.failovers.done.Load())
		require.EqualValues(t, 1, c.leasing.failovers.failed.Load())
	})
}

// A failover and a repair that take long cost no node its lease.
func TestSlowFailoverDelaysNoRound(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.slow = 10 * testTerm
		c.with("n1", func(n *fenced) { n.cut = true })
		c.until(func() bool { return len(c.failovers) > 0 })
		for range 20 {
			c.pass(testTerm / 3)
			require.NoError(t, c.admits("n2", "b"))
			require.NoError(t, c.admits("n3", "c"))
		}
	})
}

// L21: a node that starts anew within its term writes from the next round on.
func TestRestartedNode(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.pass(testTerm)
		c.boot("n1")
		require.ErrorIs(t, c.admits("n1", "a"), replication.ErrNoLease)
		require.LessOrEqual(t, c.until(c.writes("a", "n1")), testTerm/3)
		require.Equal(t, 1, lists(c.sent("n1")))
		require.Empty(t, c.failovers)
	})
}

// A router that stood still does not take the nodes' silence for theirs.
func TestRouterThatStoodStill(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.pass(testTerm)
		c.leap.Add(int64(3 * testTerm))
		c.pass(testTerm)
		require.Empty(t, c.failovers)
		require.True(t, c.writes("a", "n1")())
	})
}

// A node that is forgotten is not failed over.
func TestForgottenNode(t *testing.T) {
	inCluster(t, func(c *cluster) {
		require.NoError(t, c.directory.Forget("a"))
		require.NoError(t, c.directory.DeleteNode("n1"))
		before := len(c.sent("n1"))
		c.pass(3 * testTerm)
		require.Len(t, c.sent("n1"), before)
		require.Empty(t, c.failovers)
	})
}
