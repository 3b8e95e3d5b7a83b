package replication

import (
	"slices"
	"time"
)

// simRouter is the shell that a router has around its leases.
type simRouter struct {
	machine
	s      *simulation
	leases *Leases
}

// start begins leasing, by the directory as it is or, promoted, by one that lacks
// some of the last changes and has forked.
func (r *simRouter) start(promoted bool) {
	s := r.s
	if promoted {
		back := min(len(s.older), s.rnd.Intn(4))
		if back > 0 {
			s.directory = s.older[len(s.older)-back]
			s.older = s.older[:len(s.older)-back]
		}
		l, err := s.lineage.Fork(s.rnd, uint64(len(s.older)))
		if err != nil {
			panic(err)
		}
		s.lineage = l
	}
	s.behind = promoted || s.behind && !s.opts.forgets
	r.up = true
	r.life++
	r.leases = NewLeases(r.now(), LeaseOptions{Term: simTerm, Directory: s.lineage, Behind: s.behind})
	for _, node := range s.nodeNames() {
		r.leases.Place(r.now(), node, s.placedOn(node))
	}
	r.round(r.life)
}

func (r *simRouter) now() time.Duration { return r.clock.instant().Boot }

func (r *simRouter) crash(length time.Duration, promoted bool) {
	if !r.up {
		return
	}
	r.stop()
	r.s.after(length, func() { r.start(promoted) })
}

// own has do done if it still is the same process that does it.
func (r *simRouter) own(life int, do func()) func() {
	return func() {
		if r.life == life {
			do()
		}
	}
}

func (r *simRouter) round(life int) {
	if r.leases.Settled(r.now()) {
		r.s.behind = false
	}
	r.perform(r.leases.Round(r.now()))
	r.s.after(r.leases.Interval(), func() {
		if r.life == life {
			r.arrive(r.own(life, func() { r.round(life) }))
		}
	})
}

func (r *simRouter) perform(actions []Action) {
	life := r.life
	for _, a := range actions {
		switch a := a.(type) {
		case Send:
			r.s.grant(a, func(st State, err error) {
				r.own(life, func() { r.perform(r.leases.Answered(r.now(), a, st, err)) })()
			})
		case FailOver:
			r.failOver(life, a.Node, a.Tenants)
		}
	}
}

// placed tells of a change of what is placed on the node.
func (r *simRouter) placed(node string) {
	r.leases.Place(r.now(), node, r.s.placedOn(node))
	r.perform(r.leases.Grant(r.now(), node))
}

// handOver takes all or one of the tenants from a node.
func (r *simRouter) handOver() {
	node := r.s.anyNode()
	tenants := slices.Sorted(slices.Values(r.s.placedOn(node)))
	if len(tenants) > 0 && r.s.rnd.Intn(2) == 0 {
		tenants = tenants[:1]
	}
	actions, err := r.leases.HandOver(r.now(), node, tenants, false)
	if err == nil {
		r.perform(actions)
	}
}

// failOver promotes the tenants one after the other, and passes over one whose
// promotion is not answered.
func (r *simRouter) failOver(life int, node string, tenants []string) {
	if len(tenants) == 0 {
		r.perform(r.leases.FailedOver(r.now(), node))
		return
	}
	tenant, to := tenants[0], r.s.anyNode()
	over := false
	next := r.own(life, func() {
		if !over {
			over = true
			r.failOver(life, node, tenants[1:])
		}
	})
	r.s.after(simTerm/2, func() { r.arrive(next) })
	if to == node {
		return
	}
	target := r.s.nodes[to]
	r.s.net.send(&r.machine, &target.machine, func() {
		r.s.net.send(&target.machine, &r.machine, r.own(life, func() {
			if over {
				return
			}
			r.s.place(tenant, to)
			for _, n := range []string{node, to} {
				r.leases.Place(r.now(), n, r.s.placedOn(n))
			}
			next()
		}))
	})
}
