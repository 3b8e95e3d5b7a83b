package router

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// choose returns the node that a new tenant is to be placed on: among those that
// answer, the one whose files take up the fewest bytes, the first by name of
// several. Disk and not memory decides, as memory counts open tenants only.
func (rt *Router) choose(ctx context.Context) (Node, error) {
	nodes := rt.directory.Nodes()
	if len(nodes) == 0 {
		return Node{}, ErrNoNodes
	}
	ctx, cancel := context.WithTimeout(ctx, min(chooseTimeout, rt.opts.UpstreamTimeout))
	defer cancel()
	disks := ask(nodes, func(n Node) (int64, error) { return rt.admin.disk(ctx, n) })
	answering := slices.DeleteFunc(disks, func(r reply[int64]) bool { return r.err != nil })
	if len(answering) == 0 {
		return Node{}, ErrNoneAnswers
	}
	// Nodes are in the order of their names, and the first minimum is taken.
	return slices.MinFunc(answering, func(a, b reply[int64]) int { return cmp.Compare(a.value, b.value) }).node, nil
}

// reply is what a node said.
type reply[V any] struct {
	node  Node
	value V
	err   error
}

// ask asks all nodes at once and returns what they said, in their order.
func ask[V any](nodes []Node, question func(Node) (V, error)) []reply[V] {
	replies := make([]reply[V], len(nodes))
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() {
			value, err := question(n)
			replies[i] = reply[V]{n, value, err}
		})
	}
	wg.Wait()
	return replies
}
