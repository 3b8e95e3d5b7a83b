package router

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/replication"
)

func TestHandOver(t *testing.T) {
	for name, c := range map[string]struct {
		node  func(*fenced)
		force bool
		err   error
	}{
		"a node that is well":          {func(*fenced) {}, false, nil},
		"one that takes no leases":     {func(n *fenced) { n.fence = nil }, false, nil},
		"one that is silent":           {func(n *fenced) { n.cut = true }, false, ErrLeaseRunning},
		"one whose answers are lost":   {func(n *fenced) { n.mute = true }, false, ErrLeaseRunning},
		"one that hangs":               {func(n *fenced) { n.hangs = true }, false, ErrLeaseRunning},
		"one that is silent, by force": {func(n *fenced) { n.cut = true }, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			inCluster(t, func(cl *cluster) {
				cl.pass(testTerm)
				cl.with("n1", c.node)
				begun := cl.now()
				done, err := cl.leasing.handOver(context.Background(), "n1", []string{"a"}, c.force)
				require.ErrorIs(t, err, c.err)
				if c.err != nil {
					require.Equal(t, testTerm/3, cl.now()-begun)
					require.Nil(t, done)
					cl.with("n1", func(n *fenced) { n.cut, n.mute, n.hangs = false, false, false })
					cl.until(cl.writes("a", "n1"))
					return
				}
				require.Less(t, cl.now()-begun, time.Millisecond)
				if c.force {
					return
				}
				cl.flip("a", "n2")
				done()
				require.True(t, cl.leasing.granted(context.Background(), "a", "n2"))
				require.True(t, cl.writes("a", "n2")())
				cl.pass(2 * testTerm)
				require.Empty(t, cl.failovers)
			})
		})
	}
}

// What is given up stays with the node.
func TestHandOverThatComesToNothing(t *testing.T) {
	inCluster(t, func(c *cluster) {
		done, err := c.leasing.handOver(context.Background(), "n1", []string{"a"}, false)
		require.NoError(t, err)
		require.True(t, c.writes("a")())
		c.pass(2 * testTerm)
		require.True(t, c.writes("a")())
		done()
		require.True(t, c.leasing.granted(context.Background(), "a", "n1"))
		require.True(t, c.writes("a", "n1")())
	})
}

// Handovers of one node wait for each other, and for a failover.
func TestHandOversTakeTurns(t *testing.T) {
	inCluster(t, func(c *cluster) {
		n1, _ := c.directory.Node("n1")
		require.NoError(t, c.directory.Place("d", n1))
		first, err := c.leasing.handOver(context.Background(), "n1", []string{"a"}, false)
		require.NoError(t, err)
		begun := c.now()
		time.AfterFunc(testTerm/6, first)
		second, err := c.leasing.handOver(context.Background(), "n1", []string{"d"}, false)
		require.NoError(t, err)
		require.Equal(t, testTerm/6, c.now()-begun)
		_, err = c.leasing.handOver(context.Background(), "n1", []string{"a"}, false)
		require.ErrorIs(t, err, replication.ErrInProgress)
		other, err := c.leasing.handOver(context.Background(), "n2", []string{"b"}, false)
		require.NoError(t, err, "another node's go on")
		other()
		second()

		c.slow = 10 * testTerm
		c.with("n1", func(n *fenced) { n.cut = true })
		c.until(func() bool { return len(c.failovers) == 1 })
		_, err = c.leasing.handOver(context.Background(), "n1", []string{"a"}, true)
		require.ErrorIs(t, err, replication.ErrInProgress)
	})
}

func TestHandOverIsRefused(t *testing.T) {
	inCluster(t, func(c *cluster) {
		_, err := c.leasing.handOver(context.Background(), "n9", []string{"a"}, false)
		require.ErrorIs(t, err, ErrUnknownNode)
		c.with("n1", func(n *fenced) { n.cut = true })
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = c.leasing.handOver(ctx, "n1", []string{"a"}, false)
		require.ErrorIs(t, err, context.Canceled)
		time.AfterFunc(testTerm/6, c.leasing.stop)
		_, err = c.leasing.handOver(context.Background(), "n1", []string{"a"}, false)
		require.ErrorIs(t, err, ErrClosed)
	})
	done, err := (*leasing)(nil).handOver(context.Background(), "n1", []string{"a"}, false)
	require.NoError(t, err, "without leases there is nothing to wait for")
	done()
}

// A tenant that was just placed may be written once granted says so: L10, L27.
func TestGranted(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.pass(testTerm / 6)
		n1, _ := c.directory.Node("n1")
		require.NoError(t, c.directory.Place("d", n1))
		require.ErrorIs(t, c.admits("n1", "d"), replication.ErrElsewhere)
		begun := c.now()
		require.True(t, c.leasing.granted(context.Background(), "d", "n1"))
		require.Less(t, c.now()-begun, time.Millisecond)
		require.NoError(t, c.admits("n1", "d"))

		require.NoError(t, c.directory.Forget("d"))
		c.leasing.grantSoon("n1")
		synctest.Wait()
		require.ErrorIs(t, c.admits("n1", "d"), replication.ErrElsewhere)
		require.NoError(t, c.admits("n1", "a"))

		require.NoError(t, c.directory.Place("d", n1))
		c.with("n1", func(n *fenced) { n.cut = true })
		require.False(t, c.leasing.granted(context.Background(), "d", "n1"))
		require.Equal(t, testTerm/3, c.now()-begun)
		c.with("n1", func(n *fenced) { n.cut, n.fence = false, nil })
		require.True(t, c.leasing.granted(context.Background(), "d", "n1"), "it takes no leases")
		require.True(t, c.leasing.granted(context.Background(), "d", "n9"), "there is no such node")
	})
	require.True(t, (*leasing)(nil).granted(context.Background(), "d", "n1"))
}

// One that fails over is not granted before that is over.
func TestGrantedBesideAFailover(t *testing.T) {
	inCluster(t, func(c *cluster) {
		done, err := c.leasing.handOver(context.Background(), "n1", []string{"a"}, false)
		require.NoError(t, err)
		n1, _ := c.directory.Node("n1")
		require.NoError(t, c.directory.Place("d", n1))
		require.True(t, c.leasing.granted(context.Background(), "d", "n1"), "others are")
		require.False(t, c.leasing.granted(context.Background(), "a", "n1"))
		time.AfterFunc(testTerm/6, done)
		require.True(t, c.leasing.granted(context.Background(), "a", "n1"))
		require.NoError(t, c.admits("n1", "a"))
	})
}
