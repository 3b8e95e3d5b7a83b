package router

import (
	"net/http"
	"strings"
	"sync/atomic"
)

// halt keeps a router from changing anything whose directory another has taken the place
// of, or whose directory follows another: changes of the directory are refused, and so are
// requests that change a node. What it forwards goes on, for it is the nodes that know whom
// they obey.
type halt struct {
	on      atomic.Bool // another has taken its place
	follows atomic.Bool
}

// reason returns why nothing is to be changed, nil if it may be.
func (h *halt) reason() error {
	switch {
	case h.on.Load():
		return ErrSuperseded
	case h.follows.Load():
		return ErrFollows
	}
	return nil
}

// supersede halts the directory's router, and reports whether it was not yet.
func (d *Directory) supersede() bool { return d.halted.on.CompareAndSwap(false, true) }

// superseded reports whether another directory has taken the place of this one.
func (d *Directory) superseded() bool { return d.halted.on.Load() }

// haltable is a transport to nodes that sends nothing but reads, and thaws, once it is
// halted.
type haltable struct {
	*http.Transport
	halted *halt
}

// RoundTrip sends the request, or fails with ErrSuperseded or ErrFollows.
func (t haltable) RoundTrip(r *http.Request) (*http.Response, error) {
	why := t.halted.reason()
	// A tenant that this router has frozen for a move is given back: nobody else knows of
	// the freeze, and a thaw breaks no move of whoever has taken its place, since that looks.
	if why == nil || reads(r) || why == ErrSuperseded && strings.HasSuffix(r.URL.Path, "/thaw") {
		return t.Transport.RoundTrip(r)
	}
	if r.Body != nil {
		r.Body.Close()
	}
	return nil, why
}
