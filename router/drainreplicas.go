package router

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// catchUpFor is how long the drain of a node waits for a replica that was placed elsewhere
// to have everything. One that takes longer is looked at again in the next round.
const catchUpFor = time.Minute

// replicasOn returns the tenants that have, or are to have, a replica of their own on a
// node, by name. The copies of a pair are none.
func (d *Directory) replicasOn(node string) (names []string) {
	d.tenants.each(func(name string, p *place) {
		if d.hasReplicaOn(p, node) {
			names = append(names, name)
		}
	})
	slices.Sort(names)
	return names
}

func (d *Directory) hasReplicaOn(p *place, node string) bool {
	standby, _ := d.Standby(p.on.name())
	return p.on.name() != node && standby != node && p.counts(node)
}

// drainReplicas tries once to place the replicas on a node elsewhere, as many at once as
// tenants may move.
func (f *fleet) drainReplicas(ctx context.Context, node string, to *progress) {
	quiet := f.router.copier.newSilences()
	var running sync.WaitGroup
	defer running.Wait()
	for _, name := range f.router.directory.replicasOn(node) {
		select {
		case f.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		running.Go(func() {
			defer func() { <-f.slots }()
			to.began(proposal{Tenant: name})
			at, _ := f.router.directory.Tenant(name)
			err := quiet.ask(f.ctx, at.Node, func() error { return f.router.copier.relocate(f.ctx, name, node) })
			if err != nil {
				err = fmt.Errorf("its replica: %w", err)
			}
			to.ended(proposal{Tenant: name}, err)
		})
	}
}

// relocate has a tenant's replica on a node take its leave once another has everything,
// which it places if there is none. The tenant is not claimed while that catches up: it may
// be failed over meanwhile.
func (c *copier) relocate(ctx context.Context, tenant, node string) error {
	next := ""
	err := c.onReplica(ctx, tenant, node, func(f *following, p *place) (err error) {
		next, err = f.elsewhere(ctx, p, node)
		return err
	})
	if err != nil || next == "" {
		return err
	}
	if err := c.caughtUp(ctx, tenant, next); err != nil {
		return err
	}
	return c.onReplica(ctx, tenant, node, func(f *following, p *place) error {
		if p.spareOn(next) != spareFollows {
			return fmt.Errorf("node %s: %w", next, ErrIncomplete)
		}
		return f.leave(ctx, node)
	})
}

// onReplica calls do with a tenant claimed that has a replica on a node, or is to have one.
func (c *copier) onReplica(ctx context.Context, tenant, node string, do func(*following, *place) error) error {
	release, err := c.directory.Claim(tenant)
	if err != nil {
		return err
	}
	defer release()
	p, ok := c.directory.find([]byte(tenant))
	switch {
	case !ok || !c.directory.hasReplicaOn(p, node):
		return nil
	case !p.isRest():
		return ErrInProgress
	}
	return do(c.newFollowing(tenant, p), p)
}

// elsewhere returns a node with another replica that may stay there. It places one if there
// is none.
func (f *following) elsewhere(ctx context.Context, p *place, node string) (next string, err error) {
	if err := f.look(ctx); err != nil {
		return "", err
	}
	for _, other := range p.sparesThat(spareFollows) {
		if other != node && !f.directory.Attrs(other).Draining {
			return other, nil
		}
	}
	return f.another(ctx, nil)
}

// caughtUp waits until a tenant's copy on a node has had all that there is.
func (c *copier) caughtUp(ctx context.Context, tenant, node string) error {
	on, ok := c.directory.Node(node)
	if !ok {
		return fmt.Errorf("node %s: %w", node, ErrUnknownNode)
	}
	ctx, cancel := context.WithTimeout(ctx, catchUpFor)
	defer cancel()
	for wait := lookEvery; ; wait = min(2*wait, time.Second) {
		var s standing
		err := c.briefly(ctx, func(ctx context.Context) (err error) {
			s, err = c.admin.standing(ctx, on, tenant)
			return err
		})
		if err == nil && !s.lacks() {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return cmp.Or(err, fmt.Errorf("node %s: %w", node, ErrIncomplete))
		}
	}
}

// leave has a replica counted on no more, and removes it. That it is to be cleared away is
// recorded first.
func (f *following) leave(ctx context.Context, node string) error {
	left := Stray{Tenant: f.tenant, Node: node}
	if err := f.record(node, "", left); err != nil {
		return err
	}
	if on, ok := f.directory.Node(node); ok && f.remove(ctx, on) {
		return f.directory.dropStray(left)
	}
	f.kick()
	return nil
}
