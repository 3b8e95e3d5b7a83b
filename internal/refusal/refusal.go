// Package refusal slows down those who guess tokens: each refusal of an address
// makes its next one wait for longer.
package refusal

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// window is how long a refusal counts.
	window = time.Minute

	// longest is the most that a refusal waits.
	longest = 5 * time.Second

	// most is how many addresses are remembered; then all are forgotten, so that
	// an attacker with many cannot fill the memory.
	most = 10_000
)

// Delays remembers which addresses were refused. It is safe for concurrent use.
type Delays struct {
	base time.Duration
	now  func() time.Time

	known atomic.Int64 // number of addresses, for those who need not look

	mu   sync.Mutex // guards seen
	seen map[string]refused
}

// refused is what is remembered of an address.
type refused struct {
	wait time.Duration // of the last refusal
	at   time.Time
}

// New returns delays of which the first is base. With a base of 0 nobody waits.
func New(base time.Duration) *Delays { return &Delays{base: base, now: time.Now} }

// Refused counts a refusal of the sender of a request and returns how long its
// answer is to wait. remote is the sender's address, with a port or without.
func (d *Delays) Refused(remote string) time.Duration {
	if d.base <= 0 {
		return 0
	}
	host, now := hostOf(remote), d.now()
	d.mu.Lock()
	defer d.mu.Unlock()
	last, ok := d.seen[host]
	wait := min(d.base, longest)
	if ok && now.Sub(last.at) < window {
		wait = min(2*last.wait, longest)
	}
	if len(d.seen) >= most && !ok || d.seen == nil {
		d.seen = map[string]refused{}
	}
	d.seen[host] = refused{wait, now}
	d.known.Store(int64(len(d.seen)))
	return wait
}

// Any reports whether any address is remembered.
func (d *Delays) Any() bool { return d.known.Load() > 0 }

// Accepted forgets the refusals of the sender of a request that was let in with
// a token.
func (d *Delays) Accepted(remote string) {
	if d.known.Load() == 0 {
		return
	}
	host := hostOf(remote)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.seen, host)
	d.known.Store(int64(len(d.seen)))
}

func hostOf(remote string) string {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}
