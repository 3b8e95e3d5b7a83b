package router

import (
	"context"
	"slices"
	"sync"
)

// choose returns the node that a new tenant is to be placed on, and holds a place
// there until release is called: creates at the same time do not pass a node's
// MaxTenants together.
func (rt *Router) choose(ctx context.Context, tenant string) (n Node, release func(), err error) {
	among, err := rt.candidates(ctx)
	for err == nil {
		if len(among) == 0 {
			return Node{}, nil, ErrNoCapacity
		}
		var name string
		if name, err = pick(ctx, rt.opts.Placer, tenant, among); err != nil {
			break
		}
		n, known := rt.directory.Node(name)
		if release, ok := rt.reserve(name); known && ok {
			return n, release, nil
		}
		// It was filled or forgotten meanwhile.
		among = slices.DeleteFunc(among, func(c Candidate) bool { return c.Node == name })
	}
	return Node{}, nil, err
}

// candidates returns the nodes that a tenant may be placed on without being asked for,
// by name.
func (rt *Router) candidates(ctx context.Context) ([]Candidate, error) {
	nodes := rt.directory.Nodes()
	if len(nodes) == 0 {
		return nil, ErrNoNodes
	}
	among, answered := []Candidate{}, false
	for _, said := range ask(nodes, func(n Node) (int64, error) { return rt.diskSoon(ctx, n) }) {
		if said.err != nil {
			continue
		}
		answered = true
		name := said.node.Name
		if rt.directory.IsStandby(name) {
			continue
		}
		c := Candidate{name, rt.directory.Attrs(name), said.value, rt.directory.Placed(name) + rt.fleet.reserved.on(name)}
		if c.Attrs.takes(c.Disk, c.Tenants) {
			among = append(among, c)
		}
	}
	if !answered {
		return nil, ErrNoneAnswers
	}
	return among, nil
}

// diskSoon asks a node how many bytes its files take up, when all are asked and one that
// does not answer keeps the others waiting.
func (rt *Router) diskSoon(ctx context.Context, n Node) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, min(chooseTimeout, rt.opts.UpstreamTimeout))
	defer cancel()
	return rt.admin.disk(ctx, n)
}

// reserve holds a place on a node, if there is one.
func (rt *Router) reserve(node string) (release func(), ok bool) {
	attrs := rt.directory.Attrs(node)
	return rt.fleet.reserved.take(node, func(held int) bool {
		return attrs.MaxTenants == 0 || rt.directory.Placed(node)+held < attrs.MaxTenants
	})
}

// reservations are the places held for tenants that are being created, by node.
type reservations struct {
	mu   sync.Mutex // guards held
	held map[string]int
}

func (r *reservations) on(node string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held[node]
}

// take holds one more place on a node if room, told how many are held, allows it.
func (r *reservations) take(node string, room func(held int) bool) (release func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !room(r.held[node]) {
		return nil, false
	}
	if r.held == nil {
		r.held = make(map[string]int)
	}
	r.held[node]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.held[node]--; r.held[node] == 0 {
			delete(r.held, node)
		}
	}, true
}

// nodeFor returns the node of a tenant that is to be created: the one of that name, or
// the one that is chosen if name is empty. One that is asked for by name is taken
// whatever its role and its limits are, but not while it is being drained or stands by
// another.
func (rt *Router) nodeFor(ctx context.Context, tenant, name string) (n Node, release func(), err error) {
	if name == "" {
		return rt.choose(ctx, tenant)
	}
	n, ok := rt.directory.Node(name)
	switch {
	case !ok:
		return Node{}, nil, ErrUnknownNode
	case rt.directory.Attrs(name).Draining:
		return Node{}, nil, ErrDraining
	case rt.directory.IsStandby(name):
		return Node{}, nil, ErrStandby
	}
	return n, func() {}, nil
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
