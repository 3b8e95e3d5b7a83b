package router

import (
	"cmp"
	"slices"
)

// spread chooses the nodes of replicas, so that those of one node's tenants are spread
// over all others, and each of these takes over a share of them.
type spread struct {
	free  []string          // nodes that take replicas, by name
	held  map[string]int    // tenants and replicas, by node
	parts map[[2]string]int // replicas of the first node's tenants on the second
}

// newSpread returns the spread of what the directory has. Nodes of pairs, dedicated ones
// and those that are being drained take no replicas.
func (d *Directory) newSpread() *spread {
	s := &spread{held: map[string]int{}, parts: map[[2]string]int{}}
	for _, n := range d.Nodes() {
		if !d.isPaired(n.Name) && d.Attrs(n.Name).shares() {
			s.free = append(s.free, n.Name)
		}
	}
	d.tenants.each(func(_ string, p *place) {
		s.held[p.on.name()]++
		for _, c := range p.spares {
			if c.state != spareLeft {
				s.note(p.on.name(), c.on.name())
			}
		}
	})
	return s
}

// note counts a replica of a tenant that is on the node primary.
func (s *spread) note(primary, node string) {
	s.held[node]++
	s.parts[[2]string{primary, node}]++
}

// choose returns the node for a replica of a tenant that is on the node primary, among
// those that may take it: the first that prefer are, of these the one with the fewest
// replicas of that node's tenants, of these the one that holds the fewest tenants and
// replicas, and of these the first by name.
func (s *spread) choose(primary string, may, prefer func(node string) bool) (string, bool) {
	among := slices.DeleteFunc(slices.Clone(s.free), func(n string) bool { return n == primary || !may(n) })
	if len(among) == 0 {
		return "", false
	}
	rank := func(n string) int {
		if prefer(n) {
			return 0
		}
		return 1
	}
	return slices.MinFunc(among, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(rank(a), rank(b)),
			cmp.Compare(s.parts[[2]string{primary, a}], s.parts[[2]string{primary, b}]),
			cmp.Compare(s.held[a], s.held[b]),
			cmp.Compare(a, b),
		)
	}), true
}

// replicated returns how many replicas each node has.
func (d *Directory) replicated() map[string]int {
	on := map[string]int{}
	d.tenants.each(func(_ string, p *place) {
		for _, node := range p.sparesThat(spareFollows) {
			on[node]++
		}
	})
	return on
}
