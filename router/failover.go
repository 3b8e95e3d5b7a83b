package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/quota"
)

// FailedOver is what has become of failing a node over.
type FailedOver struct {
	Node string
	// To is the node's standby, which has taken over all that are promoted but for those
	// that it had not all of, which their own replicas have. It is "" if the node has none,
	// and each tenant was taken over by its own replica.
	To       string
	Promoted []Promoted // by tenant
	// Failed are the tenants that are still placed on the node, by name. Trying again
	// may help. One without a name is about the pair, which has not ended.
	Failed []Unmoved
	// Unreplicated are the tenants elsewhere whose only replica was on the node.
	Unreplicated []string
}

// Promoted is a tenant whose copy on another node has taken over.
type Promoted struct {
	Tenant string `json:"tenant"`
	To     string `json:"to"`
}

// FailOver takes the tenants off a node that is lost: their copies on the node's standby,
// or else, where it has none, or not all, their own replicas, take writes from then on and are what the directory names.
// What the node had not sent them yet is lost.
//
// Of nodes that write under leases, the node has stopped writing when it begins, or it is
// ErrLeaseRunning, unless force is set. Of others, and with force, it is for the caller to
// know that the node does not write.
//
// A copy that was out of touch with the node for long before that was lost does not take
// over, which is ErrStale, unless force is set.
//
// There is nothing atomic between two tenants, and what one fails of does not keep the
// others. It fails as a whole with ErrUnknownNode, or with ErrNoStandby if nothing can be
// done. It can be called again, also after the router was killed in the middle of it: a
// copy that was promoted and not recorded is found to be promoted.
func (rt *Router) FailOver(ctx context.Context, node string, force bool) (FailedOver, error) {
	if _, err := rt.knownNode(node); err != nil {
		return FailedOver{}, err
	}
	tenants := rt.directory.on(node)
	over, err := rt.leasing.handOver(ctx, node, tenants, force)
	if err != nil {
		return FailedOver{}, err
	}
	defer over()
	// Those, and none that has been placed there since: the node may write that.
	return rt.failOver(ctx, node, append([]string{}, tenants...), force)
}

// failOver is FailOver for some tenants of a node that does not write them, nil for all.
func (rt *Router) failOver(ctx context.Context, node string, tenants []string, force bool) (FailedOver, error) {
	if _, err := rt.knownNode(node); err != nil {
		return FailedOver{}, err
	}
	if tenants == nil {
		tenants = rt.directory.on(node)
	}
	standby, paired := rt.directory.Standby(node)
	if !paired && !rt.directory.hasReplicas(tenants) && rt.directory.replicated()[node] == 0 {
		return FailedOver{}, fmt.Errorf("node %s: %w", node, ErrNoStandby)
	}
	p := &promotion{
		copier: rt.copier, from: node, standby: standby, force: force, leasing: rt.leasing, within: rt.promoteFor(), silences: rt.copier.newSilences(),
		done: FailedOver{Node: node, To: standby, Promoted: []Promoted{}, Failed: []Unmoved{}, Unreplicated: []string{}},
	}
	rt.mover.giveUp(node)
	if s, ok := rt.directory.nodes.get(node); ok {
		s.failovers.Add(1)
		defer s.relayed.end()
	}
	p.run(ctx, tenants)
	rt.reconciler.kick() // other copies are to follow those that have taken over
	if paired {
		p.endPair()
	}
	p.endReplicas()
	return p.sorted(), nil
}

// promoteFor bounds each call to a node in a failover.
func (rt *Router) promoteFor() time.Duration {
	if term := rt.opts.AutoFailover; term > 0 {
		return min(rt.copier.within, term)
	}
	return rt.copier.within
}

// hasReplicas reports whether one of the tenants has a replica.
func (d *Directory) hasReplicas(tenants []string) bool {
	return slices.ContainsFunc(tenants, func(name string) bool {
		p, ok := d.tenants.get(name)
		return ok && len(p.sparesThat(spareFollows)) > 0
	})
}

// promotion is a failover under way.
//
// No step needs a record before it: what a promotion changes is the copy alone, and the
// next one finds that changed. The directory names a copy only once it is promoted.
type promotion struct {
	*copier
	*silences
	from, standby string // standby is "" if there is none
	force         bool   // copies are taken that may lack much
	leasing       *leasing
	within        time.Duration

	mu   sync.Mutex // guards done
	done FailedOver
}

// run promotes the tenants. Those that would go to the same node share its workers, so
// that one which does not answer keeps only these.
func (p *promotion) run(ctx context.Context, tenants []string) {
	to := map[string][]string{}
	for _, tenant := range tenants {
		first := ""
		if all := p.candidates(tenant); len(all) > 0 {
			first = all[0].Name
		}
		to[first] = append(to[first], tenant)
	}
	var running sync.WaitGroup
	for _, group := range to {
		running.Go(func() {
			inParallel(copyWorkers, group, func(tenant string) {
				to, err := p.one(ctx, tenant)
				p.note(tenant, to, err)
			})
		})
	}
	running.Wait()
}

// note notes what has become of a tenant. One that is no longer on the node is none of
// the failover's.
func (p *promotion) note(tenant, to string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case errors.Is(err, errElsewhere):
	case err != nil:
		p.done.Failed = append(p.done.Failed, Unmoved{tenant, err.Error()})
	default:
		p.done.Promoted = append(p.done.Promoted, Promoted{tenant, to})
	}
}

// errElsewhere is returned for a tenant that is not on the node that is failed over.
var errElsewhere = errors.New("it is no longer on the node")

