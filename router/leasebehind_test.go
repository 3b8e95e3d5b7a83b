package router

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A router with a directory that has just taken another's place grants nothing before the
// leases of that one have run out, however often it is started anew meanwhile.
func TestPromotedRouterWaits(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.promote()
		c.begin()
		require.False(t, c.directory.isBehind(), "a first history takes nobody's place")
		require.True(t, c.writes("a", "n1")())

		c.promote()
		require.True(t, c.directory.isBehind())
		for range 3 {
			begun, sent := c.now(), len(c.sent("n1"))
			c.begin()
			c.pass(testTerm)
			require.Equal(t, testTerm, c.now()-begun)
			require.Len(t, c.sent("n1"), sent)
			require.True(t, c.directory.isBehind())
		}
		begun := c.now()
		c.begin()
		require.True(t, c.writes("a")())
		waited := c.until(c.writes("a", "n1"))
		require.GreaterOrEqual(t, waited, testTerm*11/10)
		require.LessOrEqual(t, waited, testTerm*11/10+testTerm/3+time.Millisecond)
		require.False(t, c.directory.isBehind())

		c.begin()
		c.pass(time.Millisecond)
		require.True(t, c.writes("a", "n1")(), "and then no more")
		require.Empty(t, c.failovers)
		require.Greater(t, c.now(), begun)
	})
}

// L15, and that what the file refuses is recorded later.
func TestPromotedRouterFailsOver(t *testing.T) {
	inCluster(t, func(c *cluster) {
		file := &faultStore{store: c.directory.store}
		c.directory.store = file
		c.promote()
		c.promote()
		file.broken = errDisk
		c.with("n1", func(n *fenced) { n.cut = true })
		begun := c.now()
		c.begin()
		c.pass(2 * testTerm)
		require.True(t, c.directory.isBehind())
		file.broken = nil
		c.until(c.writes("a", "n2"))
		require.Greater(t, c.failovers[0].at-begun, 2*testTerm*11/10, "both are waited out")
		require.False(t, c.directory.isBehind())
	})
}

// L16: a router that has not begun grants nothing.
func TestNoGrantsBeforeTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := OpenDirectory("")
		require.NoError(t, err)
		l := newLeasing(d, testTerm, t.Logf)
		n := Node{Name: "n1", Addr: "a:1", Token: NewToken("x")}
		require.NoError(t, d.PutNode(n))
		require.NoError(t, d.Place("a", n))
		l.grantSoon("n1")
		time.Sleep(3 * testTerm)
		l.close()
		require.NoError(t, d.Close())
	})
}
