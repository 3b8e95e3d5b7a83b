package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/internal/problem"
	"github.com/fenec-go/fenecdb/replication"
	"github.com/fenec-go/fenecdb/tenant"
)

// lease is which tenants the node may write, and until when. It lives in memory: a node
// starts without one, and remembers only whose it had. It is asked before a write is begun, by the engine as its block
// begins and as that lands, and once more before the write is answered as done.
type lease struct {
	clock     func() replication.Instant
	authority authority

	mu    sync.Mutex // guards the field below; held for moments
	fence *replication.Fence
}

// errNobodyGrants is returned by Open for a node whose leases nobody could renew.
var errNobodyGrants = errors.New("node: Lease needs AdminToken, which opens the route of grants")

// newLease returns the lease that a node starts with; nil for one that writes without.
func newLease(opts Options) (*lease, error) {
	switch {
	case !opts.Lease:
		return nil, nil
	case opts.AdminToken.IsZero():
		return nil, errNobodyGrants
	}
	l := &lease{clock: opts.LeaseClock, fence: replication.NewFence(rand.Uint64(), replication.Authority{})}
	if l.clock == nil {
		l.clock = machineClock
	}
	return l, nil
}

// remember makes the lease one that goes on from what the node's database says. It is
// called once, before any request.
func (l *lease) remember(ctx context.Context, db *fenec.DB) error {
	l.authority.db = db
	obeyed, err := l.authority.load(ctx)
	if err == nil {
		l.fence = replication.NewFence(rand.Uint64(), obeyed)
	}
	return err
}

// machineClock tells the time by the clocks of the machine.
func machineClock() replication.Instant {
	return replication.Instant{Boot: bootTime(), Wall: time.Duration(time.Now().UnixNano())}
}

// admits returns why a tenant may not be written now.
func (l *lease) admits(id tenant.ID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.fence.Admits(l.clock(), id.String()); err != nil {
		return fmt.Errorf("tenant %q: %w", id.String(), err)
	}
	return nil
}

// confirming returns a function for fenec.DB.SetConfirm. Once the lease is over, another
// node may have the tenant, without a write that has landed here.
func (l *lease) confirming(id tenant.ID) func(context.Context, uint64) error {
	return func(context.Context, uint64) error { return l.admits(id) }
}

// grant takes a grant, or returns why it does not.
func (l *lease) grant(ctx context.Context, g replication.Grant) (replication.State, error) {
	l.mu.Lock()
	st, err := l.fence.Grant(l.clock(), g)
	obeyed := l.fence.Obeys()
	l.mu.Unlock()
	if err == nil {
		// Before it is answered: what is not known to be kept counts as never granted.
		err = l.authority.keep(ctx, obeyed)
	}
	return st, err
}

// forget ends the lease, and has the node take those of any router: of one whose directory
// is another than it has obeyed, which is lost.
func (l *lease) forget(ctx context.Context) error {
	l.mu.Lock()
	l.fence = replication.NewFence(rand.Uint64(), replication.Authority{})
	l.mu.Unlock()
	return l.authority.keep(ctx, replication.Authority{})
}

// state returns what there is of the lease now.
func (l *lease) state() replication.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	st, _ := l.fence.State(l.clock()) // there is a fence
	return st
}

// fencing returns a function that asks the lease, after another that may be nil.
func (l *lease) fencing(first func(tenant.ID) error) func(tenant.ID) error {
	if first == nil {
		return l.admits
	}
	return func(id tenant.ID) error {
		if err := first(id); err != nil {
			return err
		}
		return l.admits(id)
	}
}

// maxGrant is the longest grant, in bytes: it lists every tenant of the node.
const maxGrant = 64 << 20

// leased answers GET, POST and DELETE /_admin/lease.
func (n *Node) leased(r *http.Request) serve.Answer {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case !reads && r.Method != http.MethodPost && r.Method != http.MethodDelete:
		return serve.NotFound(r)
	case n.lease == nil:
		return serve.Fail(http.StatusConflict, replication.ErrUnfenced.Error())
	case reads:
		return jsonAnswer(http.StatusOK, n.lease.state())
	case r.Method == http.MethodDelete:
		err := n.lease.forget(r.Context())
		return answer(http.StatusOK, n.lease.state(), err)
	}
	body, refusal := smallBody(r, maxGrant)
	if refusal != nil {
		return *refusal
	}
	g, err := replication.ParseGrant(body)
	if err != nil {
		return serve.Fail(http.StatusBadRequest, err.Error())
	}
	st, err := n.lease.grant(r.Context(), g)
	return granted(st, err)
}

// granted answers a grant. One that names what the node does not hold is told what it
// does.
func granted(st replication.State, err error) serve.Answer {
	switch {
	case errors.Is(err, replication.ErrMismatch):
		return jsonAnswer(http.StatusPreconditionFailed, struct {
			Error string `json:"error"`
			replication.State
		}{err.Error(), st})
	case errors.Is(err, replication.ErrSuperseded):
		return serve.FailAs(problem.LeaseSuperseded, err.Error())
	}
	return answer(http.StatusOK, st, err)
}

// figures returns what there is of the lease as figures; none for a node without leases.
func (l *lease) figures() []serve.Figure {
	if l == nil {
		return nil
	}
	st := l.state()
	var left int64
	if st.LeftMS != nil {
		left = *st.LeftMS
	}
	return []serve.Figure{
		{Name: "fenec_lease_left_milliseconds", Help: "How long the node may still write under its lease; 0 without one.", Value: left},
		{Name: "fenec_lease_tenants", Help: "Tenants that the last grant lists.", Value: int64(st.Primaries)},
	}
}
