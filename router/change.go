package router

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/fenec-go/fenecdb/internal/secret"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// write makes one change: check says whether it may be made, keep writes it as one
// block, and once that is on disk apply brings the memory up to it. The three see no
// other change in between.
func (d *Directory) write(check func() error, keep func(rows) error, apply func()) error {
	d.change.Lock()
	defer d.change.Unlock()
	if d.closed {
		return ErrClosed
	}
	if err := d.halted.reason(); err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	err := d.store.write(keep)
	d.trouble.note(err)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDirectory, err)
	}
	apply()
	return nil
}

// PutNode records a node, or its new address and token. Requests for the tenants
// on it go to the new address from then on.
func (d *Directory) PutNode(n Node) error {
	check := func() error {
		switch {
		case !ValidName(n.Name):
			return ErrName
		case !validAddr(n.Addr) || !validToken(secret.Reveal(n.Token)):
			return ErrNode
		}
		return nil
	}
	// Replicas follow the address that they were told.
	turn := func(p *place) bool { return p.on.node.Load().Addr != n.Addr && p.turn() }
	return d.amendOn(n.Name, turn, check, func(r rows) error { return r.putNode(n) }, func() {
		d.setNode(n)
		d.watcher.nodeKnown(n.Name)
	})
}

func (d *Directory) setNode(n Node) {
	d.nodes.getOrPut(n.Name, func() *slot { s := new(slot); s.node.Store(&n); return s }).node.Store(&n)
}

// SetAttrs records the attributes of a node. It returns ErrUnknownNode or ErrAttrs.
func (d *Directory) SetAttrs(node string, a Attrs) error {
	if a.Role == "" {
		a.Role = RoleShared
	}
	check := func() error {
		if _, ok := d.nodes.get(node); !ok {
			return ErrUnknownNode
		}
		return a.validate()
	}
	return d.write(check, func(r rows) error { return r.putAttrs(node, a) }, func() { d.setAttrs(node, a) })
}

func (d *Directory) setAttrs(node string, a Attrs) {
	if s, ok := d.nodes.get(node); ok {
		s.attrs.Store(&a)
	}
}

// DeleteNode forgets a node, its attributes, its pairs, and the copies on it that tenants
// have elsewhere. It returns
// ErrUnknownNode, or ErrNodeInUse while a tenant is placed on it or moves there.
func (d *Directory) DeleteNode(name string) error {
	check := func() error {
		s, ok := d.nodes.get(name)
		switch {
		case !ok:
			return ErrUnknownNode
		case s.tenants.Load() > 0 || d.isTarget(name):
			return ErrNodeInUse
		}
		return nil
	}
	return d.write(check, func(r rows) error { return r.deleteNode(name) }, func() {
		d.endPairs(name)
		d.endSpares(name)
		d.nodes.take(name)
		d.watcher.nodeGone(name)
		d.changeStrays(func(x Stray) bool { return x.Node == name })
	})
}

// isTarget reports whether a tenant moves to the node.
func (d *Directory) isTarget(node string) (found bool) {
	d.tenants.each(func(_ string, p *place) { found = found || p.move != nil && p.move.To == node })
	return found
}

// Place records that the tenant is on the node, as which it is created there. It
// returns ErrTenantExists if the tenant has a place, and ErrUnknownNode or
// ErrNodeChanged if the node is no longer the one that n says.
func (d *Directory) Place(name string, n Node) error {
	return d.placeAs(name, n, tenant.Active, quota.Limits{})
}

// slotOf returns the slot of the node that n says.
func (d *Directory) slotOf(n Node) (*slot, error) {
	on, ok := d.nodes.get(n.Name)
	switch {
	case !ok:
		return nil, ErrUnknownNode
	case on.node.Load().Addr != n.Addr:
		return nil, ErrNodeChanged
	}
	return on, nil
}

// arrive keeps a tenant's new place, where its file is no stray any more.
func (r rows) arrive(tenant string, p *place) error {
	if err := r.deleteStray(Stray{Tenant: tenant, Node: p.on.name()}); err != nil {
		return err
	}
	return r.putTenant(p.tenant(tenant))
}

// Forget removes the tenant's place and its quota. It returns ErrUnknownTenant if it
// has none.
func (d *Directory) Forget(tenant string) error {
	return d.write(func() error { return d.known(tenant) }, func(r rows) error { return r.deleteTenant(tenant) }, func() {
		d.settle(tenant, nil)
		d.quotas.take(tenant)
	})
}

func (d *Directory) known(tenant string) error {
	if _, ok := d.tenants.get(tenant); !ok {
		return ErrUnknownTenant
	}
	return nil
}

// SetStatus records whether a tenant is to be served.
func (d *Directory) SetStatus(name string, status tenant.Status) error {
	return d.update(name, func(p *place) { p.status, p.noticed = status, false }, nil)
}

// notice records that a tenant was found degraded, or healthy after that. It returns
// errDecided, and changes nothing, where somebody has said what its status is.
func (d *Directory) notice(name string, ill bool) error {
	from, to := tenant.Degraded, tenant.Active
	if ill {
		from, to = to, from
	}
	may := func(p *place) error {
		if p.status != from || p.noticed == ill {
			return errDecided
		}
		return nil
	}
	return d.updateIf(name, may, func(p *place) { p.status, p.noticed = to, ill }, nil)
}

var errDecided = errors.New("somebody has said what its status is")

