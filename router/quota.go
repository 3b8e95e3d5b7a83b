package router

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/fenec-go/fenecdb/quota"
)

// putQuota records a tenant's quota, which replaces the one it has, and has the node
// that holds the tenant apply it. The record is what counts: a node that could not be
// told is told later.
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
	release, err := rt.directory.Claim(name)
	if err != nil {
		return answer{}, fmt.Errorf("tenant %s: %w", name, err)
	}
	defer release()
	if err := rt.keepQuota(name, limits); err != nil {
		return answer{}, fmt.Errorf("tenant %s: %w", name, err)
	}
	a := struct {
		Tenant string       `json:"tenant"`
		Quota  quota.Limits `json:"quota"`
		Sent   []string     `json:"sent"`
		Unsent []string     `json:"unsent"`
	}{name, limits, []string{}, []string{}}
	node, err := rt.tellQuota(ctx, name)
	if err != nil {
		rt.logf("tenant %s: its quota is sent again later: %v", name, err)
		a.Unsent = append(a.Unsent, node)
		rt.reconciler.kick()
	} else {
		a.Sent = append(a.Sent, node)
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

// sendQuota brings the node that holds a tenant to the recorded quota, unless the node
// has it already. It returns ErrInProgress while another operation on the tenant runs,
// and nothing of a tenant that is gone.
func (rt *Router) sendQuota(ctx context.Context, name string) error {
	release, err := rt.directory.Claim(name)
	if err != nil {
		return err
	}
	defer release()
	n, ok := rt.directory.Lookup([]byte(name))
	if !ok {
		rt.fleet.unsent.drop(name)
		return nil
	}
	has, err := rt.admin.quota(ctx, n, name)
	if err == nil && has == rt.directory.Quota(name) {
		return rt.quotaStands(name)
	}
	_, err = rt.tellQuota(ctx, name)
	return err
}

// tellQuota sends the recorded quota to the node that holds the tenant, and returns the
// node's name. The tenant is claimed.
func (rt *Router) tellQuota(ctx context.Context, name string) (node string, err error) {
	n, ok := rt.directory.Lookup([]byte(name))
	if !ok {
		return "", ErrUnknownTenant
	}
	if err := rt.admin.setQuota(ctx, n, name, rt.directory.Quota(name)); err != nil {
		rt.fleet.unsent.add(name)
		return n.Name, err
	}
	return n.Name, rt.quotaStands(name)
}

// quotaStands notes that the node has the recorded quota. One that was cleared is
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
