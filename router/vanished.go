package router

import (
	"context"
	"fmt"
	"sync"

	"github.com/fenec-go/fenecdb/tenant"
)

// A node that comes back with an empty disk lacks copies that the directory counts on. Its
// list of tenants shows which: the directory is asked what should be there, and whatever is
// missing is asked for once more with its tenant claimed, as a list may be older than the
// directory by then.

// isRest reports whether a tenant is there and nothing is under way with it.
func (p *place) isRest() bool { return p.state == StateActive && p.status != tenant.Provisioning }

// copiesOf returns the nodes with copies that are taken to follow, the one on the standby
// of the tenant's node among them.
func (d *Directory) copiesOf(p *place) []string {
	nodes := p.sparesThat(spareFollows)
	if standby, ok := d.standby(p.on); ok && p.spareOn(standby.name()) == "" {
		nodes = append(nodes, standby.name())
	}
	return nodes
}

// lacks reports whether a node has said that it has no copy of a tenant, and is one of
// those that are looked at.
func (p *reparation) lacks(node, tenant string) bool {
	h, asked := p.holds[node]
	return asked && h.err == nil && !h.tenants[tenant] && (p.only == "" || p.only == node)
}

// regain has copies made anew that are not there any more, and notes the tenants that are
// not on their own nodes.
func (p *reparation) regain(ctx context.Context) {
	var own []string
	copies := map[string][]string{} // tenants by node
	p.directory.tenants.each(func(name string, at *place) {
		if !at.isRest() {
			return
		}
		if p.lacks(at.on.name(), name) {
			own = append(own, name)
			return
		}
		for _, node := range p.directory.copiesOf(at) {
			if p.lacks(node, name) {
				copies[node] = append(copies[node], name)
			}
		}
	})
	inParallel(copyWorkers, own, func(name string) { p.lookForOwn(ctx, name) })
	p.runAll(ctx, copies, p.remake)
}

// lookForOwn notes a tenant whose own node has no file of it. One that another operation
// runs on is left alone.
func (p *reparation) lookForOwn(ctx context.Context, name string) {
	release, err := p.directory.Claim(name)
	if err != nil {
		return
	}
	defer release()
	at, ok := p.directory.find([]byte(name))
	if !ok || !at.isRest() {
		return
	}
	if err := p.newFollowing(name, at).look(ctx); isGone(err) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lost[name] = fmt.Sprintf("node %s, where it is placed, has no file of it", at.on.name())
	}
}

// remake has a copy made anew that is not there any more, and reports whether it was.
func (p *reparation) remake(ctx context.Context, name, node string) (made bool, err error) {
	release, err := p.directory.Claim(name)
	if err != nil {
		return false, err
	}
	defer release()
	at, ok := p.directory.find([]byte(name))
	on, known := p.directory.Node(node)
	if !ok || !known || !at.isRest() {
		return false, nil
	}
	standby, paired := p.directory.Standby(at.on.name())
	pair := paired && standby == node && at.spareOn(node) == ""
	if !pair && at.spareOn(node) != spareFollows {
		return false, nil
	}
	f := p.newFollowing(name, at)
	err = f.briefly(ctx, func(ctx context.Context) error {
		_, err := f.admin.standing(ctx, on, name)
		return err
	})
	if !isGone(err) {
		return false, err
	}
	if err := f.look(ctx); err != nil {
		return false, err
	}
	if err := f.record(node, spareWanted); err != nil {
		return false, err
	}
	if pair {
		return true, f.stand(ctx, node)
	}
	return true, f.replica(ctx, node, false)
}

// runAll does something for the tenants of each node, with all nodes at once.
func (p *reparation) runAll(ctx context.Context, plan map[string][]string, do remedy) {
	var running sync.WaitGroup
	for node, tenants := range plan {
		running.Go(func() { p.run(ctx, node, tenants, do) })
	}
	running.Wait()
}

// restored has what a node that was started anew lacks made anew, and tells of tenants that
// are placed there and gone.
func (rt *Router) restored(ctx context.Context, node string) error {
	p := rt.newReparation(ctx, node)
	p.regain(ctx)
	p.tellLost()
	return left(p.done.Failed)
}

// tellLost tells the log of the tenants that are not on their own node.
func (p *reparation) tellLost() {
	for name, why := range p.lost {
		p.logf("tenant %s: %s; it is one of %d: fail the node over, or have them adopted by force", name, why, len(p.lost))
		return
	}
}