// SetQuota records a tenant's limits, none to clear them.
func (d *Directory) SetQuota(name string, limits quota.Limits) error {
	keep := func(r rows) error { return r.putQuota(name, limits) }
	return d.write(func() error { return d.known(name) }, keep, func() {
		if limits == (quota.Limits{}) {
			d.quotas.take(name)
		} else {
			d.quotas.put(name, limits)
		}
	})
}

// beginMove records that a move to the node has begun. A copy that the node has is a
// stray then: it makes room for the move's.
func (d *Directory) beginMove(tenant, to string) error {
	a := &amendment{tenant: tenant}
	a.change = func(p *place) error {
		p.state, p.move = StateMoving, &Move{To: to}
		if has := p.spareOn(to); has != "" {
			on, _ := d.nodes.get(to)
			p.setSpare(on, "")
			p.move.Replica = has != spareLeft
			a.strays = append(a.strays, Stray{Tenant: tenant, Node: to})
		}
		return nil
	}
	return d.amend(a)
}

// frozenAt records the sequence at which the source of a move was frozen.
func (d *Directory) frozenAt(tenant string, seq uint64) error {
	return d.update(tenant, func(p *place) { p.move = &Move{p.move.To, seq, p.move.Replica} }, nil)
}

// endMove records that the move has ended where it began. What it has left on its
// target, if anything, is a stray. A replica that has made room is wanted again.
func (d *Directory) endMove(tenant string, left *Stray) error {
	return d.update(tenant, func(p *place) {
		if p.move != nil && p.move.Replica {
			if on, ok := d.nodes.get(p.move.To); ok {
				p.setSpare(on, spareWanted)
			}
		}
		p.state, p.move = StateActive, nil
	}, left)
}

// update changes a tenant's place in a way that moves it nowhere, and with it records
// a stray, if any.
func (d *Directory) update(name string, change func(*place), left *Stray) error {
	return d.updateIf(name, func(*place) error { return nil }, change, left)
}

// updateIf is update where may finds no reason against it.
func (d *Directory) updateIf(name string, may func(*place) error, change func(*place), left *Stray) error {
	a := &amendment{tenant: name}
	if left != nil {
		a.strays = []Stray{*left}
	}
	a.change = func(p *place) error {
		if err := may(p); err != nil {
			return err
		}
		change(p)
		return nil
	}
	return d.amend(a)
}

// flip records that the tenant is on the node to from now on. The copy that it has left,
// at that sequence, is a stray, and so is the one on the standby of the node it has left.
func (d *Directory) flip(tenant string, to Node, seq uint64) error {
	a := &amendment{tenant: tenant}
	a.change = func(p *place) error {
		on, err := d.slotOf(to)
		if err != nil {
			return err
		}
		from := p.on
		a.strays = []Stray{{tenant, from.name(), seq}}
		if standby, ok := d.standby(from); ok && standby != on {
			p.setSpare(standby, "")
			a.strays = append(a.strays, Stray{Tenant: tenant, Node: standby.name()})
		}
		again := p.move != nil && p.move.Replica
		d.goTo(p, on)
		if again {
			d.replaceReplica(p, tenant)
		}
		return nil
	}
	return d.amend(a)
}

// replaceReplica has a replica that has made room for the tenant itself made anew on
// another node, if there is one.
func (d *Directory) replaceReplica(p *place, tenant string) {
	may := func(node string) bool { return !p.counts(node) && !d.isStray(Stray{Tenant: tenant, Node: node}) }
	if _, paired := d.standby(p.on); paired {
		return
	}
	if node, ok := d.newSpread().choose(p.on.name(), may, func(string) bool { return false }); ok {
		on, _ := d.nodes.get(node)
		p.setSpare(on, spareWanted)
	}
}

// goTo changes a place to another node. The copies elsewhere are yet to follow that one,
// and its standby is yet to have one.
func (d *Directory) goTo(p *place, to *slot) {
	p.setSpare(to, "")
	p.turn()
	if standby, ok := d.standby(to); ok {
		p.setSpare(standby, spareWanted)
	}
	p.on, p.state, p.move, p.epoch = to, StateActive, nil, p.epoch+1
}

// dropStray forgets a copy that has been cleared away.
func (d *Directory) dropStray(s Stray) error {
	return d.write(func() error { return nil }, func(r rows) error { return r.deleteStray(s) },
		func() { d.changeStrays(s.is) })
}

// changeStrays takes those away that are gone, and adds more.
func (d *Directory) changeStrays(gone func(Stray) bool, more ...Stray) {
	next := slices.DeleteFunc(d.Strays(), gone)
	for _, s := range more {
		next = append(slices.DeleteFunc(next, s.is), s)
	}
	d.strays.Store(&next)
}

// hold makes the writes to a tenant wait until release is called. It is not recorded.
func (d *Directory) hold(tenant string) (release func()) {
	gate := make(chan struct{})
	d.mark(tenant, func(p *place) { p.gate = gate })
	return sync.OnceFunc(func() {
		d.mark(tenant, func(p *place) { p.gate, p.sealed = nil, false })
		close(gate)
	})
}

// seal has the tenant's node asked to write nothing any more, until the hold is released.
func (d *Directory) seal(tenant string) { d.mark(tenant, func(p *place) { p.sealed = p.gate != nil }) }

// mark changes what is not recorded of a tenant's place.
func (d *Directory) mark(tenant string, change func(*place)) {
	d.change.Lock()
	defer d.change.Unlock()
	if p, ok := d.tenants.get(tenant); ok {
		d.tenants.put(tenant, p.with(change))
	}
}
