package replication

import (
	"strconv"
	"time"
)

// Fence is a node's side of its lease. A nil Fence is that of a node that writes
// without leases. Not safe for concurrent use; the tenants it admits change with
// Grant and with time alone.
type Fence struct {
	nonces uint64  // the present nonce is this one
	issued Instant // when the present nonce was given

	// The lease: until term after from, for the list that epoch names. The epoch is
	// empty before the first grant.
	from      Instant
	term      time.Duration
	epoch     string
	primaries map[string]struct{}

	obeyed Authority // of the directory with the most forks that a list was taken from
}

// Authority names the directory of a router that grants leases, by its current history and
// how often it has forked.
type Authority struct {
	History ID  `json:"history"`
	Forks   int `json:"forks"`
}

// NewFence returns a fence without a lease. The seed is a random number, so that
// the nonces of one process are none of another's. obeyed is what the node's last fence
// obeyed, if it is known: a router that others have taken the place of gets nothing then.
func NewFence(seed uint64, obeyed Authority) *Fence {
	f := &Fence{nonces: seed, obeyed: obeyed}
	f.renew(Instant{}) // to one that nobody is told
	return f
}

// Grant takes g at the moment now, or returns ErrCorrupt, ErrUnfenced,
// ErrSuperseded or ErrMismatch and leaves the lease as it was. The state is for the
// answer, refused or not: it has a new nonce, and a term by that one begins now.
func (f *Fence) Grant(now Instant, g Grant) (State, error) {
	if f == nil {
		return State{}, ErrUnfenced
	}
	if err := g.check(); err != nil {
		return State{}, err
	}
	err := f.admit(g)
	if err == nil {
		f.take(now, g)
	}
	f.renew(now)
	st, _ := f.State(now)
	st.Nonce = f.nonce()
	return st, err
}

func (f *Fence) admit(g Grant) error {
	listed := g.Primaries != nil
	switch {
	case listed && f.obeyed != Authority{} && (g.Forks < f.obeyed.Forks || g.Forks == f.obeyed.Forks && g.History != f.obeyed.History):
		return ErrSuperseded
	case g.Nonce != "" && g.Nonce != f.nonce():
		return ErrMismatch
	case !listed && g.Epoch != f.epoch:
		return ErrMismatch
	}
	return nil
}

func (f *Fence) take(now Instant, g Grant) {
	f.from = now
	if g.Nonce != "" {
		f.from = f.issued
	}
	f.term = time.Duration(g.MS) * time.Millisecond
	if g.Primaries == nil {
		return
	}
	f.epoch, f.obeyed = g.Epoch, Authority{g.History, g.Forks}
	f.primaries = make(map[string]struct{}, len(g.Primaries))
	for _, t := range g.Primaries {
		f.primaries[t] = struct{}{}
	}
}

// renew makes the present nonce one that no grant can name yet.
func (f *Fence) renew(now Instant) {
	f.nonces++
	if f.nonce() == unknownNonce {
		f.nonces++
	}
	f.issued = now
}

func (f *Fence) nonce() string { return strconv.FormatUint(f.nonces, 36) }

// Obeys returns whose lists the fence takes.
func (f *Fence) Obeys() Authority { return f.obeyed }

// Admits returns nil if the tenant may be written at the moment now, and else
// ErrNoLease, ErrLapsed or ErrElsewhere. It is asked before a write is begun, as
// each block lands, and once more before a write is answered as done.
func (f *Fence) Admits(now Instant, tenant string) error {
	switch {
	case f == nil:
		return nil
	case f.epoch == "":
		return ErrNoLease
	case f.left(now) <= 0:
		return ErrLapsed
	}
	if _, ok := f.primaries[tenant]; !ok {
		return ErrElsewhere
	}
	return nil
}

// State returns the lease at the moment now, without a nonce; or ErrUnfenced.
func (f *Fence) State(now Instant) (State, error) {
	if f == nil {
		return State{}, ErrUnfenced
	}
	if f.epoch == "" {
		return State{}, nil
	}
	epoch, left := f.epoch, max(0, f.left(now).Milliseconds())
	return State{Epoch: &epoch, Primaries: len(f.primaries), LeftMS: &left}, nil
}

func (f *Fence) left(now Instant) time.Duration { return f.term - now.since(f.from) }
