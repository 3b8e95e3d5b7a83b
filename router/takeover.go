package router

import (
	"errors"
	"fmt"
)

// takeOver records that a tenant's copy on the node to was promoted, and that the tenant
// is there from now on. The copy on the node it was on is left there, should that be back,
// and so is the one on that node's standby, if it is another one; what an unfinished move
// has made elsewhere is a stray.
func (d *Directory) takeOver(tenant, from string, to Node) error {
	a := &amendment{tenant: tenant}
	a.change = func(p *place) error {
		on, err := d.slotOf(to)
		if err != nil {
			return fmt.Errorf("node %s: %w", to.Name, err)
		}
		before := p.on
		if before.name() != from {
			return errElsewhere
		}
		if m := p.move; m != nil && m.Seq > 0 && m.To != to.Name {
			a.strays = append(a.strays, Stray{tenant, m.To, m.Seq})
		}
		if standby, ok := d.standby(before); ok && standby != on {
			p.setSpare(standby, spareLeft)
		}
		d.goTo(p, on)
		if p.spareOn(from) == "" {
			p.setSpare(before, spareLeft)
		}
		return nil
	}
	return d.amendTogether(a)
}

// loseReplicas records that the replicas on a node do not follow any more, and returns the
// tenants that have no other, in no order.
func (d *Directory) loseReplicas(node string) (unreplicated []string, err error) {
	var list []*amendment
	d.tenants.each(func(name string, p *place) {
		if p.spareOn(node) == spareFollows {
			list = append(list, &amendment{tenant: name})
		}
	})
	if len(list) == 0 {
		return nil, nil
	}
	for _, a := range list {
		a.change = func(p *place) error {
			on, ok := d.nodes.get(node)
			if !ok || p.spareOn(node) != spareFollows {
				return errElsewhere
			}
			p.setSpare(on, spareLeft)
			if len(p.sparesThat(spareFollows)) == 0 {
				unreplicated = append(unreplicated, a.tenant)
			}
			return nil
		}
	}
	if err := d.amend(list...); err != nil && !errors.Is(err, errElsewhere) && !errors.Is(err, ErrUnknownTenant) {
		return nil, err
	}
	return unreplicated, nil
}
