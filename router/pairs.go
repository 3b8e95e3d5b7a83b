package router

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// pairs are the standbys, by the name of the node that each stands by. Never changed.
type pairs map[string]string

// standbys returns the nodes that stand by others.
func (p pairs) standbys() []string { return slices.Collect(maps.Values(p)) }

// Standby returns the node that stands by another: it has a copy of each tenant there,
// follows it, and takes its place in a failover.
func (d *Directory) Standby(node string) (standby string, ok bool) {
	standby, ok = (*d.pairs.Load())[node]
	return standby, ok
}

// IsStandby reports whether a node stands by another. No tenant is placed on one, or
// moved to it.
func (d *Directory) IsStandby(node string) bool {
	return slices.Contains(d.pairs.Load().standbys(), node)
}

// isPaired reports whether a node has a standby or is one.
func (d *Directory) isPaired(node string) bool {
	_, has := d.Standby(node)
	return has || d.IsStandby(node)
}

// standby returns the slot of the node that stands by another.
func (d *Directory) standby(on *slot) (*slot, bool) {
	name, ok := d.Standby(on.name())
	if !ok {
		return nil, false
	}
	return d.nodes.get(name)
}

// setPair records a node's standby, "" for none. A tenant's copy on the standby is wanted
// until it is known to follow, and one on the standby that the node had before is left.
func (d *Directory) setPair(node, standby string) error {
	before, _ := d.Standby(node)
	check := func() error {
		switch _, known := d.nodes.get(standby); {
		case standby == node:
			return ErrOwnStandby
		case standby != "" && !known:
			return fmt.Errorf("standby %s: %w", standby, ErrUnknownNode)
		}
		_, known := d.nodes.get(node)
		if !known {
			return ErrUnknownNode
		}
		before, _ = d.Standby(node)
		return nil
	}
	change := func(p *place) bool {
		if on, ok := d.nodes.get(before); ok && before != standby {
			p.setSpare(on, spareLeft)
		}
		if on, ok := d.nodes.get(standby); ok && before != standby {
			p.setSpare(on, spareWanted)
		}
		return before != standby
	}
	keep := func(r rows) error { return r.putPair(node, standby) }
	return d.amendOn(node, change, check, keep, func() { d.setStandby(node, standby) })
}

// setStandby brings the memory up to a change of a pair.
func (d *Directory) setStandby(node, standby string) {
	next := maps.Clone(*d.pairs.Load())
	if next == nil {
		next = pairs{}
	}
	next[node] = standby
	if standby == "" {
		delete(next, node)
	}
	d.pairs.Store(&next)
}

// endPairs forgets the pairs of a node, on both sides.
func (d *Directory) endPairs(node string) {
	next := maps.Clone(*d.pairs.Load())
	maps.DeleteFunc(next, func(of, standby string) bool { return of == node || standby == node })
	d.pairs.Store(&next)
}

func (r rows) putPair(node, standby string) error {
	if standby == "" {
		return r.all(node, "del pairs where node = $1")
	}
	return r.upsert("pairs", "node", "standby: $2", node, standby)
}

func (s *fileStore) loadPairs(c *contents, only string) error {
	found, err := collect[struct{ Node, Standby string }](s.db, "get node, standby from pairs", "node", only)
	for _, p := range found {
		c.pairs[p.Node] = p.Standby
	}
	return err
}

// checkStandby says what is wrong with the standby that a node is to have.
func (rt *Router) checkStandby(node string, standby *string) error {
	switch {
	case standby == nil || *standby == "":
		return nil
	case *standby == node:
		return fmt.Errorf("node %s: %w", node, ErrOwnStandby)
	}
	_, err := rt.knownNode(*standby)
	return err
}

// pair records a node's standby, "" for none, and has the standby make a copy of each
// tenant on the node. It returns the tenants that it could not, which it tries again in
// the background. What the standby of a pair that was recorded before lacks is made up
// for.
func (rt *Router) pair(ctx context.Context, n Node, standby string) (unreplicated []string, err error) {
	if err := rt.directory.setPair(n.Name, standby); err != nil || standby == "" {
		return []string{}, err
	}
	unreplicated = rt.copier.standBy(ctx, rt.directory.on(n.Name), standby)
	if len(unreplicated) > 0 {
		rt.reconciler.kick()
	}
	return unreplicated, nil
}

// on returns the tenants on a node, by name.
func (d *Directory) on(node string) []string {
	names := []string{}
	d.tenants.each(func(name string, p *place) {
		if p.on.name() == node {
			names = append(names, name)
		}
	})
	slices.Sort(names)
	return names
}

// standBy has the standby's copies of tenants follow, and returns the tenants whose do
// not, by name.
func (c *copier) standBy(ctx context.Context, tenants []string, standby string) []string {
	var mu sync.Mutex // guards failed
	failed := []string{}
	quiet := c.newSilences()
	inParallel(copyWorkers, tenants, func(tenant string) {
		err := quiet.ask(ctx, standby, func() error { return c.standByOne(ctx, tenant, standby) })
		if err == nil || errors.Is(err, ErrUnknownTenant) {
			return
		}
		c.logf("tenant %s: node %s has no copy of it: %v", tenant, standby, err)
		mu.Lock()
		defer mu.Unlock()
		failed = append(failed, tenant)
	})
	slices.Sort(failed)
	return failed
}

func (c *copier) standByOne(ctx context.Context, tenant, standby string) error {
	release, err := c.directory.Claim(tenant)
	if err != nil {
		return err
	}
	defer release()
	p, ok := c.directory.find([]byte(tenant))
	if !ok {
		return ErrUnknownTenant
	}
	f := c.newFollowing(tenant, p)
	if err := f.look(ctx); err != nil {
		return err
	}
	if err = f.stand(ctx, standby); err != nil && !isSilent(err) {
		// It is not what it was taken for.
		f.give(standby, spareWanted)
	}
	return err
}
