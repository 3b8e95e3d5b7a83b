package router

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/fenec-go/fenecdb/quota"
)

// QuotaSet is what has become of setting a tenant's quota.
type QuotaSet struct {
	Node string // that holds the tenant
	Sent bool   // the node has the quota; if not, it is sent later
	// Copies are the nodes that have copies which follow, by whether they have it.
	Copies map[string]bool
}

// SetQuota records a tenant's quota, which replaces the one it has, and has the node
// that holds the tenant apply it, and those of its copies; no limits clear it. The record is what counts: a node
// that could not be told is told later. It fails with ErrUnknownTenant, ErrInProgress or
// ErrDirectory, or for a limit that is negative.
func (rt *Router) SetQuota(ctx context.Context, tenant string, limits quota.Limits) (QuotaSet, error) {
	if err := checkLimits(limits); err != nil {
		return QuotaSet{}, err
	}
	release, err := rt.directory.Claim(tenant)
	if err != nil {
		return QuotaSet{}, err
	}
	defer release()
	if err := rt.keepQuota(tenant, limits); err != nil {
		return QuotaSet{}, err
	}
	said, err := rt.tellQuota(ctx, tenant)
	if err != nil {
		rt.logf("tenant %s: its quota is sent again later: %v", tenant, err)
		rt.reconciler.kick()
	}
	set := QuotaSet{said[0].node.Name, said[0].err == nil, map[string]bool{}}
	for _, r := range said[1:] {
		set.Copies[r.node.Name] = r.err == nil
	}
	return set, nil
}

// checkLimits refuses what could not be read from the directory's file again.
func checkLimits(limits quota.Limits) error {
	_, err := quota.Parse(encode(limits))
	return err
}

// putQuota answers PUT /_shard/tenants/<tenant>/quota.
func (rt *Router) putQuota(ctx context.Context, r *http.Request, name string) (answer, error) {
	if !ValidName(name) {
		return answer{}, ErrName
	}
	body, err := readBody(r)
	if err != nil {
		return answer{}, err
	}
	limits, err := quota.Parse(body)
	if err != nil {
		return answer{}, refusing(http.StatusBadRequest, err.Error())
	}
	set, err := rt.SetQuota(ctx, name, limits)
	if err != nil {
		return answer{}, fmt.Errorf("tenant %s: %w", name, err)
	}
	a := struct {
		Tenant string       `json:"tenant"`
		Quota  quota.Limits `json:"quota"`
		Sent   []string     `json:"sent"`
		Unsent []string     `json:"unsent"`
	}{name, limits, []string{}, []string{}}
	all := maps.Clone(set.Copies)
	all[set.Node] = set.Sent
	for _, node := range slices.Sorted(maps.Keys(all)) {
		if all[node] {
			a.Sent = append(a.Sent, node)
		} else {
			a.Unsent = append(a.Unsent, node)
		}
	}
	return answer{http.StatusOK, a}, nil
}

// keepQuota records a quota. That it was cleared is kept until the node knows.
func (rt *Router) keepQuota(name string, limits quota.Limits) error {
	if limits == (quota.Limits{}) {
		return rt.directory.keepCleared(name)
	}
	return rt.directory.SetQuota(name, limits)
}

func (rt *Router) getQuota(name string) (answer, error) {
	if _, err := rt.placedOn(name); err != nil {
		return answer{}, err
	}
	return answer{http.StatusOK, rt.directory.Quota(name)}, nil
}

// getUsage answers with what the tenant's node says.
func (rt *Router) getUsage(ctx context.Context, name string) (answer, error) {
	n, err := rt.placedOn(name)
	if err != nil {
		return answer{}, err
	}
	used, err := rt.admin.usage(ctx, n, name)
	return answer{http.StatusOK, used}, err
}

