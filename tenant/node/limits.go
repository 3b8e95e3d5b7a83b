package node

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"sync"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
)

// limits are the quotas of the databases that were opened. A tenant without a quota
// has none here.
type limits struct {
	mu   sync.Mutex          // orders the changes of one tenant's quota
	open map[string]*limited // guarded by mu
}

// limited is a database that was opened, with its quota.
type limited struct {
	db    *fenec.DB
	quota *quota.Quota // nil for none
}

// of returns the quota of a tenant's database, nil if it has none.
func (l *limits) of(name string, db *fenec.DB) *quota.Quota {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.open[name]; x != nil && x.db == db {
		return x.quota
	}
	return nil
}

// attach holds a database that is being opened to the quota kept beside it.
func (l *limits) attach(m *tenant.Manager, name string, db *fenec.DB) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept, err := read(m, name)
	if err != nil {
		return err
	}
	if l.open == nil {
		l.open = map[string]*limited{}
	}
	x := &limited{db: db}
	if kept != (quota.Limits{}) {
		x.quota = quota.New(db, kept, nil)
	}
	l.open[name] = x
	return nil
}

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

// set keeps the limits of a tenant, and holds its database to them at once if it is
// open.
func (l *limits) set(ctx context.Context, m *tenant.Manager, name string, to quota.Limits) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var data []byte
	if to != (quota.Limits{}) {
		var err error
		if data, err = json.Marshal(to); err != nil {
			return err
		}
	}
	if err := m.WriteBeside(ctx, name, tenant.QuotaFile, data); err != nil {
		return err
	}
	switch x := l.open[name]; {
	case x == nil:
	case data == nil && x.quota != nil:
		x.quota.Remove()
		x.quota = nil
	case data != nil && x.quota == nil:
		x.quota = quota.New(x.db, to, nil)
	case data != nil:
		x.quota.Set(to)
	}
	return nil
}

// forget drops what is kept in memory of databases that were closed.
func (l *limits) forget(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, x := range l.open {
		err := x.db.View(ctx, func(*fenec.Snapshot) error { return nil })
		if errors.Is(err, fenec.ErrClosed) {
			delete(l.open, name)
		}
	}
}

// quota answers a request for a tenant's quota.
func (n *Node) quota(r *http.Request, name string) serve.Answer {
	if _, err := n.tenants.Lookup(r.Context(), name); err != nil && !errors.Is(err, tenant.ErrDegraded) && !errors.Is(err, tenant.ErrProvisioning) {
		return failure(err)
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		kept, err := read(n.tenants, name)
		if err != nil {
			return failure(err)
		}
		return jsonAnswer(http.StatusOK, kept)
	case http.MethodDelete:
		if err := n.limits.set(r.Context(), n.tenants, name, quota.Limits{}); err != nil {
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
		if err := n.limits.set(r.Context(), n.tenants, name, to); err != nil {
			return failure(err)
		}
		return jsonAnswer(http.StatusOK, to)
	}
	return serve.NotFound(r)
}
