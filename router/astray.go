package router

import (
	"context"
	"fmt"
)

// A copy that is recorded as one which follows may not do so: somebody has promoted it on
// its node, or has told it to follow elsewhere, or its node was started as the standby of
// another. Nodes tell in one list which of their copies follow, and whom; those that are
// none of it are asked for once more with their tenants claimed.

// turnBack has copies follow the nodes of their tenants that do not.
func (p *reparation) turnBack(ctx context.Context) {
	follow := p.followings(ctx)
	astray := map[string][]string{} // tenants by node
	p.directory.tenants.each(func(name string, at *place) {
		if !at.isRest() {
			return
		}
		for _, node := range p.directory.copiesOf(at) {
			f, told := follow[node]
			if told && p.holds[node].tenants[name] && !p.directory.isFollowing(at, node, f[name].Follows) {
				astray[node] = append(astray[node], name)
			}
		}
	})
	p.runAll(ctx, astray, p.follow)
}

// followings asks the nodes that are looked at which of their copies follow. One that does
// not tell is not in it.
func (p *reparation) followings(ctx context.Context) map[string]map[string]followState {
	ctx, cancel := context.WithTimeout(ctx, min(chooseTimeout, p.within))
	defer cancel()
	var nodes []Node
	for _, n := range p.directory.Nodes() {
		if p.only == "" || p.only == n.Name {
			nodes = append(nodes, n)
		}
	}
	told := map[string]map[string]followState{}
	for _, said := range ask(nodes, func(n Node) (map[string]followState, error) { return p.admin.following(ctx, n) }) {
		if said.err == nil && said.value != nil {
			told[said.node.Name] = said.value
		}
	}
	return told
}

// isFollowing reports whether a copy on a node follows as it is to, which follows the node
// at that URL, "" for nobody. Whom a standby follows was said to itself alone.
func (d *Directory) isFollowing(at *place, node, from string) bool {
	if from == "" || d.isPairsCopy(at, node) {
		return from != ""
	}
	return from == "http://"+at.on.node.Load().Addr
}

// isPairsCopy reports whether a copy is the one on the standby of its tenant's node.
func (d *Directory) isPairsCopy(at *place, node string) bool {
	standby, paired := d.standby(at.on)
	return paired && standby.name() == node && at.spareOn(node) == ""
}

// follow has a copy follow its tenant's node again, and reports whether it did not.
func (p *reparation) follow(ctx context.Context, name, node string) (turned bool, err error) {
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
	pair := p.directory.isPairsCopy(at, node)
	if !pair && at.spareOn(node) != spareFollows {
		return false, nil
	}
	f := p.newFollowing(name, at)
	var stands standing
	err = f.briefly(ctx, func(ctx context.Context) (err error) {
		stands, err = f.admin.standing(ctx, on, name)
		return err
	})
	if err != nil {
		return false, gone(err)
	}
	if stands.Role == roleReplica && p.directory.isFollowing(at, node, stands.Follows) {
		return false, nil
	}
	if err := f.look(ctx); err != nil {
		return false, err
	}
	p.logf("tenant %s: its copy on node %s %s: it is told to follow node %s again", name, node, stands.astray(), f.primary.Name)
	if err := f.record(node, spareWanted); err != nil {
		return false, err
	}
	if pair {
		return true, f.stand(ctx, node)
	}
	return true, f.replica(ctx, node, false)
}

// astray says what a copy is in place of one that follows its tenant's node.
func (s standing) astray() string {
	if s.Role == roleReplica {
		return fmt.Sprintf("follows %q", s.Follows)
	}
	return fmt.Sprintf("is no replica, but %s, at change %d", s.Role, s.Last)
}