// placedOn returns the node of the tenant that a path names.
func (rt *Router) placedOn(name string) (Node, error) {
	if !ValidName(name) {
		return Node{}, ErrName
	}
	n, ok := rt.directory.Lookup([]byte(name))
	if !ok {
		return Node{}, fmt.Errorf("tenant %s: %w", name, ErrUnknownTenant)
	}
	return n, nil
}

// sendQuota brings the nodes that have a tenant to the recorded quota, unless they have it
// already. It returns ErrInProgress while another operation on the tenant runs, and
// nothing of a tenant that is gone.
func (rt *Router) sendQuota(ctx context.Context, name string) error {
	release, err := rt.directory.Claim(name)
	if err != nil {
		return err
	}
	defer release()
	nodes := rt.directory.having(name)
	if len(nodes) == 0 {
		rt.fleet.unsent.drop(name)
		return nil
	}
	limits := rt.directory.Quota(name)
	for _, r := range ask(nodes, func(n Node) (quota.Limits, error) { return rt.admin.quota(ctx, n, name) }) {
		if r.err != nil || r.value != limits {
			_, err = rt.tellQuota(ctx, name)
			return err
		}
	}
	return rt.quotaStands(name)
}

// having returns the node that a tenant is on, and then those that have a copy of it which
// follows; none of a tenant that is not placed.
func (d *Directory) having(name string) (nodes []Node) {
	p, ok := d.tenants.get(name)
	if !ok {
		return nil
	}
	nodes = append(nodes, *p.on.node.Load())
	for _, s := range p.spares {
		if s.state == spareFollows {
			nodes = append(nodes, *s.on.node.Load())
		}
	}
	if standby, ok := d.standby(p.on); ok && p.spareOn(standby.name()) == "" {
		nodes = append(nodes, *standby.node.Load())
	}
	return nodes
}

// tellQuota sends the recorded quota to the nodes that have the tenant, all at once, and
// returns what became of it, the tenant's own node first. It fails if one of them could
// not be told. The tenant is claimed.
func (rt *Router) tellQuota(ctx context.Context, name string) (said []reply[struct{}], err error) {
	limits := rt.directory.Quota(name)
	said = ask(rt.directory.having(name), func(n Node) (none struct{}, err error) {
		return none, rt.admin.setQuota(ctx, n, name, limits)
	})
	for _, r := range said {
		err = cmp.Or(err, r.err)
	}
	if err != nil {
		rt.fleet.unsent.add(name)
		return said, err
	}
	return said, rt.quotaStands(name)
}

// quotaStands notes that the nodes have the recorded quota. One that was cleared is
// forgotten then.
func (rt *Router) quotaStands(name string) error {
	rt.fleet.unsent.drop(name)
	if rt.directory.Quota(name) != (quota.Limits{}) {
		return nil
	}
	return rt.directory.SetQuota(name, quota.Limits{})
}

// unsentQuotas returns the tenants whose nodes may not have the recorded quota, by
// name. After a start these are all that have one: a node may have missed it while the
// router was down.
func (rt *Router) unsentQuotas() []string { return rt.fleet.unsent.all() }

// listUnsent answers with the quotas that nodes may not have yet.
func (rt *Router) listUnsent() (answer, error) {
	type unsentQuota struct {
		Tenant string       `json:"tenant"`
		Node   string       `json:"node"`
		Quota  quota.Limits `json:"quota"`
	}
	list := []unsentQuota{}
	for _, name := range rt.unsentQuotas() {
		if t, ok := rt.directory.Tenant(name); ok {
			list = append(list, unsentQuota{name, t.Node, rt.directory.Quota(name)})
		}
	}
	return answer{http.StatusOK, list}, nil
}

// nameSet is a set of names.
type nameSet struct {
	mu    sync.Mutex // guards names
	names map[string]struct{}
}

func (s *nameSet) add(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = make(map[string]struct{})
	}
	for _, name := range names {
		s.names[name] = struct{}{}
	}
}

func (s *nameSet) drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.names, name)
}

// all returns the names in their order.
func (s *nameSet) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.names))
}
