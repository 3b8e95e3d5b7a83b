package router

import (
	"context"
	"fmt"
	"log"
	"net"
	"time"
)

// ForwarderOptions say how a Forwarder works. The zero value is a good one.
type ForwarderOptions struct {
	// Timeout bounds the connecting to a node and each wait for it, but not
	// the waits of a stream. Default one minute.
	Timeout time.Duration
	// MaxBody bounds a request's body, in bytes. Default 64 MiB.
	MaxBody int64
	// ErrorLog is told when a node stops answering and when it answers again.
	// nil is the standard logger of package log.
	ErrorLog *log.Logger
}

// Forwarder passes requests on to nodes and answers back, over connections that
// it keeps: at most 64 unused ones to an address, for half a minute, each looked at
// before it is used. It knows no directory.
//
// A request that certainly did not run is sent again once, on a fresh
// connection, when the first one fails; so is one that may have run if that does no
// harm: a GET, HEAD or OPTIONS, which changes nothing, and a write with an
// Idempotency-Key, by which the node knows it again.
//
// All methods are safe for concurrent use.
type Forwarder struct {
	opts  ForwarderOptions
	peers *table[*peer]
}

// NewForwarder returns a forwarder.
func NewForwarder(opts ForwarderOptions) *Forwarder {
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultUpstreamTimeout
	}
	if opts.MaxBody <= 0 {
		opts.MaxBody = DefaultMaxBody
	}
	if opts.ErrorLog == nil {
		opts.ErrorLog = log.Default()
	}
	return &Forwarder{opts: opts, peers: newTable[*peer]()}
}

// Forget closes the unused connections to an address that requests no longer go
// to.
func (f *Forwarder) Forget(addr string) {
	if p, ok := f.peers.take(addr); ok {
		p.retire()
	}
}

// Close closes the unused connections. Exchanges that run come to their end.
func (f *Forwarder) Close() {
	var addrs []string
	f.peers.each(func(addr string, _ *peer) { addrs = append(addrs, addr) })
	for _, addr := range addrs {
		f.Forget(addr)
	}
}

// exchange sends the order to the node, which p stands for, and returns the
// connection on which the head of the answer was read. It tries u first, an
// unused connection of p or nil. Every error is a *NodeError.
func (f *Forwarder) exchange(n Node, p *peer, u *upstream, o *order) (*upstream, error) {
	if u != nil && u.ready() {
		u.close()
		u = nil
	}
	if u == nil {
		u = p.take()
	}
	var err error
	if u == nil {
		u, err = f.dial(o.ctx, p)
	}
	for again := true; err == nil; again = false {
		if o.using != nil {
			o.using(u)
		}
		failed := u.exchange(o)
		if failed == nil {
			f.noteAnswer(n, p)
			return u, nil
		}
		u.close()
		if !again || !mayRepeat(failed, o) {
			err = failed.err
			break
		}
		u, err = f.dial(o.ctx, p)
	}
	if o.ctx.Err() == nil {
		f.noteFailure(n, p, err)
	}
	return nil, &NodeError{Node: n.Name, Err: err}
}

// mayRepeat says whether a request is sent a second time.
//
//	written in part                            any request
//	written, ended without a byte of an answer only one that may run twice
//	silent too long, or an answer broken off   none
func mayRepeat(failed *failure, o *order) bool {
	return failed.at == unsent || failed.at == unanswered && o.repeatable
}

// peer returns the peer of an address.
func (f *Forwarder) peer(addr string) *peer {
	if p, ok := f.peers.get(addr); ok {
		return p
	}
	return f.peers.getOrPut(addr, func() *peer { return &peer{addr: addr} })
}

func (f *Forwarder) dial(ctx context.Context, p *peer) (*upstream, error) {
	dialer := net.Dialer{Timeout: f.opts.Timeout}
	conn, err := dialer.DialContext(ctx, "tcp", p.addr)
	if err != nil {
		return nil, err
	}
	return newUpstream(conn, p, f.opts.Timeout), nil
}

func (f *Forwarder) noteAnswer(n Node, p *peer) {
	if p.failing.Load() && p.failing.CompareAndSwap(true, false) {
		f.opts.ErrorLog.Printf("node %s (%s) answers again", n.Name, n.Addr)
	}
}

func (f *Forwarder) noteFailure(n Node, p *peer, err error) {
	if p.failing.CompareAndSwap(false, true) {
		f.opts.ErrorLog.Printf("node %s (%s): %v", n.Name, n.Addr, err)
	}
}

// brokeOff is the refusal when the node ends the connection inside an answer of
// which the client has seen nothing.
func brokeOff(n Node, err error) error {
	return &NodeError{Node: n.Name, Err: fmt.Errorf("broke off: %w", err)}
}
