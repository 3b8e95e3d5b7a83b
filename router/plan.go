package router

import (
	"cmp"
	"iter"
	"slices"
)

const (
	// maxPlan is how many moves a plan has at most. What is left is for the next one,
	// which sees what the first has come to.
	maxPlan = 1000
	// leastGap is how many bytes two nodes may differ by in any case: to move less is
	// not worth it.
	leastGap = 16 << 20
)

// Why a tenant is to be moved.
const (
	whyDraining   = "draining"
	whyMaxTenants = "max_tenants"
	whyMaxBytes   = "max_bytes"
	whyBalance    = "balance"
)

// nodeLoad is a node that answers, as a plan sees it.
type nodeLoad struct {
	name    string
	attrs   Attrs
	disk    int64 // bytes that all its files take up
	standby bool  // of another node; it takes no tenants
	placed  int   // tenants
	bytes   int64 // that the files of the tenants placed on it take up
	tenants []sizedTenant
}

// sizedTenant is a tenant at rest.
type sizedTenant struct {
	name   string
	bytes  int64
	active bool // it is served; one that is not is moved only off a node that is drained
}

// proposal is a move that a plan has.
type proposal struct {
	Tenant  string  `json:"tenant"`
	From    string  `json:"from"`
	To      string  `json:"to"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	Why     string  `json:"why"`
}

// planner works out which tenants are to be moved, first those that must go, and then
// those that even out what the shared nodes hold. It asks nobody but allows, and plans
// the same for the same nodes. A tenant is moved once at most, so it comes to an end.
type planner struct {
	nodes []*nodeLoad // by name; changed as if what is planned was done
	// allows says whether a tenant may be on a node that has room for it.
	allows   func(tenant string, to Candidate) bool
	leastGap int64
	moves    []proposal
	stuck    []proposal // those that must go and that no node takes; To is ""
}

// newPlanner returns a planner for nodes, which stay as they are.
func newPlanner(nodes []nodeLoad, allows func(string, Candidate) bool, leastGap int64) *planner {
	p := &planner{allows: allows, leastGap: leastGap}
	for _, n := range nodes {
		n.tenants = slices.SortedFunc(slices.Values(n.tenants), bySize)
		p.nodes = append(p.nodes, &n)
	}
	slices.SortFunc(p.nodes, func(a, b *nodeLoad) int { return cmp.Compare(a.name, b.name) })
	return p
}

func bySize(a, b sizedTenant) int {
	return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.name, b.name))
}

// plan plans everything.
func (p *planner) plan() {
	for _, n := range p.nodes {
		p.empty(n)
	}
	for _, n := range p.nodes {
		p.relieve(n)
	}
	p.balance()
}

// emptyNode plans only what moves off one node.
func (p *planner) emptyNode(name string) {
	for _, n := range p.nodes {
		if n.name == name {
			p.empty(n)
		}
	}
}

func (p *planner) full() bool { return len(p.moves) >= maxPlan }

// empty moves everything off a node that is drained, the largest first, as long as
// there is room for them.
func (p *planner) empty(n *nodeLoad) {
	if !n.attrs.Draining {
		return
	}
	for _, t := range slices.Backward(slices.Clone(n.tenants)) {
		if p.full() {
			return
		}
		if to := p.target(n, t); to != nil {
			p.move(t, n, to, whyDraining)
		} else {
			p.stuck = append(p.stuck, proposal{Tenant: t.name, From: n.name, Bytes: t.bytes, Why: whyDraining})
		}
	}
}

// relieve moves from a shared node what is beyond its limits: of too many tenants the
// smallest, of too many bytes the smallest tenant with which it is enough, or else the
// largest.
func (p *planner) relieve(n *nodeLoad) {
	if !n.attrs.shares() {
		return
	}
	for _, t := range slices.Clone(n.tenants) {
		if p.full() || n.attrs.MaxTenants == 0 || n.placed <= n.attrs.MaxTenants {
			break
		}
		p.moveIfActive(t, n, whyMaxTenants)
	}
	if n.attrs.MaxBytes == 0 {
		return
	}
	enough := func(t sizedTenant) bool { return t.bytes >= n.disk-n.attrs.MaxBytes }
	for n.disk > n.attrs.MaxBytes && !p.full() {
		at := slices.IndexFunc(n.tenants, enough)
		if at < 0 {
			at = len(n.tenants)
		}
		tries := slices.Concat(n.tenants[at:], reversed(n.tenants[:at]))
		if !slices.ContainsFunc(tries, func(t sizedTenant) bool { return p.moveIfActive(t, n, whyMaxBytes) }) {
			return
		}
	}
}

func reversed(list []sizedTenant) []sizedTenant {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

func (p *planner) moveIfActive(t sizedTenant, from *nodeLoad, why string) bool {
	if !t.active {
		return false
	}
	to := p.target(from, t)
	if to != nil {
		p.move(t, from, to, why)
	}
	return to != nil
}

// target returns the node with the fewest bytes that takes the tenant, the first by
// name of several, or nil.
func (p *planner) target(from *nodeLoad, t sizedTenant) (best *nodeLoad) {
	for _, n := range p.nodes {
		if n != from && (best == nil || n.bytes < best.bytes) && p.mayTake(n, t) {
			best = n
		}
	}
	return best
}

// mayTake reports whether a node has room for a tenant, after which it is within its
// limits, and the tenant may be there.
func (p *planner) mayTake(n *nodeLoad, t sizedTenant) bool {
	room := n.attrs.MaxBytes == 0 || t.bytes <= n.attrs.MaxBytes-n.disk
	return room && !n.standby && n.attrs.takes(n.disk, n.placed) && p.allows(t.name, Candidate{n.name, n.attrs, n.disk, n.placed})
}

// move plans a move.
func (p *planner) move(t sizedTenant, from, to *nodeLoad, why string) {
	p.moves = append(p.moves, proposal{Tenant: t.name, From: from.name, To: to.name, Bytes: t.bytes, Why: why})
	from.tenants = slices.DeleteFunc(from.tenants, func(x sizedTenant) bool { return x.name == t.name })
	from.disk, to.disk = from.disk-t.bytes, to.disk+t.bytes
	from.bytes, to.bytes = from.bytes-t.bytes, to.bytes+t.bytes
	from.placed--
	to.placed++
}

// balance moves tenants from the fullest shared node to the emptiest, until they differ
// by no more than a tenth of what a node holds on average, or nothing is left that
// brings them closer.
func (p *planner) balance() {
	shared := slices.DeleteFunc(slices.Clone(p.nodes), func(n *nodeLoad) bool { return !n.attrs.shares() || n.standby })
	if len(shared) == 0 {
		return
	}
	total := int64(0)
	for _, n := range shared {
		total += n.bytes
	}
	tolerance := max(p.leastGap, total/int64(len(shared))/10)
	for givers := slices.Clone(shared); len(givers) > 0 && !p.full(); {
		slices.SortFunc(shared, byBytes)
		fullest := slices.MaxFunc(givers, byBytes)
		if !slices.ContainsFunc(shared, func(n *nodeLoad) bool { return p.even(fullest, n, tolerance) }) {
			// Gaps only become smaller, so it has nothing to give later either.
			givers = slices.DeleteFunc(givers, func(n *nodeLoad) bool { return n == fullest })
		}
	}
}

func byBytes(a, b *nodeLoad) int {
	return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.name, b.name))
}

// even plans the one move that brings two nodes closest to each other, if they differ
// by more than the tolerance. A tenant smaller than the gap leaves both between where
// they were, so nodes never drift apart.
func (p *planner) even(from, to *nodeLoad, tolerance int64) bool {
	gap := from.bytes - to.bytes
	if gap <= tolerance {
		return false
	}
	for t := range nearest(from.tenants, gap/2) {
		if t.active && 0 < t.bytes && t.bytes < gap && p.mayTake(to, t) {
			p.move(t, from, to, whyBalance)
			return true
		}
	}
	return false
}

// nearest yields tenants, which are by size, in the order of how little their sizes
// differ from bytes, of two as near the smaller.
func nearest(tenants []sizedTenant, bytes int64) iter.Seq[sizedTenant] {
	return func(yield func(sizedTenant) bool) {
		up, _ := slices.BinarySearchFunc(tenants, bytes, func(t sizedTenant, bytes int64) int { return cmp.Compare(t.bytes, bytes) })
		for down := up - 1; down >= 0 || up < len(tenants); {
			at := up
			if up == len(tenants) || down >= 0 && bytes-tenants[down].bytes <= tenants[up].bytes-bytes {
				at = down
				down--
			} else {
				up++
			}
			if !yield(tenants[at]) {
				return
			}
		}
	}
}