// candidates returns the nodes whose copies of a tenant may take over: the standby, unless
// it is known to lack the tenant, and those of its own replicas.
func (p *promotion) candidates(tenant string) (nodes []Node) {
	at, ok := p.copier.directory.find([]byte(tenant))
	if !ok {
		return nil
	}
	names := at.sparesThat(spareFollows)
	if p.standby != "" && at.spareOn(p.standby) == "" {
		names = slices.Insert(names, 0, p.standby)
	}
	for _, name := range names {
		if n, ok := p.copier.directory.Node(name); ok {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// one has a copy of a tenant take over and returns its node.
func (p *promotion) one(ctx context.Context, tenant string) (to string, err error) {
	release, err := p.claim(ctx, tenant)
	if err != nil {
		return "", err
	}
	defer release()
	if at, ok := p.copier.directory.Tenant(tenant); !ok || at.Node != p.from {
		return "", errElsewhere
	}
	best, err := p.best(ctx, tenant)
	for _, n := range best {
		if err = p.promote(ctx, tenant, n); err == nil {
			return n.Name, nil
		}
	}
	return "", cmp.Or(err, ErrNoReplica)
}

// claimWait is how long a failover waits for what else is being done with a tenant: a move
// is being given up then, and a look of the background's ends soon.
const claimWait = 2 * time.Second

// claim takes a tenant.
func (p *promotion) claim(ctx context.Context, tenant string) (release func(), err error) {
	for end := time.Now().Add(claimWait); ; {
		release, err = p.copier.directory.Claim(tenant)
		if !errors.Is(err, ErrInProgress) || time.Now().After(end) {
			return release, err
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// best returns the nodes whose copies may take over, the one that is to do so first: one
// that was promoted before, then the standby, and then the one that has come furthest. It
// returns why if there is none.
func (p *promotion) best(ctx context.Context, tenant string) (nodes []Node, err error) {
	said := ask(p.candidates(tenant), func(n Node) (s standing, err error) {
		err = p.ask(ctx, n.Name, func() error {
			return p.call(ctx, func(ctx context.Context) error {
				s, err = p.copier.admin.standing(ctx, n, tenant)
				return err
			})
		})
		if err == nil && s.lacks() {
			err = fmt.Errorf("node %s: %w", n.Name, ErrIncomplete)
		}
		if err == nil && !p.force {
			err = p.stale(n.Name, s)
		}
		return s, err
	})
	slices.SortStableFunc(said, func(a, b reply[standing]) int {
		return cmp.Or(cmp.Compare(b.value.rank(), a.value.rank()), p.paired(a.node)-p.paired(b.node), a.value.before(b.value))
	})
	for _, r := range said {
		if r.err != nil {
			err = cmp.Or(err, r.err)
			continue
		}
		nodes = append(nodes, r.node)
	}
	return nodes, err
}

// paired is 0 for the standby and 1 for any other node, by which copies are in order.
func (p *promotion) paired(n Node) int {
	if n.Name == p.standby {
		return 0
	}
	return 1
}

// call calls a node within the time that there is for it.
func (p *promotion) call(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, p.within)
	defer cancel()
	return do(ctx)
}

// promote has a node's copy take over.
func (p *promotion) promote(ctx context.Context, tenant string, n Node) error {
	p.step("promote")
	err := p.ask(ctx, n.Name, func() error {
		return p.call(ctx, func(ctx context.Context) error { return p.copier.admin.promote(ctx, n, tenant, false) })
	})
	if err != nil {
		return err
	}
	p.tellQuota(ctx, tenant, n)
	p.step("promoted")
	return p.copier.directory.takeOver(tenant, p.from, n)
}

// tellQuota sends the tenant's quota to a copy that takes over: it may have missed it.
func (p *promotion) tellQuota(ctx context.Context, tenant string, n Node) {
	limits, recorded := p.copier.directory.quotas.get(tenant)
	if !recorded {
		return
	}
	err := p.call(ctx, func(ctx context.Context) error { return p.copier.admin.setQuota(ctx, n, tenant, limits) })
	if err != nil {
		p.logf("tenant %s: its quota is sent again later: %v", tenant, err)
		p.missed(tenant)
	} else if limits == (quota.Limits{}) {
		p.missed(tenant) // its other copies have yet to be told that there is none
	}
}

// endPair ends the pair if nothing is left on the node.
func (p *promotion) endPair() {
	if len(p.done.Failed) > 0 || len(p.copier.directory.on(p.from)) > 0 {
		return
	}
	if err := p.copier.directory.setPair(p.from, ""); err != nil {
		p.done.Failed = append(p.done.Failed, Unmoved{"", err.Error()})
	}
}

// endReplicas notes that the replicas on the node do not follow any more.
func (p *promotion) endReplicas() {
	lost, err := p.copier.directory.loseReplicas(p.from)
	if err != nil {
		p.done.Failed = append(p.done.Failed, Unmoved{"", err.Error()})
	}
	p.done.Unreplicated = append(p.done.Unreplicated, lost...)
}

func (p *promotion) sorted() FailedOver {
	slices.SortFunc(p.done.Promoted, func(a, b Promoted) int { return cmp.Compare(a.Tenant, b.Tenant) })
	slices.SortFunc(p.done.Failed, func(a, b Unmoved) int { return cmp.Compare(a.Tenant, b.Tenant) })
	slices.Sort(p.done.Unreplicated)
	return p.done
}

// postFailover answers POST /_shard/nodes/<node>/failover.
func (rt *Router) postFailover(ctx context.Context, r *http.Request, name string) (answer, error) {
	force := false
	if err := readMembers(r, members{"force": boolTo(&force)}); err != nil {
		return answer{}, err
	}
	done, err := rt.FailOver(ctx, name, force)
	if err != nil {
		return answer{}, err
	}
	status := http.StatusOK
	if len(done.Failed) > 0 {
		status = http.StatusBadGateway
	}
	return answer{status, done.body()}, nil
}
