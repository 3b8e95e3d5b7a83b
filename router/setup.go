package router

import (
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// placeAs is Place with a status and a quota, which are recorded in the same block, and
// so is that the node's standby is to have a copy.
func (d *Directory) placeAs(name string, n Node, status tenant.Status, limits quota.Limits) error {
	next := &place{state: StateActive, status: status}
	check := func() (err error) {
		if !ValidName(name) {
			return ErrName
		}
		if next.on, err = d.slotOf(n); err != nil {
			return err
		}
		if _, ok := d.tenants.get(name); ok {
			return ErrTenantExists
		}
		if standby, ok := d.standby(next.on); ok {
			next.setSpare(standby, spareWanted)
		}
		return nil
	}
	keep := func(r rows) error {
		before, err := r.epoch(name)
		if err != nil {
			return err
		}
		next.epoch = before + 1
		if err := r.arrive(name, next); err != nil {
			return err
		}
		if err := r.putSpares(name, &place{}, next); err != nil {
			return err
		}
		return r.putQuota(name, limits)
	}
	return d.write(check, keep, func() {
		d.settle(name, next)
		d.changeStrays(Stray{Tenant: name, Node: n.Name}.is)
		if limits != (quota.Limits{}) {
			d.quotas.put(name, limits)
		}
	})
}

// expect records that a node is asked to make a tenant's file, which is to be cleared
// away unless the tenant is placed there.
func (d *Directory) expect(coming Stray) error {
	check := func() error {
		if _, ok := d.nodes.get(coming.Node); !ok {
			return ErrUnknownNode
		}
		return nil
	}
	return d.write(check, func(r rows) error { return r.putStray(coming) }, func() { d.changeStrays(coming.is, coming) })
}

// abandon records that a tenant that was being created on a node never came to be, and
// that a copy of it is to be cleared away there.
func (d *Directory) abandon(left Stray) error { return d.abandonAll(left.Tenant, []Stray{left}) }

// abandonAll forgets a tenant, of which there are copies that are to be cleared away.
func (d *Directory) abandonAll(tenant string, left []Stray) error {
	keep := func(r rows) error {
		if err := r.deleteTenant(tenant); err != nil {
			return err
		}
		for _, s := range left {
			if err := r.putStray(s); err != nil {
				return err
			}
		}
		return nil
	}
	return d.write(func() error { return nil }, keep, func() {
		d.settle(tenant, nil)
		d.quotas.take(tenant)
		d.changeStrays(func(Stray) bool { return false }, left...)
	})
}

// copies returns the copies that a tenant has, or may have, on other nodes than its own.
func (d *Directory) copies(tenant string) (list []Stray) {
	p, ok := d.tenants.get(tenant)
	if !ok {
		return nil
	}
	if p.move != nil {
		list = append(list, Stray{tenant, p.move.To, p.move.Seq})
	}
	for _, s := range p.spares {
		list = append(list, Stray{Tenant: tenant, Node: s.on.name()})
	}
	if standby, ok := d.standby(p.on); ok && p.spareOn(standby.name()) == "" {
		list = append(list, Stray{Tenant: tenant, Node: standby.name()})
	}
	return list
}

// keepCleared keeps that a tenant's quota was cleared and its node has yet to be told.
// SetQuota with no limits forgets that.
func (d *Directory) keepCleared(name string) error {
	keep := func(r rows) error { return r.upsert("quotas", "tenant", "quota: $2", name, "{}") }
	return d.write(func() error { return d.known(name) }, keep, func() { d.quotas.put(name, quota.Limits{}) })
}

// limited returns the tenants that have a quota, or whose node has yet to be told that
// they have none, in no order.
func (d *Directory) limited() (names []string) {
	d.quotas.each(func(name string, _ quota.Limits) { names = append(names, name) })
	return names
}
