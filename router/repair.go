package router

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
)

// Repaired is what has become of giving tenants replicas that lack one.
type Repaired struct {
	Replicated []Replicated `json:"replicated"` // by tenant
	Failed     []Unmoved    `json:"failed"`     // by tenant
}

// Replicated is a tenant that has got a replica.
type Replicated struct {
	Tenant  string `json:"tenant"`
	Replica string `json:"replica"`
}

// Repair gives each tenant a replica that has none and whose node has no standby: on a
// node that has a copy of it, if there is one, such as a node that is back after it was
// failed over, and else on another. Before that, copies that are recorded and that their
// nodes have not got any more are made anew, and those that do not follow the tenant's node
// are told to. A tenant that moves is left alone. One whose
// own node does not answer, or has no file of it, fails, as nothing could follow.
func (rt *Router) Repair(ctx context.Context) Repaired {
	p := rt.newReparation(ctx, "")
	p.repair(ctx)
	for name, why := range p.lost {
		p.done.Failed = append(p.done.Failed, Unmoved{name, why})
	}
	return p.sorted()
}

// repairReturned is Repair for copies on one node that is back, of tenants that it has, or
// is to have, copies of.
func (rt *Router) repairReturned(ctx context.Context, node string) Repaired {
	p := rt.newReparation(ctx, node)
	p.repair(ctx)
	p.tellLost()
	return p.sorted()
}

func (p *reparation) repair(ctx context.Context) {
	p.regain(ctx)
	p.turnBack(ctx)
	p.runAll(ctx, p.plan(p.directory.unreplicated()), p.one)
}

func (p *reparation) sorted() Repaired {
	slices.SortFunc(p.done.Replicated, func(a, b Replicated) int { return cmp.Compare(a.Tenant, b.Tenant) })
	slices.SortFunc(p.done.Failed, func(a, b Unmoved) int { return cmp.Compare(a.Tenant, b.Tenant) })
	return p.done
}

// unreplicated returns the tenants at rest that have no replica and whose node has no
// standby, by name.
func (d *Directory) unreplicated() (names []string) {
	d.tenants.each(func(name string, p *place) {
		if d.lacksReplica(p) {
			names = append(names, name)
		}
	})
	slices.Sort(names)
	return names
}

func (d *Directory) lacksReplica(p *place) bool {
	_, paired := d.standby(p.on)
	return !paired && p.isRest() && len(p.sparesThat(spareFollows)) == 0
}

// holder is what a node has said of the tenants that it has copies of.
type holder struct {
	tenants map[string]bool
	err     error // why it has said nothing
}

// holders asks all nodes which tenants they have.
func (rt *Router) holders(ctx context.Context) map[string]holder {
	holds := map[string]holder{}
	ctx, cancel := context.WithTimeout(ctx, min(chooseTimeout, rt.opts.UpstreamTimeout))
	defer cancel()
	for _, said := range ask(rt.directory.Nodes(), func(n Node) ([]string, error) { return rt.admin.held(ctx, n) }) {
		h := holder{map[string]bool{}, said.err}
		for _, name := range said.value {
			h.tenants[name] = true
		}
		holds[said.node.Name] = h
	}
	return holds
}

// reparation is a repair under way.
type reparation struct {
	*copier
	only  string // the node that copies are repaired on, "" for all
	holds map[string]holder

	mu   sync.Mutex // guards the fields below
	done Repaired
	lost map[string]string // why a tenant is not where it is placed, by name
}

func (rt *Router) newReparation(ctx context.Context, only string) *reparation {
	return &reparation{
		copier: rt.copier, only: only, holds: rt.holders(ctx),
		done: Repaired{[]Replicated{}, []Unmoved{}}, lost: map[string]string{},
	}
}

// remedy does something about a tenant's copy on a node, and reports whether there was
// anything to be done.
type remedy func(ctx context.Context, tenant, node string) (done bool, err error)

// plan chooses the nodes of the replicas, and returns the tenants of each.
func (p *reparation) plan(tenants []string) map[string][]string {
	s := p.directory.newSpread()
	plan := map[string][]string{}
	for _, name := range tenants {
		at, ok := p.directory.Tenant(name)
		if !ok {
			continue
		}
		node, err := p.choose(s, at)
		switch {
		case err != nil:
			p.done.Failed = append(p.done.Failed, Unmoved{name, err.Error()})
		case node != "":
			s.note(at.Node, node)
			plan[node] = append(plan[node], name)
		}
	}
	return plan
}

// choose returns the node for a tenant's replica, "" if it is not to have one now.
func (p *reparation) choose(s *spread, t Tenant) (node string, err error) {
	has := func(node string) bool { return p.holds[node].tenants[t.Name] }
	if _, lost := p.lost[t.Name]; lost || p.only != "" && (p.only == t.Node || !has(p.only)) {
		return "", nil
	}
	if err := p.holds[t.Node].err; err != nil {
		return "", err
	}
	clean := func(node string) bool {
		return (p.only == "" || node == p.only) && !p.directory.isStray(Stray{Tenant: t.Name, Node: node})
	}
	answers := func(node string) bool { return clean(node) && p.holds[node].err == nil }
	if node, ok := s.choose(t.Node, answers, has); ok {
		return node, nil
	}
	if node, ok := s.choose(t.Node, clean, has); ok {
		return "", p.holds[node].err
	}
	return "", ErrNoOtherNode
}

// run does something for tenants and one node.
func (p *reparation) run(ctx context.Context, node string, tenants []string, do remedy) {
	quiet := p.newSilences()
	inParallel(copyWorkers, tenants, func(name string) {
		repaired := false
		err := quiet.ask(ctx, node, func() (err error) {
			repaired, err = do(ctx, name, node)
			return err
		})
		p.mu.Lock()
		defer p.mu.Unlock()
		if err != nil {
			p.done.Failed = append(p.done.Failed, Unmoved{name, err.Error()})
		} else if repaired {
			p.done.Replicated = append(p.done.Replicated, Replicated{name, node})
		}
	})
}

// one places the replica of one tenant on a node, unless it has one by now.
func (p *reparation) one(ctx context.Context, name, node string) (repaired bool, err error) {
	release, err := p.directory.Claim(name)
	if err != nil {
		return false, err
	}
	defer release()
	at, ok := p.directory.find([]byte(name))
	if !ok || !p.directory.lacksReplica(at) {
		return false, nil
	}
	f := p.newFollowing(name, at)
	if err := f.look(ctx); err != nil {
		return false, err
	}
	if err := f.wantOnly(node); err != nil {
		return false, err
	}
	return true, f.replica(ctx, node, false)
}

// wantOnly records that the copy on a node is to follow, and no other is any more.
func (f *following) wantOnly(node string) error {
	return f.directory.amendTogether(&amendment{tenant: f.tenant, change: func(p *place) error {
		on, ok := f.directory.nodes.get(node)
		if !ok {
			return ErrUnknownNode
		}
		for _, s := range p.spares {
			if s.state == spareWanted {
				p.setSpare(s.on, spareLeft)
			}
		}
		p.setSpare(on, spareWanted)
		return nil
	}})
}

// postReplicas answers POST /_shard/replicas.
func (rt *Router) postReplicas(ctx context.Context) (answer, error) {
	done := rt.Repair(ctx)
	if len(done.Failed) > 0 {
		return answer{http.StatusBadGateway, done}, nil
	}
	return answer{http.StatusOK, done}, nil
}
