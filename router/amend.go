package router

import (
	"cmp"
	"slices"
	"sync"
)

// amendment is a change of what is recorded of one tenant's place.
type amendment struct {
	tenant string
	// change changes a copy of the place, or says why there is nothing to be changed. It
	// may add to strays.
	change func(p *place) error
	// strays are recorded with the change.
	strays []Stray

	before, next *place
	cleared      []Stray // those that are none any more
	err          error   // why it was not made
}

// amend makes changes as one block, each of another tenant. One that is refused leaves
// the others alone; amend returns the first reason.
func (d *Directory) amend(list ...*amendment) error {
	refused := func() error {
		for _, a := range list {
			a.prepare(d)
		}
		if slices.ContainsFunc(list, func(a *amendment) bool { return a.err == nil }) {
			return nil
		}
		return list[0].err
	}
	whole := false
	defer func() {
		for _, a := range list {
			if !whole && a.err == nil {
				a.err = ErrDirectory // somebody else may wait for it
			}
		}
	}()
	err := d.write(refused, func(r rows) error { return r.amendAll(list) }, func() { d.amended(list) })
	whole = true
	first := err
	for _, a := range list {
		a.err = cmp.Or(a.err, err)
		first = cmp.Or(first, a.err)
	}
	return first
}

// amendOn changes the places of the tenants on a node in the block of another change,
// which check allows, keep writes and apply brings the memory up to. change reports
// whether it has changed anything.
func (d *Directory) amendOn(node string, change func(*place) bool, check func() error, keep func(rows) error, apply func()) error {
	var list []*amendment
	prepared := func() error {
		if err := check(); err != nil {
			return err
		}
		d.tenants.each(func(name string, p *place) {
			if next := p.with(func(*place) {}); p.on.name() == node && change(next) {
				list = append(list, &amendment{tenant: name, before: p, next: next})
			}
		})
		for _, a := range list {
			a.clear(d)
		}
		return nil
	}
	both := func(r rows) error { return cmp.Or(keep(r), r.amendAll(list)) }
	return d.write(prepared, both, func() {
		apply()
		d.amended(list)
	})
}

// prepare works out the change.
func (a *amendment) prepare(d *Directory) {
	p, ok := d.tenants.get(a.tenant)
	if !ok {
		a.err = ErrUnknownTenant
		return
	}
	a.before, a.next = p, p.with(func(*place) {})
	if a.err = a.change(a.next); a.err == nil {
		a.clear(d)
	}
}

// clear works out which copies are no strays any more, as they are counted on.
func (a *amendment) clear(d *Directory) {
	for _, s := range *d.strays.Load() {
		if s.Tenant == a.tenant && a.next.counts(s.Node) && !a.before.counts(s.Node) {
			a.cleared = append(a.cleared, s)
		}
	}
}

// amended brings the memory up to changes.
func (d *Directory) amended(list []*amendment) {
	var more []Stray
	cleared := map[Stray]bool{}
	for _, a := range list {
		if a.err != nil {
			continue
		}
		d.settle(a.tenant, a.next)
		more = append(more, a.strays...)
		for _, s := range a.cleared {
			cleared[s] = true
		}
	}
	if len(more)+len(cleared) > 0 {
		d.changeStrays(func(s Stray) bool { return cleared[s] }, more...)
	}
}

// amend keeps a change.
func (r rows) amend(a *amendment) error {
	if !a.next.sameRecord(a.before) {
		if err := r.putTenant(a.next.tenant(a.tenant)); err != nil {
			return err
		}
	}
	if err := r.putSpares(a.tenant, a.before, a.next); err != nil {
		return err
	}
	for _, s := range a.cleared {
		if err := r.deleteStray(s); err != nil {
			return err
		}
	}
	for _, s := range a.strays {
		if err := r.putStray(s); err != nil {
			return err
		}
	}
	return nil
}

// amendAll keeps all changes that are not refused.
func (r rows) amendAll(list []*amendment) error {
	for _, a := range list {
		if a.err != nil {
			continue
		}
		if err := r.amend(a); err != nil {
			return err
		}
	}
	return nil
}

// mostAmended is how many changes go into one block.
const mostAmended = 128

// amendments are changes that go into one block with others.
type amendments struct {
	writing sync.Mutex // held by whoever writes a block
	mu      sync.Mutex // guards waiting
	waiting []*waitingAmendment
}

type waitingAmendment struct {
	*amendment
	written bool // guarded by amendments.writing
}

// amendTogether makes a change in one block with those of other tenants that are asked
// for while a block is being written: one flush does for many. No two at once may be of
// the same tenant, which whoever claims it sees to.
func (d *Directory) amendTogether(a *amendment) error {
	g := &d.amendments
	w := &waitingAmendment{amendment: a}
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	g.writing.Lock()
	defer g.writing.Unlock()
	for !w.written {
		d.amendBatch(g.next())
	}
	return a.err
}

// next takes those that have waited longest.
func (g *amendments) next() []*waitingAmendment {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), mostAmended)
	batch := slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	return batch
}

func (d *Directory) amendBatch(batch []*waitingAmendment) {
	list := make([]*amendment, len(batch))
	for i, w := range batch {
		list[i], w.written = w.amendment, true
	}
	d.amend(list...)
}
