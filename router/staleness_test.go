package router

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/internal/metrics"
)

// Copies that are out of touch are counted and told of once, and again when they are back.
func TestStaleness(t *testing.T) {
	c := newCopyCluster(t, "n1", "n2", "n3")
	rt, addr := c.router(Options{})
	for _, name := range []string{"a", "b", "c"} {
		c.create(addr, name, "n1")
		replicate(t, rt, name, "n2")
	}
	replicate(t, rt, "a", "n3")
	var w staleness
	w.init(rt)
	text := ""
	w.logf = func(format string, args ...any) { text += fmt.Sprintf(format+"\n", args...) }
	requireCounts := func(n2, n3 int, said string) {
		t.Helper()
		text = ""
		w.look(t.Context())
		require.Equal(t, said, text)
		var page metrics.Page
		w.writeMetrics(&page)
		require.Contains(t, string(page.Bytes()), fmt.Sprintf("fenec_router_replicas_stale{node=\"n1\"} 0\n"+
			"fenec_router_replicas_stale{node=\"n2\"} %d\nfenec_router_replicas_stale{node=\"n3\"} %d\n", n2, n3))
	}
	set := func(node, tenant string, f func(*copyFile)) {
		c.change(node, func(n *copyNode) { f(n.tenants[tenant]) })
	}
	const stale = "out of touch with the tenants' nodes, or not following them; a failover does not count on them\n"

	requireCounts(0, 0, "")
	set("n2", "a", func(f *copyFile) { f.lagMs = (11 * time.Second).Milliseconds() })
	set("n2", "b", func(f *copyFile) { f.lagMs = -1 })
	set("n3", "a", func(f *copyFile) { f.from = c.nodes["n2"].Addr })
	requireCounts(2, 1, "node n2: 2 copies, of a, b: "+stale+"node n3: 1 copy, of a: "+stale)
	requireCounts(2, 1, "")
	set("n2", "a", func(f *copyFile) { f.lagMs = 900 })
	set("n3", "a", func(f *copyFile) { f.from = c.nodes["n1"].Addr })
	requireCounts(1, 0, "node n2: 1 copy, of a: level again\nnode n3: 1 copy, of a: level again\n")
	c.change("n2", func(n *copyNode) { n.down = true })
	requireCounts(3, 0, "node n2: 2 copies, of a, c: "+stale)
	c.change("n2", func(n *copyNode) {
		n.down = false
		n.tenants["b"].lagMs = 0
	})
	requireCounts(0, 0, "node n2: 3 copies, of a, b, c: level again\n")
}

func TestCountedCopies(t *testing.T) {
	require.Equal(t, "7 copies, of a, b, c, d, e and 2 others", countedCopies([]string{"g", "f", "e", "d", "c", "b", "a"}))
}
