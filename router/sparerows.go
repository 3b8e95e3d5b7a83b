package router

import "slices"

// keptSpare is a spare as the file keeps it: replicas in a collection that they share
// with no others, which is the one that all routers know.
type keptSpare struct {
	Tenant, Node string
	State        spareState
}

// putSpares keeps the spares of a tenant that have changed.
func (r rows) putSpares(tenant string, before, next *place) error {
	for _, s := range before.spares {
		if node := s.on.name(); next.spareOn(node) != s.state {
			if err := r.deleteSpare(tenant, node); err != nil {
				return err
			}
		}
	}
	for _, s := range next.spares {
		if node := s.on.name(); before.spareOn(node) != s.state {
			if err := r.putSpare(keptSpare{tenant, node, s.state}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r rows) deleteSpare(tenant, node string) error {
	for _, collection := range []string{"replicas", "spares"} {
		if _, err := r.exec("del "+collection+" where tenant = $1 and node = $2", tenant, node); err != nil {
			return err
		}
	}
	return nil
}

func (r rows) putSpare(s keptSpare) error {
	if s.State == spareFollows {
		_, err := r.exec("put replicas {tenant: $1, node: $2}", s.Tenant, s.Node)
		return err
	}
	_, err := r.exec("put spares {tenant: $1, node: $2, state: $3}", s.Tenant, s.Node, string(s.State))
	return err
}

func (s *fileStore) loadSpares(c *contents, only string) (err error) {
	if c.spares, err = collect[keptSpare](s.db, "get tenant, node, state from spares", "tenant", only); err != nil {
		return err
	}
	replicas, err := collect[struct{ Tenant, Node string }](s.db, "get tenant, node from replicas", "tenant", only)
	for _, r := range replicas {
		c.spares = append(c.spares, keptSpare{r.Tenant, r.Node, spareFollows})
	}
	return err
}

// loadSpares takes over what the file keeps. What is of a tenant or a node that is not
// known is left where it is: it says nothing.
func (d *Directory) loadSpares(kept []keptSpare) {
	for _, k := range kept {
		p, placed := d.tenants.get(k.Tenant)
		on, known := d.nodes.get(k.Node)
		if placed && known && on != p.on {
			d.tenants.put(k.Tenant, p.with(func(p *place) { p.setSpare(on, k.State) }))
		}
	}
}

// endSpares forgets the spares on a node.
func (d *Directory) endSpares(node string) {
	changed := map[string]*place{}
	d.tenants.each(func(name string, p *place) {
		if i := slices.IndexFunc(p.spares, func(s spare) bool { return s.on.name() == node }); i >= 0 {
			changed[name] = p.with(func(p *place) { p.setSpare(p.spares[i].on, "") })
		}
	})
	for name, p := range changed {
		d.tenants.put(name, p)
	}
}
