package router

import (
	"cmp"
	"slices"
)

// spareState says how a node's copy of a tenant stands that is placed elsewhere.
type spareState string

const (
	// spareFollows is a replica: its node was told to follow the tenant's, and does.
	spareFollows spareState = "follows"
	// spareWanted is a copy that is to follow and may not do so yet: it may not be
	// there at all, or follow a node on which the tenant no longer is.
	spareWanted spareState = "wanted"
	// spareLeft is a copy that the tenant was served from, or that followed, until its
	// node was lost or its pair ended. Nobody counts on it. It is kept as there is
	// little to send should it be made to follow, and cleared away with its tenant.
	spareLeft spareState = "left"
)

// spare is a copy of a tenant on a node that it is not placed on.
//
// The copies on the standby of a tenant's node have no spare once they follow: those of
// a pair are taken to follow unless there is one that says otherwise.
type spare struct {
	on    *slot
	state spareState
}

// spareOn returns how the copy on a node stands, "" if none is recorded.
func (p *place) spareOn(node string) spareState {
	for _, s := range p.spares {
		if s.on.name() == node {
			return s.state
		}
	}
	return ""
}

// setSpare sets how the copy on a node stands, "" to forget it. The spares of the place
// that this one was made of stay as they are.
func (p *place) setSpare(on *slot, state spareState) {
	next := slices.DeleteFunc(slices.Clone(p.spares), func(s spare) bool { return s.on == on })
	if state != "" {
		next = append(next, spare{on, state})
		slices.SortFunc(next, func(a, b spare) int { return cmp.Compare(a.on.name(), b.on.name()) })
	}
	p.spares = next
}

// sparesThat returns the nodes whose copies stand like that, by name.
func (p *place) sparesThat(state spareState) (nodes []string) {
	for _, s := range p.spares {
		if s.state == state {
			nodes = append(nodes, s.on.name())
		}
	}
	return nodes
}

// counts reports whether a node has, or is to have, a copy that somebody counts on.
func (p *place) counts(node string) bool {
	state := p.spareOn(node)
	return p.on.name() == node || state == spareFollows || state == spareWanted
}

// turn makes a place's spares those of a tenant that has come to another node: what
// followed the one it has come from is yet to follow this one. It reports whether there
// is any.
func (p *place) turn() (turned bool) {
	for _, s := range p.spares {
		if s.state == spareFollows {
			p.setSpare(s.on, spareWanted)
			turned = true
		}
	}
	return turned
}

// sameRecord reports whether two places differ in nothing that the file keeps, spares
// aside.
func (p *place) sameRecord(other *place) bool {
	return p.on == other.on && p.state == other.state && p.status == other.status &&
		p.epoch == other.epoch && p.move == other.move && p.noticed == other.noticed
}
