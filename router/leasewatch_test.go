package router

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// places is a watcher that keeps what it is told.
type places map[string]map[string]bool

func (p places) nodeKnown(node string) {
	if p[node] == nil {
		p[node] = map[string]bool{}
	}
}

func (p places) nodeGone(node string) { delete(p, node) }

func (p places) settled(tenant, from, to string) {
	if from != "" {
		delete(p[from], tenant)
	}
	if to != "" {
		p[to][tenant] = true
	}
}

// A watcher knows what look-ups see, whenever it has begun.
func TestWatcher(t *testing.T) {
	d, file := faultDirectory(t)
	told := places{}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		if i == 100 {
			d.watch(told)
		}
		file.broken = nil
		if rnd.IntN(10) == 0 {
			file.broken = errDisk
		}
		node, tenant := fmt.Sprintf("n%d", rnd.IntN(4)), fmt.Sprintf("t%d", rnd.IntN(9))
		n := Node{Name: node, Addr: node + ":1", Token: NewToken("x")}
		switch rnd.IntN(7) {
		case 0, 1:
			_ = d.PutNode(n)
		case 2, 3:
			_ = d.Place(tenant, n)
		case 4:
			_ = d.Forget(tenant)
		case 5:
			if at, ok := d.Tenant(tenant); ok && at.Node != node {
				_ = d.flip(tenant, n, 0)
			}
		case 6:
			_ = d.abandon(Stray{Tenant: tenant, Node: node})
			_ = d.DeleteNode(node)
		}
		if i < 100 {
			continue
		}
		seen := places{}
		for _, n := range d.Nodes() {
			seen.nodeKnown(n.Name)
		}
		for _, at := range d.Tenants() {
			seen.settled(at.Name, "", at.Node)
		}
		require.Equal(t, seen, told)
	}
}
