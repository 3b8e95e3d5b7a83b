package router

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// stoppable is a directory whose router can do nothing any more from a step on, as if it
// was killed there.
type stoppable struct {
	mu    sync.Mutex // guards the fields below
	d     *Directory
	at    int // the step, -1 for none
	steps int
}

func (s *stoppable) step(string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.steps == s.at {
		s.d.supersede()
	}
	s.steps++
}

// arm has the router stop at a step from now on.
func (s *stoppable) arm(at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.steps = at, 0
}

// stopped disarms, and reports whether the router was stopped.
func (s *stoppable) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	reached := s.steps > s.at
	s.at = -1
	return reached
}

// What a router was doing with copies when it stopped for good is gone on with by the next
// one: a failover when it is asked for again, all else by itself.
func TestCopiesStoppedAtEveryStep(t *testing.T) {
	names := []string{"a", "b", "c"}
	for name, x := range map[string]struct {
		before func(c *copyCluster, rt *Router, addr string)
		do     func(c *copyCluster, rt *Router, addr string)
		after  func(c *copyCluster, rt *Router, tenant string)
	}{
		"failover of a pair": {
			before: func(c *copyCluster, _ *Router, addr string) { c.pair(addr, "n1", "n2") },
			do: func(c *copyCluster, rt *Router, _ string) {
				c.change("n1", func(n *copyNode) { n.down = true })
				rt.FailOver(t.Context(), "n1", false)
			},
			after: func(c *copyCluster, rt *Router, tenant string) {
				at, _ := rt.directory.Tenant(tenant)
				require.Equal(t, "n2", at.Node)
				require.False(t, rt.directory.IsStandby("n2"))
				require.True(t, c.write("n2", tenant))
				require.Len(t, c.file("n2", tenant).lineage, 2, "it was promoted once")
			},
		},
		"failover to replicas": {
			before: func(c *copyCluster, rt *Router, addr string) {
				for _, name := range names {
					replicate(t, rt, name, "n3")
				}
				c.create(addr, "other", "n2")
				replicate(t, rt, "other", "n1")
			},
			do: func(c *copyCluster, rt *Router, _ string) {
				c.change("n1", func(n *copyNode) { n.down = true })
				rt.FailOver(t.Context(), "n1", false)
			},
			after: func(c *copyCluster, rt *Router, tenant string) {
				at, _ := rt.directory.Tenant(tenant)
				require.Equal(t, "n3", at.Node)
				require.True(t, c.write("n3", tenant))
				require.Len(t, c.file("n3", tenant).lineage, 2)
				require.Equal(t, map[string]spareState{"n1": spareLeft}, spareStates(rt, "other"))
			},
		},
		"repair": {
			before: func(*copyCluster, *Router, string) {},
			do:     func(_ *copyCluster, rt *Router, _ string) { rt.Repair(t.Context()) },
			after: func(c *copyCluster, rt *Router, tenant string) {
				rt.Repair(t.Context())
				at, _ := rt.directory.Tenant(tenant)
				require.Len(t, at.Replicas, 1)
				c.follows(tenant, at.Replicas[0], "n1")
				for _, node := range []string{"n2", "n3"} {
					require.Equal(t, node == at.Replicas[0], c.file(node, tenant) != nil)
				}
			},
		},
		"a pair": {
			before: func(*copyCluster, *Router, string) {},
			do: func(c *copyCluster, rt *Router, _ string) {
				c.change("n2", func(n *copyNode) { n.upstream = "n1" })
				rt.pair(t.Context(), c.nodes["n1"].Node, "n2")
			},
			after: func(c *copyCluster, rt *Router, tenant string) {
				require.True(t, rt.directory.IsStandby("n2"))
				require.Empty(t, spareStates(rt, tenant))
				c.follows(tenant, "n2", "n1")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := 0
			for more := true; more; at++ {
				more = stoppedCopies(t, at, names, x.before, x.do, x.after)
			}
			require.Greater(t, at, len(names))
		})
	}
}

func stoppedCopies(t *testing.T, at int, names []string, before, do func(*copyCluster, *Router, string), after func(*copyCluster, *Router, string)) bool {
	path := filepath.Join(t.TempDir(), "shard.fenec")
	d, err := OpenDirectory(path)
	require.NoError(t, err)
	c := newCopyCluster(t, "n1", "n2", "n3")
	s := &stoppable{d: d, at: -1}
	rt, addr := c.router(Options{Directory: d, step: s.step})
	for _, name := range names {
		c.create(addr, name, "n1")
	}
	before(c, rt, addr)
	idle(t, rt)
	s.arm(at)
	do(c, rt, addr)
	stopped := s.stopped()
	require.NoError(t, rt.Shutdown(t.Context()))
	d = reopened(t, d, path)
	next, _ := routerOver(t, Options{Directory: d})
	idle(t, next)
	if c.nodes["n1"].down {
		next.FailOver(t.Context(), "n1", false)
		idle(t, next)
	}
	for _, name := range names {
		after(c, next, name)
	}
	require.Empty(t, d.Strays(), fmt.Sprint("stopped at step ", at))
	return stopped
}
