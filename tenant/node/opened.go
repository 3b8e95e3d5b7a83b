package node

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/replication/mirror"
	"github.com/fenec-go/fenecdb/tenant"
)

// opened is what the node keeps of a tenant for as long as its database is open.
type opened struct {
	name    string
	db      *fenec.DB
	source  *mirror.Source // nil if it is not replicated
	account *quota.Account
	quota   *quota.Quota // nil for none; guarded by registry.mu

	rung       atomic.Uint64 // the last write that the bell has rung for
	incomplete atomic.Bool   // what the database was when it rang
	fed        atomic.Bool   // it has a replica, at work or at rest
	unsettled  atomic.Bool   // it takes no writes until it is said what it is

	mu   sync.Mutex // guards the field below; held while the database is looked at
	seen uint64     // one more than the sequence of the database when it was last looked at
}

// registry has what the node keeps of the tenants that are open, by name.
type registry struct {
	mu     sync.Mutex // guards the field below; held for moments
	byName map[string]*opened
}

// of returns what is kept of a tenant, and its quota; nil if it is not open.
func (r *registry) of(name string) (*opened, *quota.Quota) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.byName[name]
	if o == nil {
		return nil, nil
	}
	return o, o.quota
}

// all returns what is kept of all.
func (r *registry) all() []*opened {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*opened, 0, len(r.byName))
	for _, o := range r.byName {
		list = append(list, o)
	}
	return list
}

func (r *registry) put(name string, o *opened) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName == nil {
		r.byName = map[string]*opened{}
	}
	r.byName[name] = o
}

// take removes what is kept of a tenant, and returns it.
func (r *registry) take(name string) *opened {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.byName[name]
	delete(r.byName, name)
	return o
}

// opened is called with every database as it is opened, by whom owns its tenant: what is
// kept beside it does not change meanwhile.
func (n *Node) opened(id tenant.ID, db *fenec.DB) error {
	name := id.String()
	kept, err := read(n.tenants, name)
	if err != nil {
		return err
	}
	o := &opened{name: name, db: db}
	if err := n.settle(o); err != nil {
		return err
	}
	o.account = n.meter.totals.Open(name)
	if kept != (quota.Limits{}) {
		o.quota = quota.New(db, kept, nil)
	}
	if n.replicator != nil {
		n.replicator.serves(o, &n.opts)
	}
	if confirm := n.confirming(id, o); confirm != nil {
		db.SetConfirm(confirm)
	}
	n.open.put(name, o)
	n.meter.unchanged(name)
	return nil
}

// confirming returns what a write of a tenant is to wait for before it is answered, nil for
// nothing: to be where its replicas need it, and a last look at the lease.
func (n *Node) confirming(id tenant.ID, o *opened) func(context.Context, uint64) error {
	var leased func(context.Context, uint64) error
	if n.lease != nil {
		leased = n.lease.confirming(id)
	}
	if n.replicator == nil {
		return leased
	}
	return func(ctx context.Context, seq uint64) error {
		err := n.replicator.confirms(ctx, o, seq)
		if leased != nil {
			// That the write may be lost is worse than that it is on too few disks.
			if lapsed := leased(ctx, seq); lapsed != nil {
				return lapsed
			}
		}
		return err
	}
}

// closing is called with every database before it is closed, when nobody uses it.
func (n *Node) closing(id tenant.ID, _ *fenec.DB) {
	if o := n.open.take(id.String()); o != nil {
		if n.replicator != nil {
			n.replicator.endsServing(o)
		}
		n.meter.closing(o)
	}
}

// both returns a function that calls two, of which the first may be nil.
func both(first, second func(tenant.ID, *fenec.DB)) func(tenant.ID, *fenec.DB) {
	return func(id tenant.ID, db *fenec.DB) {
		if first != nil {
			first(id, db)
		}
		second(id, db)
	}
}
