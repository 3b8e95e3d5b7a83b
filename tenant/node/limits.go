package node

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"

	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// read returns the limits that are kept beside a tenant's database.
func read(m *tenant.Manager, name string) (quota.Limits, error) {
	data, err := m.ReadBeside(name, tenant.QuotaFile)
	if errors.Is(err, fs.ErrNotExist) {
		return quota.Limits{}, nil
	}
	if err != nil {
		return quota.Limits{}, err
	}
	return quota.Parse(data)
}

// Limits returns a tenant's limits; the zero Limits if it has none.
func (n *Node) Limits(ctx context.Context, name string) (quota.Limits, error) {
	if _, err := n.tenants.Lookup(ctx, name); err != nil {
		return quota.Limits{}, err
	}
	return read(n.tenants, name)
}

// SetLimits keeps the limits of a tenant, and holds its database to them at once if it
// is open. The zero Limits lift all.
func (n *Node) SetLimits(ctx context.Context, name string, to quota.Limits) error {
	var data []byte
	if to != (quota.Limits{}) {
		var err error
		if data, err = json.Marshal(to); err != nil {
			return err
		}
		if _, err := quota.Parse(data); err != nil { // one is negative
			return err
		}
	}
	if err := n.tenants.WriteBeside(ctx, name, tenant.QuotaFile, data); err != nil {
		return err
	}
	return n.applyLimits(name)
}

// applyLimits holds a tenant that is open to what is kept now: to that, and not to what
// the caller has written, so that of two who set limits at once the later one wins in
// memory too.
//
// No lock is held while the limits are written: that waits for whoever opens the tenant,
// who in turn takes the registry's.
func (n *Node) applyLimits(name string) error {
	n.applying.Lock()
	defer n.applying.Unlock()
	kept, err := read(n.tenants, name)
	if err != nil {
		return err
	}
	n.open.hold(name, kept)
	return nil
}

// hold holds a tenant that is open to limits.
func (r *registry) hold(name string, to quota.Limits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.byName[name]
	switch none := to == (quota.Limits{}); {
	case o == nil:
	case none && o.quota != nil:
		o.quota.Remove()
		o.quota = nil
	case !none && o.quota == nil:
		o.quota = quota.New(o.db, to, nil)
	case !none:
		o.quota.Set(to)
	}
}

// quota answers a request for a tenant's quota.
func (n *Node) quota(r *http.Request, name string) serve.Answer {
	ctx := r.Context()
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		kept, err := n.Limits(ctx, name)
		return answer(http.StatusOK, kept, err)
	case http.MethodDelete:
		if err := n.SetLimits(ctx, name, quota.Limits{}); err != nil {
			return failure(err)
		}
		return serve.Answer{Status: http.StatusNoContent}
	case http.MethodPut:
		body, refusal := smallBody(r, quota.MaxJSON)
		if refusal != nil {
			return *refusal
		}
		to, err := quota.Parse(body)
		if err != nil {
			return serve.Fail(http.StatusBadRequest, err.Error())
		}
		return answer(http.StatusOK, to, n.SetLimits(ctx, name, to))
	}
	return serve.NotFound(r)
}
