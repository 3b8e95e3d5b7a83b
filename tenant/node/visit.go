package node

import (
	"context"
	"sync/atomic"

	"github.com/fenec-go/fenecdb/fenec"
	"github.com/fenec-go/fenecdb/fenec/serve"
	"github.com/fenec-go/fenecdb/quota"
	"github.com/fenec-go/fenecdb/tenant"
	"github.com/fenec-go/fenecdb/tenant/internal/raw"
)

// visit is what one request has of its tenant: a handle, an account that it is metered
// in, and the tenant's quota, which it is counted in.
type visit struct {
	handle  *tenant.Handle
	db      *fenec.DB
	account *quota.Account
	quota   *quota.Quota // nil for none
	lease   *lease       // nil for none
	inside  atomic.Bool  // it counts as a request that is being answered
}

// visit begins a request's visit of a tenant. leave ends it.
func (n *Node) visit(ctx context.Context, name string) (*visit, error) {
	h, err := n.tenants.Acquire(ctx, name)
	if err != nil {
		return nil, err
	}
	o, q := n.open.of(name)
	if o == nil { // closed under us
		h.Release()
		return nil, tenant.ErrClosed
	}
	v := &visit{handle: h, db: raw.DB(h), account: o.account, quota: q, lease: n.lease}
	if err := v.quota.Enter(); err != nil {
		h.Release()
		return nil, err
	}
	v.inside.Store(true)
	return v, nil
}

func (v *visit) leave() {
	v.step()
	v.handle.Release()
}

// step takes the visit out of the requests that are being answered.
func (v *visit) step() {
	if v.inside.CompareAndSwap(true, false) {
		v.quota.Leave()
	}
}

// openStream begins a subscription. From then on the visit counts as a stream, and not
// as a request as well: it may last for days.
func (v *visit) openStream() (end func(), err error) {
	if err := v.quota.OpenStream(); err != nil {
		return nil, err
	}
	v.step()
	v.account.OpenStream()
	return func() {
		v.account.CloseStream()
		v.quota.CloseStream()
	}, nil
}

// spent counts what a request has cost that package serve has answered.
func (v *visit) spent(s serve.Spent) {
	u := quota.Usage{Requests: 1, CPU: s.Took, BytesRead: s.Out}
	if s.Wrote {
		u.RowsWritten, u.BytesWritten = int64(s.Rows), s.In
	} else {
		u.RowsRead = int64(s.Rows)
	}
	v.account.Add(u)
}

// followed counts what a subscription has been sent.
func (v *visit) followed(rows int, bytes int64) {
	v.account.Add(quota.Usage{RowsRead: int64(rows), BytesRead: bytes})
}

// refuse answers the errors that the surface of a database does not know. The manager hears
// of them too.
func (v *visit) refuse(err error) (serve.Answer, bool) {
	raw.Failed(v.handle, err)
	return Refuse(err)
}

// warns returns the header that warns of a ceiling which is near.
func (v *visit) warns() (name, value string) {
	if key := v.quota.Warning(); key != "" {
		return "Fenec-Quota-Warning", key
	}
	return "", ""
}

// waits gives up the visit's place until the function it returns is called.
func (v *visit) waits() (goOn func(context.Context) error) {
	v.handle.Pause()
	return v.handle.Resume
}

// use returns the visit as package serve takes it.
func (v *visit) use() *serve.Use {
	use := &serve.Use{
		DB:      v.db,
		Release: v.leave,
		Ended:   v.handle.Done(),
		Why:     "the tenant is being deleted, renamed, replaced or closed",
		Waits:   v.waits,
		Streams: v.openStream,
		Refuse:  v.refuse,
		Spent:   v.spent,

		Followed: v.followed,
	}
	switch {
	case v.lease != nil:
		use.Writes, use.Warns = v.mayWrite, v.warns
	case v.quota != nil:
		use.Writes, use.Warns = v.quota.MayWrite, v.warns
	}
	return use
}

// mayWrite asks the lease before anything of a write is done, even if that has happened
// already: what was answered to it then may be another node's to tell.
func (v *visit) mayWrite() error {
	if err := v.lease.admits(v.handle.ID()); err != nil {
		return err
	}
	return v.quota.MayWrite()
}
