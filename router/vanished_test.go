package router

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// wipe takes all files from a node.
func (c *copyCluster) wipe(node string) {
	c.change(node, func(n *copyNode) { clear(n.tenants) })
}

// What a node lacks that has come back with an empty disk is made anew there, and what is
// placed on it is told of.
func TestRepairOfAnEmptyNode(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{})
	for i := range 10 {
		name := fmt.Sprintf("t%d", i)
		c.create(addr, name, "n1")
		replicate(t, rt, name, "n2")
	}
	replicate(t, rt, "t3", "n3")
	c.create(addr, "own", "n2")
	c.create(addr, "busy", "n1")
	replicate(t, rt, "busy", "n2")
	release, err := rt.directory.Claim("busy")
	require.NoError(t, err)
	c.wipe("n2")
	done := rt.Repair(t.Context())
	require.Equal(t, []Unmoved{
		{"busy", ErrInProgress.Error()},
		{"own", "node n2, where it is placed, has no file of it"},
	}, done.Failed)
	require.Len(t, done.Replicated, 10)
	for i := range 10 {
		name := fmt.Sprintf("t%d", i)
		require.Contains(t, done.Replicated, Replicated{name, "n2"})
		c.follows(name, "n2", "n1")
		require.Equal(t, spareFollows, spareStates(rt, name)["n2"])
	}
	release()
	require.Equal(t, []Replicated{{"busy", "n2"}}, rt.Repair(t.Context()).Replicated)
	require.Nil(t, c.file("n2", "own"), "nothing is made where a tenant has to be")
}

// The copies of a pair are made anew, too.
func TestRepairOfAnEmptyStandby(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.pair(addr, "n1", "n2")
	c.create(addr, "acme", "n1")
	require.NotNil(t, c.file("n2", "acme"))
	c.wipe("n2")
	require.Equal(t, Repaired{[]Replicated{{"acme", "n2"}}, []Unmoved{}}, rt.Repair(t.Context()))
	c.follows("acme", "n2", "n1")
	require.Empty(t, spareStates(rt, "acme"))
	require.Equal(t, Repaired{[]Replicated{}, []Unmoved{}}, rt.Repair(t.Context()))
}

// Of a node that is back only that one's copies are looked at, and what is placed there
// does not fail for that.
func TestRepairOfAnEmptyNodeThatIsBack(t *testing.T) {
	for name, repair := range map[string]func(*Router) error{
		"back":    func(rt *Router) error { return left(rt.repairReturned(t.Context(), "n2").Failed) },
		"started": func(rt *Router) error { return rt.restored(t.Context(), "n2") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCopyCluster(t, "n1", "n2", "n3")
			rt, addr := c.router(Options{})
			var logged []string
			rt.copier.logf = func(format string, args ...any) { logged = append(logged, fmt.Sprintf(format, args...)) }
			for _, x := range []struct{ tenant, on, replica string }{{"a", "n1", "n2"}, {"b", "n1", "n3"}, {"own", "n2", "n1"}} {
				c.create(addr, x.tenant, x.on)
				replicate(t, rt, x.tenant, x.replica)
			}
			c.create(addr, "bare", "n2")
			c.wipe("n2")
			c.wipe("n3")
			require.NoError(t, repair(rt))
			c.follows("a", "n2", "n1")
			require.Nil(t, c.file("n3", "b"))
			require.Contains(t, strings.Join(logged, "\n"), "has no file of it; it is one of 2: fail the node over")
		})
	}
}

// A tenant that is placed on the node that is back is none of its copies.
func TestRepairPassesOverWhatIsPlacedThere(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2")
	rt, addr := c.router(Options{})
	c.create(addr, "acme", "n1")
	require.Equal(t, Repaired{[]Replicated{}, []Unmoved{}}, rt.repairReturned(t.Context(), "n1"))
}

// A node that has lost what it was granted is another process, and is looked at once.
func TestRestartedNodeIsLookedAt(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.pass(2 * testTerm)
		require.Empty(t, c.restarts, "none of them was started while the router ran")
		c.boot("n2")
		c.pass(2 * testTerm)
		require.Equal(t, []string{"n2"}, c.restarts)
		require.Equal(t, []string{"n2"}, c.writers("b"))
		c.begin()
		c.pass(2 * testTerm)
		synctest.Wait()
		require.Equal(t, []string{"n2"}, c.restarts)
		require.Empty(t, c.failovers)
		require.Empty(t, c.repairs)
	})
}
